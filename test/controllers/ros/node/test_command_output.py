"""The commands published for a controller's references."""

from types import SimpleNamespace

import numpy as np
import pytest

from mujoco_ros.control.joints import INTERFACES, ControlledJoints
from mujoco_ros.controllers.ros.node.command_output import (
    GripperGoals,
    JointCommands,
    Trajectories,
)

NAN = np.nan
JOINTS = ControlledJoints(
    names=("hip", "knee", "finger"),
    interfaces=(frozenset(INTERFACES), frozenset(INTERFACES), frozenset({"position"})),
    lower=np.array([-1.0, -1.0, 0.0]),
    upper=np.array([1.0, 1.0, 0.03]),
    continuous=np.zeros(3, dtype=bool),
    gripper=2,
)
REFERENCES = np.array([[0.5, NAN, 0.05], [2.0, NAN, 1.0], [NAN, NAN, 3.0]])


class Wires:
    """Publishers and a service caller that record messages and requests."""

    def __init__(self) -> None:
        self.published: list = []
        self.requests: list = []

    def publisher(self, _kind, _topic, _qos):
        return SimpleNamespace(publish=self.published.append)

    def call(self, _kind, name, request, _on_response) -> None:
        self.requests.append((name, request))

    def is_served(self, _kind, _name) -> bool:
        return True


def seconds(point) -> float:
    return point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec


def test_joint_commands_are_limited_to_the_interfaces_and_ranges_of_joints():
    wires = Wires()
    output = JointCommands(wires, "left", JOINTS)
    assert output.topic == "left/joint_commands"
    output.command(REFERENCES, 1.25)
    (message,) = wires.published
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (1, 250_000_000)
    assert list(message.name) == ["hip", "finger"]
    assert list(message.position) == [0.5, 0.03]
    assert list(message.velocity) == pytest.approx([2.0, NAN], nan_ok=True)
    assert list(message.effort) == pytest.approx([NAN, NAN], nan_ok=True)
    output.acknowledge(1.5)
    assert np.isnan([*wires.published[-1].position, *wires.published[-1].velocity]).all()
    assert len(wires.published[-1].name) == 1, "a message needs a joint"
    output.hold(1.75)
    assert list(wires.published[-1].position) == [0.5, 0.03]
    assert list(wires.published[-1].velocity) == pytest.approx([0.0, NAN], nan_ok=True)


def test_trajectories_continue_for_a_few_ticks_and_stop():
    wires = Wires()
    gripper = GripperGoals(wires, "", 2, "finger")
    output = Trajectories(wires, "", JOINTS, 0.005, gripper)
    output.command(REFERENCES, 1.0)
    (message,) = wires.published
    assert (message.header.stamp.sec, list(message.joint_names)) == (1, ["hip"])
    ahead, rest = message.points
    assert [seconds(ahead), *ahead.positions, *ahead.velocities] == pytest.approx([0.02, 0.53, 2.0])
    assert [seconds(rest), *rest.positions, *rest.velocities] == pytest.approx([0.07, 0.58, 0.0])
    output.hold(1.5)
    ahead, rest = wires.published[-1].points
    assert [*ahead.positions, *rest.positions, *ahead.velocities] == [0.5, 0.5, 0.0]


def test_efforts_are_optional_and_a_lockstep_clock_gets_a_message():
    wires = Wires()
    output = Trajectories(wires, "", JOINTS, 0.005, None, efforts=True, lockstep=True)
    references = REFERENCES.copy()
    references[2, 0] = 7.0
    output.command(references, 1.0)
    assert [list(point.effort) for point in wires.published[-1].points] == [[7.0], [7.0]]
    output.acknowledge(1.25)
    answer = wires.published[-1]
    assert (list(answer.joint_names), list(answer.points)) == (["hip", "knee"], [])
    assert answer.header.stamp.nanosec == 250_000_000
    without = Trajectories(wires, "", JOINTS, 0.005, None)
    without.command(references, 1.0)
    assert [list(point.effort) for point in wires.published[-1].points] == [[], []]
    count = len(wires.published)
    without.acknowledge(1.25)
    assert len(wires.published) == count, "an empty trajectory would stop other motions"


def test_a_gripper_gets_single_goals():
    wires = Wires()
    gripper = GripperGoals(wires, "left", 2, "finger")
    for time, position in ((0.0, NAN), (0.1, 0.02), (0.15, 0.01), (0.25, 0.01), (0.4, 0.01005)):
        gripper.send(position, time)
    goals = [request.goal.command for _, request in wires.requests]
    assert [list(goal.position) for goal in goals] == [[0.02], [0.01]]
    assert list(goals[0].name) == ["finger"]
    assert wires.requests[0][0] == "left/gripper_controller/gripper_cmd/_action/send_goal"
