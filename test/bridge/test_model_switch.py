"""The model changes between two steps, entirely or not at all."""

import threading
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from changing import BOX, Changing, adding, arm, removing
from commanders import Commander, point
from simulators import steps_of

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.model_switch import EndedError
from mujoco_ros.control.events import GoalEnded
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.parts import part_from_file
from mujoco_ros.sim.plant import Plant


@pytest.fixture
def bench() -> Iterator[Changing]:
    bench = Changing("arm")
    yield bench
    if "second" in _names(bench):
        bench.change(removing("second"))
    bench.close()


def _names(bench: Changing) -> list[str]:
    return [part.name for part in bench.simulation.assembly.parts]


class _Witness(Component):
    """Notes what it is asked for, by whom; raises where it is told to."""

    def __init__(self, raises: str = "") -> None:
        self.heard: list[tuple[str, str]] = []
        self.plants: list[Plant] = []
        self._raises = raises

    def _note(self, what: str) -> None:
        self.heard.append((what, threading.current_thread().name))
        if what == self._raises:
            raise UserInputError(f"no {what}")

    def build(self, plant: Plant) -> None:
        self.plants.append(plant)
        self._note("build")

    def prepare(self, plant: Plant) -> None:
        assert plant is self.plants[-1]
        self._note("prepare")

    def commit(self) -> None:
        self._note("commit")

    def finish(self) -> None:
        self._note("finish")

    def rollback(self) -> None:
        self._note("rollback")

    @property
    def steps(self) -> list[str]:
        return [what for what, _ in self.heard]


def _fail(_assembly: Assembly) -> Assembly:
    raise UserInputError("it cannot be built")


def test_a_change_is_built_beside_the_physics_and_committed_in_order(bench: Changing) -> None:
    first, second = _Witness(), _Witness()
    bench.components.append(first)
    bench.components.append(second)
    bench.change(adding(arm("second")))
    assert _names(bench)[-1] == "second"
    assert first.plants == [bench.simulation.plant]
    here = threading.current_thread().name
    assert (
        first.heard
        == second.heard
        == [
            ("build", "model change"),
            ("prepare", here),
            ("commit", here),
            ("finish", here),
        ]
    )


def test_the_physics_continues_while_a_change_is_built(bench: Changing) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(assembly: Assembly) -> Assembly:
        begun.set()
        assert go.wait(20.0)
        return adding(arm("second"))(assembly)

    done = bench.ask(slow)
    assert begun.wait(20.0)
    assert bench.world.busy
    before = bench.time
    bench.run(0.1)
    assert bench.time == pytest.approx(before + 0.1)
    assert not done
    go.set()
    assert bench.wait(done) is None
    assert not bench.world.busy


@pytest.mark.parametrize("raises", ["assembly", "build", "prepare"])
def test_a_change_that_fails_is_rolled_back(bench: Changing, raises: str) -> None:
    first, faulty = _Witness(), _Witness(raises)
    bench.components.append(first)
    bench.components.append(faulty)
    plant, topics, services = bench.simulation.plant, bench.topics(), bench.services()
    build = _fail if raises == "assembly" else adding(arm("second"))
    error = bench.wait(bench.ask(build))
    assert isinstance(error, UserInputError)
    assert str(error) in ("it cannot be built", f"no {raises}")
    assert bench.simulation.plant is plant
    assert first.steps[-1] == faulty.steps[-1] == "rollback"
    assert "commit" not in first.steps
    assert (bench.topics(), bench.services()) == (topics, services)
    assert bench.world.holds.count == 0
    bench.run(0.01)
    faulty._raises = ""
    bench.change(adding(arm("second")))


def test_a_programming_error_is_reported_like_any_other_error(bench: Changing) -> None:
    assert isinstance(bench.wait(bench.ask(lambda _assembly: 1 // 0)), ZeroDivisionError)  # type: ignore[arg-type, return-value]
    assert not bench.world.busy


def test_changes_are_applied_in_sequence_each_to_the_result_of_the_previous_one(
    bench: Changing,
) -> None:
    asked = [
        bench.ask(adding(arm("second"))),
        bench.ask(adding(arm("second"))),
        bench.ask(adding(part_from_file(BOX, name="crate"))),
        bench.ask(removing("second")),
    ]
    ends = [bench.wait(done) for done in asked]
    assert [end is None for end in ends] == [True, False, True, True]
    assert "'second'" in str(ends[1])
    assert _names(bench)[-1] == "crate"
    assert "second" not in _names(bench)


def test_the_time_for_which_a_change_blocks_the_physics_is_counted(bench: Changing) -> None:
    bench.change(adding(arm("second")))
    bench.change(removing("second"))
    holds = bench.world.holds
    assert holds.count == 2
    assert 0.0 < holds.last <= holds.longest < 0.15


def test_a_component_that_fails_to_commit_is_reported_and_the_others_commit(
    bench: Changing, caplog: pytest.LogCaptureFixture
) -> None:
    faulty, after = _Witness("commit"), _Witness()
    bench.components.append(faulty)
    bench.components.append(after)
    bench.change(adding(arm("second")))
    assert after.steps == ["build", "prepare", "commit", "finish"]
    assert [record.getMessage() for record in caplog.records] == [
        "_Witness failed in a change of the model"
    ]


def test_an_exception_of_a_completion_callback_blocks_no_other_change(
    bench: Changing, caplog: pytest.LogCaptureFixture
) -> None:
    bench.world.change(_fail, lambda _error: 1 // 0)
    bench.change(adding(arm("second")))
    assert [record.getMessage() for record in caplog.records] == [
        "the result of a change of the model could not be reported"
    ]


def test_a_fresh_world_starts_in_its_initial_state(bench: Changing) -> None:
    bench.commander.publish_joints(("elbow_joint",), position=[1.0])
    bench.run(0.2)
    start = bench.simulation.plant.start.qpos.copy()
    bench.change(adding(arm("second")), fresh=True)
    assert bench.time < 0.1
    np.testing.assert_allclose(bench.simulation.data.qpos[: len(start)], start, atol=1e-3)


def test_pending_changes_are_rolled_back_at_shutdown(bench: Changing) -> None:
    waiting = [bench.ask(adding(arm("second"))), bench.ask(removing("second"))]
    bench.simulation.commands.close()
    bench.world.close()
    later = bench.ask(removing("box"))
    for done in (*waiting, later):
        assert bench.listener.spin_until(lambda: bool(done))  # noqa: B023
        assert isinstance(done[0], EndedError)
    assert "second" not in _names(bench)


def test_no_change_is_built_after_shutdown(bench: Changing) -> None:
    built: list[Assembly] = []
    bench.world.close()
    done = bench.ask(lambda assembly: built.append(assembly) or assembly)  # type: ignore[func-returns-value]
    assert isinstance(done[0], EndedError)
    assert not bench.world.busy
    assert not built


# --- what follows in a simulator

_JTC = "joint_trajectory_controller"


def test_an_added_robot_gets_all_its_topics_and_a_removed_one_loses_them(
    bench: Changing,
) -> None:
    def of_second(names: set[str]) -> set[str]:
        return {name.removeprefix("second/") for name in names if name.startswith("second/")}

    own = {name for name in bench.topics() if not name.startswith(("tf", "clock", "gripper"))}
    own -= {"rosout", "parameter_events"}
    services = {name for name in bench.services() if name.startswith(_JTC)}
    bench.change(adding(arm("second")))
    assert bench.listener.spin_until(lambda: of_second(bench.topics()) == own)
    assert bench.listener.spin_until(lambda: of_second(bench.services()) == services)
    bench.change(removing("second"))
    assert bench.listener.spin_until(lambda: of_second(bench.topics()) == set())
    assert bench.listener.spin_until(lambda: of_second(bench.services()) == set())


def test_the_other_robots_keep_their_topics_and_miss_no_message(bench: Changing) -> None:
    bench.run(0.01)
    publishers = dict(bench._publishers._pool._open)
    controllers = {part: served.servers for part, served in bench.controllers._served.items()}
    bench.change(adding(arm("second")))
    bench.run(0.01)
    bench.change(removing("second"))
    bench.run(0.01)
    assert bench._publishers._pool._open.keys() == publishers.keys()
    for key, (publisher, endpoint) in bench._publishers._pool._open.items():
        assert (publisher, endpoint) == publishers[key]
    for part, served in bench.controllers._served.items():
        assert served.servers is controllers[part]
    for messages in (bench.joint_states(), bench.states()):
        steps = steps_of(messages)
        assert len(steps) > 30
        assert all(after - before == 1 for before, after in pairwise(steps))


def test_joint_states_are_continuous_across_a_change(bench: Changing) -> None:
    """The sample of another model must go into the message of the same robot."""
    bench.run(0.005)
    bench.change(adding(arm("second"), part_from_file(BOX, name="crate")))
    bench.run(0.005)
    bench.change(removing("crate"))
    bench.run(0.005)
    names = [state.name for state in bench.joint_states()]
    assert all(name == names[0] for name in names)
    positions = np.array([state.position for state in bench.joint_states()])
    assert np.abs(np.diff(positions, axis=0)).max() < 1e-4


def test_both_robots_accept_commands_and_a_goal_continues_across_the_change(
    bench: Changing,
) -> None:
    names, home = bench.control.joints.names[:6], bench.references[0, :6]
    sent = bench.commander.follow(point(0.5, home + 0.1), joints=names)
    bench.run(0.1)
    bench.change(adding(arm("second")))
    second = Commander(bench.listener, "second")
    try:
        other = second.follow(point(0.3, home - 0.1), joints=names)
        assert other.accepted
        for answer in (bench.finish(sent), bench.finish(other)):
            assert answer.status == 4
        np.testing.assert_allclose(bench.references[0, :6], home + 0.1)
        np.testing.assert_allclose(bench.references[0, 8:14], home - 0.1)
    finally:
        second.close()


def test_goals_of_a_removed_robot_end_with_the_reason(bench: Changing) -> None:
    bench.change(adding(arm("second")))
    names, home = bench.control.joints.names[:6], bench.references[0, :6]
    second = Commander(bench.listener, "second")
    try:
        sent = second.follow(point(5.0, home + 0.1), joints=names)
        bench.run(0.05)
        bench.change(removing("second"))
        answer = sent.result()
        assert answer.status == 6
        assert answer.result.error_string == "robot 'second' no longer exists"
        assert not any(isinstance(event, GoalEnded) for event in bench.simulation.events)
    finally:
        second.close()


def test_a_robot_that_replaces_one_of_the_same_name_accepts_commands(bench: Changing) -> None:
    bench.change(adding(arm("second")))
    names, home = bench.control.joints.names[:6], bench.references[0, :6]

    def replace(assembly: Assembly) -> Assembly:
        return adding(arm("second"))(removing("second")(assembly))

    bench.change(replace)
    second = Commander(bench.listener, "second")
    try:
        sent = second.follow(point(0.1, home + 0.05), joints=names)
        assert sent.accepted
        assert bench.finish(sent).status == 4
    finally:
        second.close()


def test_spawned_objects_appear_in_tf_and_deleted_ones_disappear(bench: Changing) -> None:
    def frames() -> list[Any]:
        (tf,) = [topic for topic in bench._publishers.topics.values() if topic.name == "/tf"]
        return [transform.child_frame_id for transform in tf.message.transforms]

    before = frames()
    bench.change(adding(part_from_file(BOX, name="crate")))
    assert len(frames()) == len(before) + 1
    assert frames()[-1].startswith("crate")
    bench.change(removing("crate"))
    assert frames() == before
