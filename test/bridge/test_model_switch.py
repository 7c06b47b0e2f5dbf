"""Atomic changes of the model between two steps."""

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from command_clients import CommandClient, point
from model_switch_node import BOX, ModelSwitchNode, adding, arm, removing
from simulators import steps_of

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.model_switch import EndedError
from mujoco_ros.control.events import GoalEnded
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.parts import part_from_file
from mujoco_ros.sim.plant import Plant


@pytest.fixture
def stepped() -> Iterator[ModelSwitchNode]:
    stepped = ModelSwitchNode("arm")
    yield stepped
    if "second" in _names(stepped):
        stepped.change(removing("second"))
    stepped.close()


def _names(stepped: ModelSwitchNode) -> list[str]:
    return [part.name for part in stepped.simulation.assembly.parts]


class _RecordingComponent(Component):
    """Records its calls with their threads; raises in the call `raises`."""

    def __init__(self, raises: str = "") -> None:
        self.calls: list[tuple[str, str]] = []
        self.plants: list[Plant] = []
        self._raises = raises

    def _record(self, what: str) -> None:
        self.calls.append((what, threading.current_thread().name))
        if what == self._raises:
            raise UserInputError(f"no {what}")

    def build(self, plant: Plant) -> None:
        self.plants.append(plant)
        self._record("build")

    def prepare(self, plant: Plant) -> None:
        assert plant is self.plants[-1]
        self._record("prepare")

    def commit(self) -> None:
        self._record("commit")

    def finish(self) -> None:
        self._record("finish")

    def rollback(self) -> None:
        self._record("rollback")

    @property
    def steps(self) -> list[str]:
        return [what for what, _ in self.calls]


def _fail(_assembly: Assembly) -> Assembly:
    raise UserInputError("it cannot be built")


def test_a_change_is_built_beside_the_physics_and_committed_in_order(
    stepped: ModelSwitchNode,
) -> None:
    first, second = _RecordingComponent(), _RecordingComponent()
    stepped.components.append(first)
    stepped.components.append(second)
    stepped.change(adding(arm("second")))
    assert _names(stepped)[-1] == "second"
    assert first.plants == [stepped.simulation.plant]
    here = threading.current_thread().name
    assert (
        first.calls
        == second.calls
        == [
            ("build", "model change"),
            ("prepare", here),
            ("commit", here),
            ("finish", here),
        ]
    )


def test_the_physics_continues_while_a_change_is_built(stepped: ModelSwitchNode) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(assembly: Assembly) -> Assembly:
        begun.set()
        assert go.wait(20.0)
        return adding(arm("second"))(assembly)

    done = stepped.request(slow)
    assert begun.wait(20.0)
    assert stepped.world.busy
    before = stepped.time
    stepped.run(0.1)
    assert stepped.time == pytest.approx(before + 0.1)
    assert not done
    go.set()
    assert stepped.wait(done) is None
    assert not stepped.world.busy


@pytest.mark.parametrize("raises", ["assembly", "build", "prepare"])
def test_a_change_that_fails_is_rolled_back(stepped: ModelSwitchNode, raises: str) -> None:
    first, faulty = _RecordingComponent(), _RecordingComponent(raises)
    stepped.components.append(first)
    stepped.components.append(faulty)
    plant, topics, services = stepped.simulation.plant, stepped.topics(), stepped.services()
    build = _fail if raises == "assembly" else adding(arm("second"))
    error = stepped.wait(stepped.request(build))
    assert isinstance(error, UserInputError)
    assert str(error) in ("it cannot be built", f"no {raises}")
    assert stepped.simulation.plant is plant
    assert first.steps[-1] == faulty.steps[-1] == "rollback"
    assert "commit" not in first.steps
    assert (stepped.topics(), stepped.services()) == (topics, services)
    assert stepped.world.holds.count == 0
    stepped.run(0.01)
    faulty._raises = ""
    stepped.change(adding(arm("second")))


def test_a_programming_error_is_reported_like_any_other_error(stepped: ModelSwitchNode) -> None:
    assert isinstance(stepped.wait(stepped.request(lambda _assembly: 1 // 0)), ZeroDivisionError)  # type: ignore[arg-type, return-value]
    assert not stepped.world.busy


def test_changes_are_applied_in_sequence_each_to_the_result_of_the_previous_one(
    stepped: ModelSwitchNode,
) -> None:
    asked = [
        stepped.request(adding(arm("second"))),
        stepped.request(adding(arm("second"))),
        stepped.request(adding(part_from_file(BOX, name="crate"))),
        stepped.request(removing("second")),
    ]
    ends = [stepped.wait(done) for done in asked]
    assert [end is None for end in ends] == [True, False, True, True]
    assert "'second'" in str(ends[1])
    assert _names(stepped)[-1] == "crate"
    assert "second" not in _names(stepped)


def test_the_time_for_which_a_change_blocks_the_physics_is_counted(
    stepped: ModelSwitchNode,
) -> None:
    begin = time.monotonic()
    stepped.change(adding(arm("second")))
    stepped.change(removing("second"))
    holds = stepped.world.holds
    assert holds.count == 2
    assert 0.0 < holds.last <= holds.longest < time.monotonic() - begin


def test_a_component_that_fails_to_commit_is_reported_and_the_others_commit(
    stepped: ModelSwitchNode, caplog: pytest.LogCaptureFixture
) -> None:
    faulty, after = _RecordingComponent("commit"), _RecordingComponent()
    stepped.components.append(faulty)
    stepped.components.append(after)
    stepped.change(adding(arm("second")))
    assert after.steps == ["build", "prepare", "commit", "finish"]
    assert [record.getMessage() for record in caplog.records] == [
        "_RecordingComponent failed in a change of the model"
    ]


def test_an_exception_of_a_completion_callback_blocks_no_other_change(
    stepped: ModelSwitchNode, caplog: pytest.LogCaptureFixture
) -> None:
    stepped.world.change(_fail, lambda _error: 1 // 0)
    stepped.change(adding(arm("second")))
    assert [record.getMessage() for record in caplog.records] == [
        "the result of a change of the model could not be reported"
    ]


def test_a_fresh_world_starts_in_its_initial_state(stepped: ModelSwitchNode) -> None:
    stepped.commander.publish_joints(("elbow_joint",), position=[1.0])
    stepped.run(0.2)
    start = stepped.simulation.plant.start.qpos.copy()
    stepped.change(adding(arm("second")), fresh=True)
    assert stepped.time < 0.1
    np.testing.assert_allclose(stepped.simulation.data.qpos[: len(start)], start, atol=1e-3)


def test_pending_changes_are_rolled_back_at_shutdown(stepped: ModelSwitchNode) -> None:
    waiting = [stepped.request(adding(arm("second"))), stepped.request(removing("second"))]
    stepped.simulation.commands.close()
    stepped.world.close()
    later = stepped.request(removing("box"))
    for done in (*waiting, later):
        assert stepped.listener.spin_until(lambda: bool(done))  # noqa: B023
        assert isinstance(done[0], EndedError)
    assert "second" not in _names(stepped)


def test_no_change_is_built_after_shutdown(stepped: ModelSwitchNode) -> None:
    built: list[Assembly] = []
    stepped.world.close()
    done = stepped.request(lambda assembly: built.append(assembly) or assembly)  # type: ignore[func-returns-value]
    assert isinstance(done[0], EndedError)
    assert not stepped.world.busy
    assert not built


# --- components of a simulator

_JTC = "joint_trajectory_controller"


def test_an_added_robot_gets_all_its_topics_and_a_removed_one_loses_them(
    stepped: ModelSwitchNode,
) -> None:
    def of_second(names: set[str]) -> set[str]:
        return {name.removeprefix("second/") for name in names if name.startswith("second/")}

    own = {name for name in stepped.topics() if not name.startswith(("tf", "clock", "gripper"))}
    own -= {"rosout", "parameter_events"}
    services = {
        name for name in stepped.services() if name.startswith((_JTC, "controller_manager/"))
    }
    stepped.change(adding(arm("second")))
    assert stepped.listener.spin_until(lambda: of_second(stepped.topics()) == own)
    assert stepped.listener.spin_until(lambda: of_second(stepped.services()) == services)
    stepped.change(removing("second"))
    assert stepped.listener.spin_until(lambda: of_second(stepped.topics()) == set())
    assert stepped.listener.spin_until(lambda: of_second(stepped.services()) == set())


def test_the_other_robots_keep_their_topics_and_miss_no_message(stepped: ModelSwitchNode) -> None:
    stepped.run(0.01)
    publishers = dict(stepped._publishers._pool._open)
    controllers = {part: served.servers for part, served in stepped.controllers._served.items()}
    stepped.change(adding(arm("second")))
    stepped.run(0.01)
    stepped.change(removing("second"))
    stepped.run(0.01)
    assert stepped._publishers._pool._open.keys() == publishers.keys()
    for key, (publisher, endpoint) in stepped._publishers._pool._open.items():
        assert (publisher, endpoint) == publishers[key]
    for part, served in stepped.controllers._served.items():
        assert served.servers is controllers[part]
    for messages in (stepped.joint_states(), stepped.states()):
        steps = steps_of(messages)
        assert len(steps) > 30
        assert all(after - before == 1 for before, after in pairwise(steps))


def test_joint_states_are_continuous_across_a_change(stepped: ModelSwitchNode) -> None:
    """The sample of another model must go into the message of the same robot."""
    stepped.run(0.005)
    stepped.change(adding(arm("second"), part_from_file(BOX, name="crate")))
    stepped.run(0.005)
    stepped.change(removing("crate"))
    stepped.run(0.005)
    names = [state.name for state in stepped.joint_states()]
    assert all(name == names[0] for name in names)
    positions = np.array([state.position for state in stepped.joint_states()])
    assert np.abs(np.diff(positions, axis=0)).max() < 1e-4


def test_both_robots_accept_commands_and_a_goal_continues_across_the_change(
    stepped: ModelSwitchNode,
) -> None:
    names, home = stepped.control.joints.names[:6], stepped.references[0, :6]
    sent = stepped.commander.follow(point(0.5, home + 0.1), joints=names)
    stepped.run(0.1)
    stepped.change(adding(arm("second")))
    second = CommandClient(stepped.listener, "second")
    try:
        other = second.follow(point(0.3, home - 0.1), joints=names)
        assert other.accepted
        for answer in (stepped.finish(sent), stepped.finish(other)):
            assert answer.status == 4
        np.testing.assert_allclose(stepped.references[0, :6], home + 0.1)
        np.testing.assert_allclose(stepped.references[0, 8:14], home - 0.1)
    finally:
        second.close()


def test_goals_of_a_removed_robot_end_with_the_reason(stepped: ModelSwitchNode) -> None:
    stepped.change(adding(arm("second")))
    names, home = stepped.control.joints.names[:6], stepped.references[0, :6]
    second = CommandClient(stepped.listener, "second")
    try:
        sent = second.follow(point(5.0, home + 0.1), joints=names)
        stepped.run(0.05)
        stepped.change(removing("second"))
        answer = sent.result()
        assert answer.status == 6
        assert answer.result.error_string == "robot 'second' no longer exists"
        assert not any(isinstance(event, GoalEnded) for event in stepped.simulation.events)
    finally:
        second.close()


def test_a_robot_that_replaces_one_of_the_same_name_accepts_commands(
    stepped: ModelSwitchNode,
) -> None:
    stepped.change(adding(arm("second")))
    names, home = stepped.control.joints.names[:6], stepped.references[0, :6]

    def replace(assembly: Assembly) -> Assembly:
        return adding(arm("second"))(removing("second")(assembly))

    stepped.change(replace)
    second = CommandClient(stepped.listener, "second")
    try:
        sent = second.follow(point(0.1, home + 0.05), joints=names)
        assert sent.accepted
        assert stepped.finish(sent).status == 4
    finally:
        second.close()


def test_spawned_objects_appear_in_tf_and_deleted_ones_disappear(stepped: ModelSwitchNode) -> None:
    def frames() -> list[Any]:
        (tf,) = [topic for topic in stepped._publishers.topics.values() if topic.name == "/tf"]
        return [transform.child_frame_id for transform in tf.message.transforms]

    before = frames()
    stepped.change(adding(part_from_file(BOX, name="crate")))
    assert len(frames()) == len(before) + 1
    assert frames()[-1].startswith("crate")
    stepped.change(removing("crate"))
    assert frames() == before
