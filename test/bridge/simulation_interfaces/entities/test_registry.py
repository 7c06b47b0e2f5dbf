"""Requests about entities whose responses are sent after the model has changed."""

from typing import Any

import numpy as np
import pytest
from contexts import make_context
from model_switch_node import adding, removing
from simulation_interfaces.msg import EntityFilters, EntityState, Result
from simulation_interfaces.srv import (
    GetEntitiesStates,
    GetEntityBounds,
    GetEntityState,
    SetEntityState,
)
from simulators import ROOT
from spawn_requests import flags
from threads import RecordingResponder, Threads

from mujoco_ros.bridge.simulation_interfaces.entities.queries import EntityHandlers
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry, StateQueries
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.entities import entities
from mujoco_ros.model.scene.parts import part_from_file
from mujoco_ros.rclpy_ext.service import RequestRejectedError
from mujoco_ros.sim.command_queue import CommandQueue
from mujoco_ros.sim.observer import Placement
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.set_state import StateRequest, set_state
from mujoco_ros.sim.stepping.run_control import RunControl

BOX = ROOT / "urdf_mjcf" / "objects" / "box.xml"


class Scene:
    """An arm with three boxes at x = 1, 2, 3."""

    def __init__(self) -> None:
        assembly = Simulation(load_scene("arm")).assembly
        boxes = [
            part_from_file(BOX, name=name, pose=PoseConfig(xyz=(x, 0.0, 1.0)))
            for x, name in ((1.0, "one"), (2.0, "two"), (3.0, "three"))
        ]
        self.simulation = Simulation(adding(*boxes)(assembly))
        self.threads = Threads(self.simulation.commands)
        self.registry = EntityRegistry(make_context(self.threads.node, self.simulation))
        run = RunControl(self.simulation)
        self.requests = EntityHandlers(self.registry, self.simulation, run)

    def respond_after(self, gone: str, responder: RecordingResponder) -> Any:
        """Capture the state, delete an entity, and return the response."""
        self.threads.physics()
        plant = self.simulation.build_plant(removing(gone)(self.simulation.assembly))
        self.registry.build(plant)
        self.simulation.switch_model(plant)
        self.registry.commit()
        self.threads.executor()
        self.threads.physics()
        self.threads.executor()
        assert responder.sent is not None
        return responder.sent


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_the_state_of_an_entity_is_its_own(scene: Scene):
    responder = RecordingResponder(GetEntityState.Response())
    scene.requests.get_entity_state(GetEntityState.Request(entity="two"), responder)
    response = scene.respond_after("one", responder)
    assert response.result.error_message == ""
    assert response.state.pose.position.x == pytest.approx(2.0)


def test_the_bounds_of_an_entity_are_those_it_had_before_it_was_deleted(scene: Scene):
    responder = RecordingResponder(GetEntityBounds.Response())
    scene.requests.get_entity_bounds(GetEntityBounds.Request(entity="two"), responder)
    response = scene.respond_after("two", responder)
    assert response.result.error_message == ""
    assert 0.0 < response.bounds.points[0].x < 0.1


def test_the_states_of_all_entities_of_the_captured_model_are_sent(scene: Scene):
    responder = RecordingResponder(GetEntitiesStates.Response())
    request = GetEntitiesStates.Request(filters=EntityFilters(filter="one|two|three"))
    scene.requests.get_entities_states(request, responder)
    response = scene.respond_after("one", responder)
    assert list(response.entities) == ["one", "two", "three"]
    assert [s.pose.position.x for s in response.states] == pytest.approx([1.0, 2.0, 3.0])


def test_a_velocity_in_a_frame_is_set_by_the_motion_of_the_frame_at_that_time(scene: Scene):
    """The frame turns, so that the velocity in the world depends on where the entity is."""
    spin = 2.0
    body = scene.simulation.model.body("three/box")
    scene.simulation.data.qvel[body.dofadr[0] + 5] = spin
    state = EntityState()
    state.header.frame_id = "three"
    state.pose.position.x = -1.0  # where it is; versions before 2.1 set the pose as well
    responder = RecordingResponder(SetEntityState.Response())
    request = SetEntityState.Request(entity="two", state=state, **flags("twist"))
    service = scene.requests
    service.set_entity_state(request, responder)
    response = scene.respond_after("one", responder)
    assert response.result.error_message == ""
    dof = scene.simulation.model.body("two/box").dofadr[0]
    # At x = -1 of a body that rotates about z.
    assert scene.simulation.data.qvel[dof + 1] == pytest.approx(-spin, abs=1e-6)


def test_a_robot_whose_base_is_set_continues_as_after_set_joints():
    simulation, twin = (Simulation(load_scene("humanoid")) for _ in range(2))
    pose = np.array([0.5, -0.3, 1.2, 0.0, 0.0, 0.0, 1.0])
    for each in (simulation, twin):
        (control,) = each.controls
        names = control.joints.names
        for _ in range(20):
            values = (each.references.q + 0.01, np.full(len(names), 0.3), [])
            command = joint_command(control.joints, "clamp", names, values)
            control.command(CommandSource.JOINT_COMMANDS, command, float(each.data.time))
            assert each.step()
    name = simulation.layout.robots[0].name
    threads = Threads(simulation.commands)
    registry = EntityRegistry(make_context(threads.node, simulation))
    state = EntityState()
    for field, value in zip(("x", "y", "z"), pose[:3], strict=True):
        setattr(state.pose.position, field, value)
    state.pose.orientation.z, state.pose.orientation.w = 1.0, 0.0
    responder = RecordingResponder(SetEntityState.Response())
    request = SetEntityState.Request(entity=name, state=state, **flags("pose", "twist"))
    service = EntityHandlers(registry, simulation, RunControl(simulation))
    service.set_entity_state(request, responder)
    threads.physics()
    entity = entities(twin.assembly, twin.layout)[name]
    placement = Placement(pose=pose, twist=np.zeros(6))
    set_state(twin, {}, StateRequest(placements=((entity, placement),)))
    assert simulation.controls[0].owners().keys() == {CommandSource.UNCLAIMED}
    assert not simulation.references.dq.any()
    for _ in range(50):
        assert simulation.step()
        assert twin.step()
    np.testing.assert_array_equal(simulation.data.qpos, twin.data.qpos)
    np.testing.assert_array_equal(simulation.data.qvel, twin.data.qvel)


OK = (Result.RESULT_OK, "")


class Desk:
    """Queries of a state that is the number of the capture, and both threads."""

    def __init__(self, limit: int = 100) -> None:
        self.threads = Threads(CommandQueue(limit))
        self.captures = self.evaluations = 0
        self.queries = StateQueries(
            self.threads.node, self.threads.commands, self._capture, self._evaluate
        )
        self.filled: list[tuple[str, int]] = []

    def _capture(self) -> int:
        self.captures += 1
        return self.captures

    def _evaluate(self, captured: int) -> int:
        self.evaluations += 1
        return captured

    def observe(self, name: str, *, finish: bool = True) -> RecordingResponder:
        responder = responder_of()
        self.queries.observe(
            responder, lambda state: self.filled.append((name, state)), finish=finish
        )
        return responder

    def run_threads(self, times: int = 1) -> None:
        for _ in range(times):
            self.threads.physics()
            self.threads.executor()


def responder_of() -> RecordingResponder:
    return RecordingResponder(GetEntityState.Response())


def test_the_thread_of_the_executor_fills_a_response():
    desk = Desk()
    responder = desk.observe("a")
    desk.threads.physics()
    assert responder.sent is None
    desk.threads.executor()
    assert responder.result == OK
    assert desk.filled == [("a", 1)]


def test_a_response_that_is_not_finished_is_not_sent():
    desk = Desk()
    responder = desk.observe("a", finish=False)
    desk.run_threads()
    assert desk.filled == [("a", 1)]
    assert responder.sent is None


def test_requests_that_arrive_during_a_capture_share_the_next_state():
    desk = Desk()
    desk.observe("a")
    desk.threads.physics()
    for name in "bcd":
        desk.observe(name)
    for _ in range(2):
        desk.threads.executor()
        desk.threads.physics()
    desk.threads.executor()
    assert desk.filled == [("a", 1), ("b", 2), ("c", 2), ("d", 2)]
    assert (desk.captures, desk.evaluations) == (2, 2)


def test_a_request_that_is_rejected_or_fails_does_not_affect_the_others():
    def reject(_state: int) -> None:
        raise RequestRejectedError("not this one")

    def fail(_state: int) -> None:
        raise KeyError("x")

    desk, rejected, failed = Desk(), responder_of(), responder_of()
    desk.observe("a")
    desk.queries.observe(rejected, reject)
    desk.queries.observe(failed, fail)
    good = desk.observe("b")
    desk.run_threads(2)
    assert good.result == OK
    assert rejected.result == (Result.RESULT_OPERATION_FAILED, "not this one")
    assert failed.result == (Result.RESULT_OPERATION_FAILED, "KeyError('x')")


def test_a_full_queue_is_reported_at_once():
    desk = Desk(limit=1)
    desk.threads.commands.submit(lambda: None)
    code, message = desk.observe("a").result
    assert code == Result.RESULT_OPERATION_FAILED
    assert message.startswith("busy: 1 commands are waiting")
    desk.threads.physics()
    desk.observe("b")
    desk.run_threads()
    assert desk.filled == [("b", 1)]


def test_the_end_of_the_physics_thread_is_reported():
    desk = Desk()
    responder = desk.observe("a")
    desk.threads.commands.close()
    desk.threads.executor()
    assert responder.result == (
        Result.RESULT_OPERATION_FAILED,
        "the simulator is shutting down",
    )
