"""Gains and poses, set through services of another node."""

from types import SimpleNamespace

import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter
from simulation_interfaces.srv import SetEntityState

from mujoco_ros.control.gains import Gains
from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.controllers.ros.node.host_requests import PlacementClient, RemoteGains

ROBOT = SimpleNamespace(namespace="left", joints=SimpleNamespace(names=("a", "b", "c")))


class FakeCaller:
    """Records requests as `ServiceCaller`, for a test to answer."""

    def __init__(self) -> None:
        self.asked: list[tuple] = []
        self.served = False

    def call(self, kind, name, request, on_response, on_failure=None, *, retry=False) -> None:
        assert retry == (kind is not SetEntityState), "a repeated pose could be outdated"
        self.asked.append((kind, name, request, on_response, on_failure))

    def is_served(self, _kind, _name) -> bool:
        return self.served


def remote(caller: FakeCaller) -> tuple[RemoteGains, list[str]]:
    failures: list[str] = []
    gains = RemoteGains(caller, "/sim", ROBOT, [0, 2], failed=failures.append)
    return gains, failures


def answer_get(caller: FakeCaller, *values: float) -> None:
    _, _, _, answered, _ = caller.asked.pop(0)
    messages = [Parameter("x", value=value).get_parameter_value() for value in values]
    answered(GetParameters.Response(values=messages))


def test_gains_are_read_from_the_other_node_and_only_differences_are_set():
    caller = FakeCaller()
    gains, failures = remote(caller)
    kind, name, request, _, _ = caller.asked[0]
    assert (kind, name) == (GetParameters, "/sim/get_parameters")
    assert list(request.names) == [
        *("left.gains.a.kp", "left.gains.a.kd", "left.gains.c.kp", "left.gains.c.kd")
    ]
    assert not gains.settled
    with pytest.raises(LookupError, match="node '/sim' has no gain parameters of this robot"):
        gains.get()
    answer_get(caller, 1.0, 2.0, 3.0, 4.0)
    assert gains.settled
    assert gains.get().kp.tolist() == [1.0, 0.0, 3.0]
    gains.set(Gains(kp=np.array([1.0, 9.0, 5.0]), kd=np.array([2.0, 9.0, 4.0])))
    kind, name, request, answered, _ = caller.asked.pop()
    assert (kind, name) == (SetParametersAtomically, "/sim/set_parameters_atomically")
    assert [(p.name, p.value.double_value) for p in request.parameters] == [
        ("left.gains.c.kp", 5.0)
    ]
    response = SetParametersAtomically.Response()
    response.result.successful, response.result.reason = False, "too stiff"
    answered(response)
    assert failures == ["gains were not changed: too stiff"]
    with pytest.raises(ValueError, match=r"kp of joint 'a' is -1; it must be from 0 to 1e\+06"):
        gains.set(Gains(kp=np.array([-1.0, 0.0, 5.0]), kd=np.zeros(3)))


def soft(kp: float) -> Gains:
    return Gains(kp=np.array([1.0, 0.0, kp]), kd=np.array([2.0, 0.0, 4.0]))


def accept_set(caller: FakeCaller) -> list[tuple[str, float]]:
    """Accept the single requested change, and return it."""
    ((kind, _, request, answered, _),) = caller.asked
    assert kind is SetParametersAtomically
    caller.asked.clear()
    done = SetParametersAtomically.Response()
    done.result.successful = True
    answered(done)
    return [(p.name, p.value.double_value) for p in request.parameters]


def test_gains_set_during_a_change_follow_after_it():
    caller = FakeCaller()
    gains, _ = remote(caller)
    answer_get(caller, 1.0, 2.0, 3.0, 4.0)
    for kp in (5.0, 6.0, 7.0):
        gains.set(soft(kp))
        assert gains.get().kp[2] == kp
    # Two at once, and the first of them sent again, would end with the first.
    assert accept_set(caller) == [("left.gains.c.kp", 5.0)]
    assert accept_set(caller) == [("left.gains.c.kp", 7.0)]
    assert not caller.asked


def test_gains_are_set_again_after_a_reset():
    caller = FakeCaller()
    gains, _ = remote(caller)
    answer_get(caller, 1.0, 2.0, 3.0, 4.0)
    gains.set(soft(5.0))
    gains.refresh()
    assert accept_set(caller) == [("left.gains.c.kp", 5.0)]
    gains.set(soft(5.0))
    answer_get(caller, 1.0, 2.0, 3.0, 4.0)  # the reset has restored them
    assert accept_set(caller) == [("left.gains.c.kp", 5.0)]
    gains.refresh()
    answer_get(caller, 1.0, 2.0, 3.0, 4.0)
    assert gains.get().kp[2] == 3.0
    assert not caller.asked


def test_gains_of_a_node_without_parameters_are_an_error():
    caller = FakeCaller()
    gains, _ = remote(caller)
    caller.asked[0][4]("/sim/get_parameters is not there")
    assert gains.settled
    with pytest.raises(LookupError):
        gains.set(Gains(kp=np.ones(3), kd=np.ones(3)))


def test_poses_need_a_simulator():
    caller, failures = FakeCaller(), []
    placement = PlacementClient(caller, "/sim/set_entity_state", failed=failures.append)
    pose = Pose(position=np.array([1.0, 2.0, 3.0]), quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0]))
    with pytest.raises(LookupError, match="cannot set the pose of 'box': no simulator offers"):
        placement.set_pose("box", pose)
    caller.served = True
    placement.set_pose("box", pose)
    kind, _, request, answered, _ = caller.asked.pop()
    assert (kind, request.entity) == (SetEntityState, "box")
    assert request.state.pose.position.z == 3.0
    response = SetEntityState.Response()
    response.result.result, response.result.error_message = 104, "no entity 'box'"
    answered(response)
    assert failures == ["a pose was not set: no entity 'box'"]


def test_it_is_busy_until_all_responses_are_there():
    caller, changes = FakeCaller(), []
    gains = RemoteGains(
        caller, "/sim", ROBOT, [0, 2], failed=changes.append, changed=lambda: changes.append(1)
    )
    assert gains.busy
    answer_get(caller, 1.0, 2.0, 3.0, 4.0)
    assert not gains.busy
    gains.set(soft(5.0))
    gains.refresh()
    assert gains.busy
    accept_set(caller)
    assert gains.busy, "they are read again"
    answer_get(caller, 1.0, 2.0, 5.0, 4.0)
    assert not gains.busy
    assert changes == [1, 1, 1]
    caller.served = True
    placement = PlacementClient(
        caller, "/sim/set", failed=changes.append, changed=lambda: changes.append(2)
    )
    placement.set_pose("box", Pose())
    assert placement.busy
    response = SetEntityState.Response()
    response.result.result = 1
    caller.asked.pop()[3](response)
    assert not placement.busy
    assert changes[-1] == 2
