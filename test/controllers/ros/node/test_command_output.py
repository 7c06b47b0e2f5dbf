"""The commands published for a controller's references."""

from types import SimpleNamespace

import numpy as np
import pytest

from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.modes import INTERFACES
from mujoco_ros.controllers.ros.node.command_output import (
    GripperGoals,
    JointCommands,
    Trajectories,
)

NAN = np.nan
JOINTS = ControlledJoints(
    names=("hip", "knee", "finger"),
    takes=(frozenset(INTERFACES), frozenset(INTERFACES), frozenset({"position"})),
    lower=np.array([-1.0, -1.0, 0.0]),
    upper=np.array([1.0, 1.0, 0.03]),
    continuous=np.zeros(3, dtype=bool),
    gripper=2,
)
TOLD = np.array([[0.5, NAN, 0.05], [2.0, NAN, 1.0], [NAN, NAN, 3.0]])


class Wires:
    """Publishers that keep what they publish, and a clerk that keeps what is asked."""

    def __init__(self) -> None:
        self.said: list = []
        self.asked: list = []

    def publisher(self, _kind, _topic, _qos):
        return SimpleNamespace(publish=self.said.append)

    def ask(self, _kind, name, request, _answered) -> None:
        self.asked.append((name, request))

    def is_served(self, _kind, _name) -> bool:
        return True


def seconds(point) -> float:
    return point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec


def test_joint_commands_have_what_joints_take_within_their_limits():
    wires = Wires()
    output = JointCommands(wires, "left", JOINTS)
    assert output.topic == "left/joint_commands"
    output.command(TOLD, 1.25)
    (message,) = wires.said
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (1, 250_000_000)
    assert list(message.name) == ["hip", "finger"]
    assert list(message.position) == [0.5, 0.03]
    assert list(message.velocity) == pytest.approx([2.0, NAN], nan_ok=True)
    assert list(message.effort) == pytest.approx([NAN, NAN], nan_ok=True)
    output.acknowledge(1.5)
    assert np.isnan([*wires.said[-1].position, *wires.said[-1].velocity]).all()
    assert len(wires.said[-1].name) == 1, "a message without a joint is none"
    output.hold(1.75)
    assert list(wires.said[-1].position) == [0.5, 0.03]
    assert list(wires.said[-1].velocity) == pytest.approx([0.0, NAN], nan_ok=True)


def test_trajectories_go_on_for_a_few_ticks_and_come_to_rest():
    wires = Wires()
    gripper = GripperGoals(wires, "", 2, "finger")
    output = Trajectories(wires, "", JOINTS, 0.005, gripper)
    output.command(TOLD, 1.0)
    (message,) = wires.said
    assert (message.header.stamp.sec, list(message.joint_names)) == (1, ["hip"])
    ahead, rest = message.points
    assert [seconds(ahead), *ahead.positions, *ahead.velocities] == pytest.approx([0.02, 0.53, 2.0])
    assert [seconds(rest), *rest.positions, *rest.velocities] == pytest.approx([0.07, 0.58, 0.0])
    output.hold(1.5)
    ahead, rest = wires.said[-1].points
    assert [*ahead.positions, *rest.positions, *ahead.velocities] == [0.5, 0.5, 0.0]


def test_efforts_are_told_where_they_are_taken_and_a_clock_that_waits_gets_an_answer():
    wires = Wires()
    output = Trajectories(wires, "", JOINTS, 0.005, None, efforts=True, lockstep=True)
    told = TOLD.copy()
    told[2, 0] = 7.0
    output.command(told, 1.0)
    assert [list(point.effort) for point in wires.said[-1].points] == [[7.0], [7.0]]
    output.acknowledge(1.25)
    answer = wires.said[-1]
    assert (list(answer.joint_names), list(answer.points)) == (["hip", "knee"], [])
    assert answer.header.stamp.nanosec == 250_000_000
    without = Trajectories(wires, "", JOINTS, 0.005, None)
    without.command(told, 1.0)
    assert [list(point.effort) for point in wires.said[-1].points] == [[], []]
    count = len(wires.said)
    without.acknowledge(1.25)
    assert len(wires.said) == count, "on a robot, that would stop what others move"


def test_a_gripper_gets_a_goal_when_it_shall_be_elsewhere_and_no_stream():
    wires = Wires()
    gripper = GripperGoals(wires, "left", 2, "finger")
    for time, position in ((0.0, NAN), (0.1, 0.02), (0.15, 0.01), (0.25, 0.01), (0.4, 0.01005)):
        gripper.send(position, time)
    goals = [request.goal.command for _, request in wires.asked]
    assert [list(goal.position) for goal in goals] == [[0.02], [0.01]]
    assert list(goals[0].name) == ["finger"]
    assert wires.asked[0][0] == "left/gripper_controller/gripper_cmd/_action/send_goal"
