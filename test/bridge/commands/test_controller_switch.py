"""A client that switches between trajectories and poses, as crisp_py does, on a live simulator."""

from typing import Any

import pytest
from controller_manager_msgs.srv import ListControllers, SwitchController
from geometry_msgs.msg import PoseStamped, TwistStamped
from simulation_interfaces.srv import DeleteEntity
from simulators import Listener, SimulatorLauncher
from std_msgs.msg import Float64MultiArray

_JTC, _POSE, _IMPEDANCE = (
    "joint_trajectory_controller",
    "cartesian_controller",
    "cartesian_impedance_controller",
)
_BROADCASTER = "joint_state_broadcaster"
_BEST_EFFORT, _STRICT = SwitchController.Request.BEST_EFFORT, SwitchController.Request.STRICT


@pytest.fixture(scope="module")
def listener(start_shared: SimulatorLauncher) -> Listener:
    """A listener beside the shipped arm."""
    simulator = start_shared.simulator(scene="arm", viewer="none")
    simulator.wait_until_running()
    return start_shared.listener(simulator)


def _call(listener: Listener, kind: Any, name: str, request: Any) -> Any:
    client = listener.node.create_client(kind, f"controller_manager/{name}")
    assert listener.spin_until(client.service_is_ready)
    return listener.result(client.call_async(request))


def _states(listener: Listener) -> dict[str, str]:
    answer = _call(listener, ListControllers, "list_controllers", ListControllers.Request())
    return {it.name: it.state for it in answer.controller}


def _switch(
    listener: Listener, start: list[str], stop: list[str], strictness: int = _BEST_EFFORT
) -> Any:
    request = SwitchController.Request(
        activate_controllers=start, deactivate_controllers=stop, strictness=strictness
    )
    return _call(listener, SwitchController, "switch_controller", request)


def test_one_motion_controller_is_active_at_a_time(listener: Listener) -> None:
    assert _states(listener) == {
        _BROADCASTER: "active",
        _JTC: "inactive",
        _POSE: "active",
        _IMPEDANCE: "inactive",
    }
    assert _switch(listener, [_JTC], [_POSE]).ok
    assert _states(listener)[_JTC] == "active"
    assert listener.get_parameter("cartesian_controller.enabled") is False
    assert _switch(listener, [_IMPEDANCE], [_JTC]).ok
    assert _states(listener)[_IMPEDANCE] == "active"
    assert listener.get_parameter("cartesian_controller.mode") == "impedance"
    assert _switch(listener, [_POSE], [_IMPEDANCE]).ok
    assert _states(listener)[_POSE] == "active"


def test_two_controllers_on_the_same_joints_and_unknown_ones_are_refused(
    listener: Listener,
) -> None:
    before = _states(listener)
    answer = _switch(listener, [_JTC], [])
    assert not answer.ok
    assert "command the same joints" in answer.message
    answer = _switch(listener, ["no_controller"], [_POSE])
    assert not answer.ok
    assert "no controller 'no_controller'; there are: joint_state_broadcaster" in answer.message
    assert _states(listener) == before


@pytest.mark.parametrize(
    ("start", "stop", "strictness"),
    [
        ([_BROADCASTER], [], _BEST_EFFORT),
        ([_BROADCASTER], [_BROADCASTER], _STRICT),
        ([], [_JTC], _BEST_EFFORT),
        ([_POSE], [], _BEST_EFFORT),
        ([_POSE], [_POSE], _STRICT),
        ([], [], _STRICT),
    ],
)
def test_what_is_as_requested_stays(
    listener: Listener, start: list[str], stop: list[str], strictness: int
) -> None:
    before = _states(listener)
    assert before[_POSE] == "active"
    assert _switch(listener, start, stop, strictness).ok
    assert _states(listener) == before


@pytest.mark.parametrize(
    ("start", "stop", "text"),
    [
        ([_POSE], [], f"controller '{_POSE}' is active already"),
        ([], [_JTC], f"controller '{_JTC}' is not active"),
        ([_BROADCASTER], [], f"controller '{_BROADCASTER}' is active already"),
        ([], [_BROADCASTER], f"{_BROADCASTER} cannot be deactivated"),
    ],
)
def test_a_strict_request_for_what_is_so_already_is_refused(
    listener: Listener, start: list[str], stop: list[str], text: str
) -> None:
    before = _states(listener)
    answer = _switch(listener, start, stop, _STRICT)
    assert (answer.ok, answer.message) == (False, text)
    assert _states(listener) == before


def test_without_strictness_what_is_impossible_is_left_out(listener: Listener) -> None:
    answer = _switch(listener, [_IMPEDANCE, "absent"], [_POSE], _BEST_EFFORT)
    assert answer.ok
    assert "left out: no controller 'absent'" in answer.message
    assert _states(listener)[_IMPEDANCE] == "active"
    answer = _switch(listener, [_POSE], [], SwitchController.Request.FORCE_AUTO)
    assert answer.ok
    assert _states(listener)[_POSE] == "active"


def test_stiffnesses_set_the_parameters(listener: Listener) -> None:
    publisher = listener.node.create_publisher(
        Float64MultiArray, "cartesian_controller/target_stiffness", 10
    )
    assert listener.spin_until(lambda: publisher.get_subscription_count() > 0)
    publisher.publish(Float64MultiArray(data=[300.0, 400.0, 500.0, 10.0, 20.0, 30.0]))
    name = "cartesian_controller.stiffness"
    assert listener.spin_until(
        lambda: list(listener.get_parameter(f"{name}.translation")) == [300.0, 400.0, 500.0]
    )
    assert list(listener.get_parameter(f"{name}.rotation")) == [10.0, 20.0, 30.0]


def test_parameters_that_cannot_be_are_refused(listener: Listener) -> None:
    results = listener.set_parameters(
        {
            "cartesian_controller.frame": "absent",
            "cartesian_controller.joints": ["elbow_joint", "left_finger_joint"],
            "cartesian_controller.mode": "torque",
        }
    )
    frame, joints, mode = (result.reason for result in results)
    assert "frame 'absent' not found" in frame
    assert "joint 'left_finger_joint' takes no commands that move frame 'grasp'" in joints
    assert "it is one of pose, impedance" in mode


def test_the_measured_pose_is_published(listener: Listener) -> None:
    poses = listener.record(PoseStamped, "cartesian_controller/current_pose", reliable=True)
    twists = listener.record(TwistStamped, "cartesian_controller/current_twist", reliable=True)
    assert listener.spin_until(lambda: len(poses) > 2 and len(twists) > 2)
    message = poses.latest
    assert message.header.frame_id == twists.latest.header.frame_id == "base_link"
    # "grasp" is 105 mm from tool0, whose place docs and model state: (0.385, 0.133, 0.634).
    position = message.pose.position
    assert (position.x, position.y) == pytest.approx((0.385, 0.133), abs=2e-3)
    assert position.z == pytest.approx(0.634 - 0.105, abs=3e-3)
    assert abs(message.pose.orientation.x) == pytest.approx(1.0, abs=0.01)  # it points down


def test_requests_to_a_deleted_robot_are_refused(start: SimulatorLauncher) -> None:
    simulator = start.simulator(scene="arm", viewer="none")
    simulator.wait_until_running()
    listener = start.listener(simulator)
    lists = listener.node.create_client(ListControllers, "controller_manager/list_controllers")
    delete = listener.node.create_client(DeleteEntity, "mujoco/delete_entity")
    assert listener.spin_until(lambda: lists.service_is_ready() and delete.service_is_ready())
    deleted = delete.call_async(DeleteEntity.Request(entity="arm"))

    def list_until_the_service_ends() -> bool:
        lists.call_async(ListControllers.Request())
        return deleted.done() and not lists.service_is_ready()

    assert listener.spin_until(list_until_the_service_ends)
    assert simulator.stop() == 0
    assert "Traceback" not in simulator.log
