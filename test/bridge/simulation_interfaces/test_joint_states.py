"""Setting joints, bases and bodies of a running simulator by ~/set_joints."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_clients import CommandClient, point, seconds
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue, SetParametersResult
from rcl_interfaces.srv import SetParametersAtomically
from sensor_msgs.msg import JointState
from simulator_client import PAUSED, PLAYING, STOPPED, SimulatorClient
from simulators import SimulatorLauncher

from mujoco_ros.bridge.simulation_interfaces.joint_states import read_values
from mujoco_ros.control.events import CommandError

SCENE = """
robots:
  - name: arm
    model: package://mujoco_ros/urdf_mjcf/arm/arm.xml
    keyframe: home
    gains: package://mujoco_ros/urdf_mjcf/arm/gains.yaml
    gripper: left_finger_joint
  - name: dog
    model: package://mujoco_ros/urdf_mjcf/quadruped/quadruped.xml
    pose: {xyz: [3.0, 0.0, 0.0]}
objects:
  - name: box
    model: package://mujoco_ros/urdf_mjcf/objects/box.xml
    pose: {xyz: [2.0, 0.0, 0.0]}
"""
POSE = [3.0, 0.5, 0.8, 0.0, 0.0, math.sin(0.2), math.cos(0.2)]
ELBOW, LIFT = "arm.elbow_joint", "arm.shoulder_lift_joint"


def parameter(name: str, value: Any) -> Parameter:
    if isinstance(value, list):
        kind = ParameterType.PARAMETER_DOUBLE_ARRAY
        return Parameter(name=name, value=ParameterValue(type=kind, double_array_value=value))
    if isinstance(value, int):
        kind = ParameterType.PARAMETER_INTEGER
        return Parameter(name=name, value=ParameterValue(type=kind, integer_value=value))
    if isinstance(value, str):
        kind = ParameterType.PARAMETER_STRING
        return Parameter(name=name, value=ParameterValue(type=kind, string_value=value))
    kind = ParameterType.PARAMETER_DOUBLE
    return Parameter(name=name, value=ParameterValue(type=kind, double_value=value))


class Setter:
    """Sets joints of a simulator, and observes them."""

    def __init__(self, remote: SimulatorClient) -> None:
        self.remote, node = remote, remote.listener.node
        self._client = node.create_client(SetParametersAtomically, "/mujoco/set_joints")
        assert remote.listener.spin_until(self._client.service_is_ready)
        self.states = {
            robot: remote.listener.record(JointState, f"/{robot}/joint_states", reliable=True)
            for robot in ("arm", "dog")
        }

    def send(self, values: Mapping[str, Any]) -> Any:
        """Send a request; return the future."""
        request = SetParametersAtomically.Request()
        request.parameters = [parameter(name, value) for name, value in values.items()]
        return self._client.call_async(request)

    def __call__(self, values: Mapping[str, Any]) -> SetParametersResult:
        return self.remote.listener.result(self.send(values)).result

    def joints(self, robot: str = "arm") -> dict[str, tuple[float, float]]:
        """Return position and velocity of each joint at the begin of the next step, taken."""
        self.remote.settle()
        self.states[robot].raw.clear()
        assert self.remote.step(1).result == 1
        assert self.remote.listener.spin_until(lambda: len(self.states[robot]) > 0)
        state = self.states[robot].messages[0]
        pairs = zip(state.position, state.velocity, strict=True)
        return dict(zip(state.name, pairs, strict=True))

    def entity(self, name: str) -> Any:
        """Return the present state of an entity."""
        return self.remote.call("GetEntityState", entity=name).state


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setter]:
    folder: Path = tmp_path_factory.mktemp("joints")
    (folder / "scene.yaml").write_text(SCENE)
    starter = SimulatorLauncher(folder)
    remote = SimulatorClient(
        starter,
        robot="arm",
        scene=folder / "scene.yaml",
        publish_rate__joint_states=1000.0,
        real_time_factor=0.3,
    )
    yield Setter(remote)
    remote.close()
    starter.close()


@pytest.fixture
def setter(shared: Setter) -> Setter:
    """The scene in its initial state, paused."""
    shared.remote.ensure_state(PAUSED)
    assert shared.remote.call("ResetSimulation").result.result == 1
    return shared


def test_joints_of_two_robots_and_a_base_are_set_at_once_while_paused(setter: Setter) -> None:
    dog = next(iter(setter.joints("dog")))
    result = setter(
        {
            f"{ELBOW}.position": 1.25,
            f"{ELBOW}.velocity": -0.5,
            f"{LIFT}.position": -1,
            f"dog.{dog}.position": 0.3,
            "dog.pose": POSE,
            "dog.twist": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
            "box.pose": [2.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        }
    )
    assert result.successful, result.reason
    assert result.reason == ""
    state = setter.entity("dog")
    at, turn = state.pose.position, state.pose.orientation
    found = [at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w]
    assert found == pytest.approx(POSE)
    linear, angular = state.twist.linear, state.twist.angular
    assert [linear.x, linear.y, linear.z] == pytest.approx([0.1, 0.2, 0.3])
    assert [angular.x, angular.y, angular.z] == pytest.approx([0.4, 0.5, 0.6])
    assert setter.entity("box").pose.position.y == 2.0
    joints = setter.joints()
    assert joints["elbow_joint"] == (1.25, -0.5)
    assert joints["shoulder_lift_joint"][0] == -1.0


def test_a_finger_takes_its_mimic_along(setter: Setter) -> None:
    assert setter({"arm.left_finger_joint.position": 0.01}).successful
    joints = setter.joints()
    assert joints["left_finger_joint"][0] == joints["right_finger_joint"][0] == 0.01


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({}, "nothing to set"),
        ({f"{ELBOW}.position": 1.0, "arm.elbow.position": 1.0}, "did you mean 'arm.elbow_joint'"),
        ({f"{ELBOW}.position": 1.0, "crate.pose": POSE}, "entity 'crate' not found; there are:"),
        ({f"{ELBOW}.position": 1.0, f"{LIFT}.effort": 1.0}, "not the name of a quantity"),
        ({f"{ELBOW}.position": 1.0, f"{LIFT}.position": math.nan}, "must be a finite number"),
        ({f"{ELBOW}.position": 1.0, f"{LIFT}.velocity": math.inf}, "must be a finite number"),
        ({f"{ELBOW}.position": 1.0, f"{LIFT}.velocity": 1e12}, "must be within"),
        ({f"{ELBOW}.position": 1.0, f"{LIFT}.position": "x"}, "takes a number"),
        ({f"{ELBOW}.position": 1.0, "dog.pose": [1.0]}, "takes 7 numbers, [x, y, z, qx,"),
        ({f"{ELBOW}.position": 1.0, "dog.pose": [math.nan, *POSE[1:]]}, "x of the position"),
        ({f"{ELBOW}.position": 1.0, "dog.pose": [0.0] * 7}, "not a unit quaternion"),
        ({f"{ELBOW}.position": 1.0, "arm.pose": POSE}, "robot 'arm' cannot be moved: it is fixed"),
    ],
)
def test_a_wrong_request_names_the_culprit_and_sets_nothing(
    setter: Setter, values: Mapping[str, Any], reason: str
) -> None:
    before = setter.joints()
    result = setter(values)
    assert not result.successful
    assert reason in result.reason
    assert setter.joints()["elbow_joint"][0] == pytest.approx(before["elbow_joint"][0], abs=1e-4)


def test_a_name_given_twice_is_refused() -> None:
    twice = [parameter("a.position", 1.0), parameter("a.position", 2.0)]
    with pytest.raises(CommandError, match=r"'a\.position' is given twice"):
        read_values(twice)


def test_limits_clamp_or_refuse_as_the_parameter_specifies(setter: Setter) -> None:
    listener = setter.remote.listener
    result = setter({f"{ELBOW}.position": 99.0})
    assert result.successful
    assert "position 99 of joint 'arm.elbow_joint' was clamped to its limits" in result.reason
    listener.set_parameters({"arm.joint_limits": "refuse"})
    result = setter({f"{LIFT}.position": -1.1, f"{ELBOW}.position": 99.0})
    listener.set_parameters({"arm.joint_limits": "clamp"})
    assert not result.successful
    assert "is outside its limits" in result.reason
    assert setter.joints()["shoulder_lift_joint"][0] != -1.1


def test_a_goal_ends_with_the_reason_and_the_arm_stays_while_running(setter: Setter) -> None:
    remote = setter.remote
    commander = CommandClient(remote.listener, "arm")
    remote.ensure_state(PLAYING)
    goal = commander.follow(point(5.0, [2.0]), joints=["elbow_joint"])
    assert goal.accepted
    remote.listener.spin_for(0.5)
    assert setter({f"{ELBOW}.position": 1.0, f"{ELBOW}.velocity": 0.0}).successful
    assert "the state of the robot was set" in goal.result().result.error_string
    remote.listener.spin_for(0.5)
    remote.ensure_state(PAUSED)
    assert setter.joints()["elbow_joint"][0] == pytest.approx(1.0, abs=0.02)
    commander.close()


def test_a_command_stamped_before_is_dropped_and_one_after_acts(setter: Setter) -> None:
    remote = setter.remote
    commander = CommandClient(remote.listener, "arm")
    for _ in range(3):
        remote.step(20)
    before = seconds(remote.call("GetEntityState", entity="box").state.header.stamp)
    assert remote.step(20).result == 1
    assert setter({f"{ELBOW}.position": 1.0, f"{ELBOW}.velocity": 0.0}).successful
    commander.publish_joints(["elbow_joint"], position=[0.2], at=before)
    remote.listener.spin_for(0.3)
    remote.step(300)
    assert setter.joints()["elbow_joint"][0] == pytest.approx(1.0, abs=0.02)
    commander.publish_joints(["elbow_joint"], position=[0.8])
    remote.listener.spin_for(0.3)
    remote.step(1000)
    assert setter.joints()["elbow_joint"][0] == pytest.approx(0.8, abs=0.03)
    commander.close()


def test_the_same_requests_lead_to_the_same_bits(setter: Setter) -> None:
    def once() -> list[tuple[float, float]]:
        for position in np.linspace(0.2, 1.2, 5):
            assert setter({f"{ELBOW}.position": float(position), "dog.pose": POSE}).successful
            assert setter.remote.step(20).result == 1
        return [*setter.joints().values(), *setter.joints("dog").values()]

    first = once()
    assert setter.remote.call("ResetSimulation").result.result == 1
    assert once() == first


def test_a_stopped_simulation_is_paused_in_the_new_state(setter: Setter) -> None:
    setter.remote.ensure_state(STOPPED)
    assert setter({f"{ELBOW}.position": 1.0}).successful
    assert setter.remote.state == PAUSED
