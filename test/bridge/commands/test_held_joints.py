"""Joints held after a reset: commands over the middleware, the log, and the controller_manager."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from command_clients import ARM, follow, point, stamp, trajectory
from controller_manager_msgs.msg import ControllerState
from controller_manager_msgs.srv import ListControllers, SwitchController
from rclpy.node import Node
from sensor_msgs.msg import JointState
from stepped_node import SteppedNode

from mujoco_ros.bridge.commands import held_joints
from mujoco_ros.control.events import CommandSource

FAR = (0.9, -1.2, 0.8, -0.6, -0.8, -0.9)
STREAMS = {
    "joint_commands": lambda stepped, q: stepped.commander.publish_joints(ARM, position=q),
    "position_controller": lambda stepped, q: stepped.commander.publish_forward("position", q),
    "joint_trajectory_controller": lambda stepped, q: stepped.commander.publish_trajectory(
        trajectory(point(0.02, q))
    ),
}


def send(stepped: SteppedNode, q: Any, source: str = "joint_commands") -> None:
    stepped.deliver(STREAMS[source], stepped, q)
    stepped.run(0.03)


def reset_while_running(stepped: SteppedNode, source: str = "joint_commands") -> np.ndarray:
    """Reset the arm while a source moves it; return the references.  # (3, n)"""
    send(stepped, FAR, source)
    assert np.abs(stepped.references[0, :6] - FAR).max() < 1e-6
    stepped.simulation.reset()
    stepped.pass_on()
    stepped.warnings.clear()
    return stepped.references


@pytest.mark.parametrize("source", STREAMS)
def test_a_source_that_continues_is_held_back_with_one_warning(
    stepped: SteppedNode, source: str
) -> None:
    home = reset_while_running(stepped, source)
    for _ in range(5):
        send(stepped, FAR, source)
        np.testing.assert_array_equal(stepped.references, home)
    stepped.pass_on()
    (warning,) = stepped.warnings
    assert warning.startswith(f"{source}: joint '")
    assert "since its state was set; the joints stay there until" in warning
    assert stepped.refusals.counts[f"held back on {source}"] == 1
    send(stepped, home[0, :6], source)
    send(stepped, FAR, source)
    assert stepped.references[0, 0] != home[0, 0]


def test_a_goal_that_continues_is_aborted_with_the_reason(stepped: SteppedNode) -> None:
    home = reset_while_running(stepped, "joint_trajectory_controller")
    goal = stepped.commander.send(follow(point(0.02, FAR)))
    result = stepped.finish(goal).result
    assert result.error_code == result.INVALID_GOAL
    assert "is commanded to" in result.error_string
    np.testing.assert_array_equal(stepped.references, home)
    goal = stepped.commander.send(follow(point(1.0, FAR)))
    assert stepped.finish(goal, 2.0).result.error_code == 0


@pytest.mark.parametrize("frame", ["restart", ""])
def test_a_source_that_has_started_again_moves_the_joints(stepped: SteppedNode, frame: str) -> None:
    home = reset_while_running(stepped)
    message = JointState(name=ARM[:1], position=[0.5])
    message.header.stamp, message.header.frame_id = stamp(stepped.time), frame
    stepped.deliver(stepped.commander._publisher(JointState, "joint_commands").publish, message)
    stepped.step()
    assert stepped.references[0, 0] == (0.5 if frame else home[0, 0])


def test_a_trajectory_that_has_started_again_moves_the_joints(stepped: SteppedNode) -> None:
    reset_while_running(stepped, "joint_trajectory_controller")
    message = trajectory(point(0.02, FAR), start=stepped.time)
    message.header.frame_id = "restart"
    stepped.deliver(stepped.commander.publish_trajectory, message)
    stepped.run(0.03)
    np.testing.assert_allclose(stepped.references[0, :6], FAR)


def test_a_goal_that_has_started_again_moves_the_joints(stepped: SteppedNode) -> None:
    reset_while_running(stepped, "joint_trajectory_controller")
    goal = follow(point(0.02, FAR))
    goal.trajectory.header.frame_id = "restart"
    assert stepped.finish(stepped.commander.send(goal)).result.error_code == 0
    np.testing.assert_allclose(stepped.references[0, :6], FAR)


def test_the_hold_ends_with_the_last_publisher_of_the_source(stepped: SteppedNode) -> None:
    reset_while_running(stepped)
    gone = stepped.commander._publishers.pop("joint_commands")
    send(stepped, FAR, "position_controller")  # another source, with another publisher
    stepped.simulation.reset()
    stepped.pass_on()
    held = stepped.control.reset_hold.held
    assert held().keys() == {CommandSource.JOINT_COMMANDS, CommandSource.POSITION}
    stepped.listener.node.destroy_publisher(gone)

    def released() -> bool:
        stepped.simulation.commands.drain()
        return held().keys() == {CommandSource.POSITION}

    assert stepped.listener.spin_until(released)
    send(stepped, FAR)
    np.testing.assert_allclose(stepped.references[0, :6], FAR)


class ControllerManager:
    """Serves the two services of a controller_manager, with the genuine types.

    Attributes:
        ok: Whether it switches.
        switches: The requests.
    """

    def __init__(self, node: Node) -> None:
        self.ok = True
        self.switches: list[SwitchController.Request] = []
        self.on_switch: Callable[[], object] = lambda: None
        claims = {"arm": ["elbow_joint/position"], "idle": ["elbow_joint/position"], "jsb": []}
        self.controllers = [
            ControllerState(
                name=name, state="inactive" if name == "idle" else "active", claimed_interfaces=it
            )
            for name, it in claims.items()
        ]
        self._services = [
            node.create_service(
                ListControllers, "/controller_manager/list_controllers", self._list
            ),
            node.create_service(
                SwitchController, "/controller_manager/switch_controller", self._switch
            ),
        ]
        self._node = node

    def close(self) -> None:
        for service in self._services:
            self._node.destroy_service(service)

    def _list(self, _request: Any, response: Any) -> Any:
        response.controller = self.controllers
        return response

    def _switch(self, request: Any, response: Any) -> Any:
        self.switches.append(request)
        self.on_switch()
        response.ok, response.message = self.ok, "" if self.ok else "it is busy"
        return response


@pytest.fixture(scope="module")
def shared_managed() -> Iterator[SteppedNode]:
    """The arm without controllers of its own, which would serve the same names."""
    node = SteppedNode("arm", controllers=False)
    yield node
    node.close()


@pytest.fixture
def managed(shared_managed: SteppedNode) -> SteppedNode:
    shared_managed.restart()
    return shared_managed


@pytest.fixture
def manager(managed: SteppedNode) -> Iterator[ControllerManager]:
    manager = ControllerManager(managed.listener.node)
    yield manager
    restart = managed.controllers._held._restart
    # One that has not ended would switch controllers in the next test.
    assert managed.listener.spin_until(lambda: not restart._polling, 15.0)
    manager.close()


def test_the_controllers_that_command_the_robot_are_activated_again(
    managed: SteppedNode, manager: ControllerManager
) -> None:
    managed.configure(reset_hold="reactivate")
    home = reset_while_running(managed)
    send(managed, FAR)
    np.testing.assert_array_equal(managed.references, home)  # it is held in the meantime
    assert managed.listener.spin_until(lambda: bool(manager.switches))
    (request,) = manager.switches
    assert request.activate_controllers == request.deactivate_controllers == ["arm"]
    assert request.strictness == SwitchController.Request.STRICT
    send(managed, managed.simulation.data.qpos[:6])  # as a controller after its activation does
    send(managed, FAR)
    assert np.abs(managed.references[0, :6] - FAR).max() < 1e-6


def test_the_manager_discovers_the_client_that_switches_before_it_lists(
    managed: SteppedNode, manager: ControllerManager
) -> None:
    managed.configure(reset_hold="reactivate")
    reset_while_running(managed)
    assert managed.listener.spin_until(lambda: bool(manager.switches))
    names = [client.srv_name.rpartition("/")[2] for client in managed.node.clients]
    assert names.index("switch_controller") < names.index("list_controllers")


def test_a_paused_simulation_waits_with_the_switch(
    managed: SteppedNode, manager: ControllerManager
) -> None:
    managed.configure(reset_hold="reactivate")
    send(managed, FAR)
    managed.simulation.paused = True
    managed.simulation.reset()
    managed.pass_on()
    assert not managed.listener.spin_until(lambda: bool(manager.switches), 0.5)
    managed.simulation.paused = False
    assert managed.listener.spin_until(lambda: len(manager.switches) == 1)


def test_a_refused_switch_is_logged(managed: SteppedNode, manager: ControllerManager) -> None:
    manager.ok = False
    for _ in range(3):  # a response is lost if the manager has not discovered the client
        managed.restart()
        managed.configure(reset_hold="reactivate")
        home = reset_while_running(managed)
        assert managed.listener.spin_until(lambda: bool(managed.warnings))
        if "does not answer" not in managed.warnings[0]:
            break
    assert managed.warnings == [
        "controller_manager: arm were not activated again: it is busy; the joints stay held"
    ]
    send(managed, FAR)
    np.testing.assert_array_equal(managed.references, home)


def test_other_policies_ask_no_controller_manager(
    managed: SteppedNode, manager: ControllerManager
) -> None:
    reset_while_running(managed)
    assert not managed.listener.spin_until(lambda: bool(manager.switches), 0.5)


def test_without_the_types_the_policy_is_rejected(
    stepped: SteppedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = stepped.controllers.check_parameters
    check({"arm.reset_hold": "reactivate"})
    monkeypatch.setattr(held_joints, "find_spec", lambda _name: None)
    check({"arm.reset_hold": "hold"})
    with pytest.raises(ValueError, match="controller_manager_msgs is not installed"):
        check({"arm.reset_hold": "reactivate"})
