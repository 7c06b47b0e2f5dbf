"""Numbered commands: each adds one unit to a quantity of the simulator that the probe records."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import rclpy
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from control_msgs.msg import DynamicJointState, InterfaceValue
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from benchmark.processes.probe_columns import (
    CARTESIAN,
    CONTROL,
    FORCE,
    GRIPPER,
    POSITION,
    TORQUE,
    VELOCITY,
)

RATE_HZ = 990.0
"""Not 1000 Hz, so that commands arrive at every phase of the step."""
GOAL_RATE_HZ = 50.0
_DEPTH = 10
_POSE_TIMEOUT_S = 120.0  # of a busy machine
_POINT_NS = 1_000_000  # a step
_BODY = "pelvis"

_FINGER_M = 0.01
"""A position of the finger, within its limits."""
_FOLDER = Path(__file__).resolve().parents[1]
_TENDON, _FORWARD = _FOLDER / "tendon.xml", _FOLDER / "forward_controller.yaml"

Send = Callable[[int], None]


class Opened(NamedTuple):
    """An opened source.

    Attributes:
        connected: Returns something true when the simulator receives its commands.
        send: Sends the command of a number.
        start: The quantity of the command of number 0.
    """

    connected: Callable[[], object]
    send: Send
    start: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Source:
    """A source of commands.

    Attributes:
        column: Column of the probe that its commands change.
        unit: Change of that quantity by one command (rad, rad/s, Nm or N).
        rate_hz: Commands per second.
        spins: Whether its client must process responses.
        topic: Its topic or action.
        opened: Opens it, given its topic, the joint states and the unit.
        scene: A scene in which it exists.
        parameters: Parameters of the simulator.
        owner: The `CommandSource` of its commands, if its topic does not begin with that.
    """

    column: int
    unit: float
    rate_hz: float = RATE_HZ
    spins: bool = False
    topic: str
    opened: Callable[[Node, str, JointState, float], Opened]
    scene: str = "humanoid"
    parameters: Mapping[str, str] = field(default_factory=dict)
    owner: str = ""

    @property
    def command_source(self) -> str:
        """Name of the `CommandSource` of its commands."""
        return self.owner or self.topic.partition("/")[0]


def _joint_state(node: Node, topic: str, states: JointState, unit: float) -> Opened:
    publisher = node.create_publisher(JointState, topic, _DEPTH)
    message = JointState(name=states.name, position=states.position)
    message.velocity = message.effort = [0.0] * len(states.name)

    def send(number: int) -> None:
        message.effort[0] = number * unit
        publisher.publish(message)

    return Opened(publisher.get_subscription_count, send)


def _array(
    start: str, count: int | None = None
) -> Callable[[Node, str, JointState, float], Opened]:
    """Return the opening of a source of arrays, which begin at the joints' `start` or at zero.

    It commands the first `count` joints, by default all.
    """

    def opened(node: Node, topic: str, states: JointState, unit: float) -> Opened:
        publisher = node.create_publisher(Float64MultiArray, topic, _DEPTH)
        values = (list(states.position) if start else [0.0] * len(states.name))[:count]
        message = Float64MultiArray(data=values)

        def send(number: int) -> None:
            message.data[0] = values[0] + number * unit
            publisher.publish(message)

        return Opened(publisher.get_subscription_count, send, values[0])

    return opened


def _trajectory_of(states: JointState) -> JointTrajectory:
    point = JointTrajectoryPoint(positions=states.position)
    point.time_from_start = Duration(nanosec=_POINT_NS)
    return JointTrajectory(joint_names=states.name, points=[point])


def _trajectory(node: Node, topic: str, states: JointState, unit: float) -> Opened:
    publisher = node.create_publisher(JointTrajectory, topic, _DEPTH)
    message = _trajectory_of(states)

    def send(number: int) -> None:
        message.points[0].positions[0] = states.position[0] + number * unit
        publisher.publish(message)

    return Opened(publisher.get_subscription_count, send, states.position[0])


def _goal(node: Node, topic: str, states: JointState, unit: float) -> Opened:
    client = ActionClient(node, FollowJointTrajectory, topic)
    goal = FollowJointTrajectory.Goal(trajectory=_trajectory_of(states))

    def send(number: int) -> None:
        goal.trajectory.points[0].positions[0] = states.position[0] + number * unit
        client.send_goal_async(goal)

    return Opened(client.server_is_ready, send, states.position[0])


def _wrench(node: Node, topic: str, _states: JointState, unit: float) -> Opened:
    publisher = node.create_publisher(WrenchStamped, topic, _DEPTH)
    message = WrenchStamped()
    message.header.frame_id = _BODY

    def send(number: int) -> None:
        message.wrench.force.z = number * unit
        publisher.publish(message)

    return Opened(publisher.get_subscription_count, send)


def _pose(node: Node, topic: str, _states: JointState, unit: float) -> Opened:
    """Open a source of poses, which begin where the frame is at the first command."""
    publisher = node.create_publisher(PoseStamped, topic, _DEPTH)
    received: list[PoseStamped] = []
    measured = topic.replace("target", "current")
    subscription = node.create_subscription(PoseStamped, measured, received.append, 1)
    end = time.monotonic() + _POSE_TIMEOUT_S
    while not received and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.05)
    node.destroy_subscription(subscription)
    if not received:
        raise TimeoutError(f"no message on {measured} within {_POSE_TIMEOUT_S:g} s")
    message = received[-1]
    start = message.pose.position.x

    def send(number: int) -> None:
        message.pose.position.x = start + number * unit
        publisher.publish(message)

    return Opened(publisher.get_subscription_count, send, start)


def _twist(node: Node, topic: str, _states: JointState, unit: float) -> Opened:
    publisher = node.create_publisher(TwistStamped, topic, _DEPTH)
    message = TwistStamped()

    def send(number: int) -> None:
        message.twist.linear.x = number * unit
        publisher.publish(message)

    return Opened(publisher.get_subscription_count, send)


def _target_wrench(node: Node, topic: str, _states: JointState, unit: float) -> Opened:
    publisher = node.create_publisher(WrenchStamped, topic, _DEPTH)
    message = WrenchStamped()

    def send(number: int) -> None:
        message.wrench.force.x = number * unit
        publisher.publish(message)

    return Opened(publisher.get_subscription_count, send)


def _gripper(node: Node, topic: str, _states: JointState, unit: float) -> Opened:
    client = ActionClient(node, ParallelGripperCommand, topic)
    goal = ParallelGripperCommand.Goal()

    def send(number: int) -> None:
        goal.command.position = [_FINGER_M + number * unit]
        client.send_goal_async(goal)

    return Opened(client.server_is_ready, send, _FINGER_M)


def _named(node: Node, topic: str, _states: JointState, unit: float) -> Opened:
    publisher = node.create_publisher(DynamicJointState, topic, _DEPTH)
    value = InterfaceValue(interface_names=["ctrl"], values=[0.0])
    message = DynamicJointState(joint_names=["pull"], interface_values=[value])

    def send(number: int) -> None:
        value.values[0] = number * unit
        publisher.publish(message)

    return Opened(publisher.get_subscription_count, send)


_TRAJECTORIES, _CARTESIAN = "joint_trajectory_controller", "cartesian_controller"
SOURCES = {
    "joint_commands": Source(column=TORQUE, unit=1e-4, topic="joint_commands", opened=_joint_state),
    "position_controller": Source(
        column=POSITION, unit=1e-7, topic="position_controller/commands", opened=_array("q")
    ),
    "velocity_controller": Source(
        column=VELOCITY, unit=1e-7, topic="velocity_controller/commands", opened=_array("")
    ),
    "effort_controller": Source(
        column=TORQUE, unit=1e-4, topic="effort_controller/commands", opened=_array("")
    ),
    "joint_trajectory": Source(
        column=POSITION,
        unit=1e-7,
        topic=f"{_TRAJECTORIES}/joint_trajectory",
        opened=_trajectory,
    ),
    "follow_joint_trajectory": Source(
        column=POSITION,
        unit=1e-7,
        rate_hz=GOAL_RATE_HZ,
        spins=True,
        topic=f"{_TRAJECTORIES}/follow_joint_trajectory",
        opened=_goal,
    ),
    "target_pose": Source(
        column=CARTESIAN,
        unit=1e-7,
        topic=f"{_CARTESIAN}/target_pose",
        opened=_pose,
        scene="arm",
    ),
    "target_twist": Source(
        column=CARTESIAN,
        unit=1e-7,
        topic=f"{_CARTESIAN}/target_twist",
        opened=_twist,
        scene="arm",
    ),
    "target_wrench": Source(
        column=CARTESIAN,
        unit=1e-4,
        topic=f"{_CARTESIAN}/target_wrench",
        opened=_target_wrench,
        scene="arm",
        parameters={f"{_CARTESIAN}.mode": "impedance"},
    ),
    "gripper_cmd": Source(
        column=GRIPPER,
        unit=1e-6,
        rate_hz=GOAL_RATE_HZ,
        spins=True,
        topic="gripper_controller/gripper_cmd",
        opened=_gripper,
        scene="arm",
    ),
    "forward_command_controller": Source(
        column=POSITION,
        unit=1e-7,
        topic="forward/commands",
        opened=_array("q", count=7),  # one finger has no motor
        scene="arm",
        parameters={"controllers_file": str(_FORWARD)},
        owner="controller_manager",
    ),
    "actuator_commands": Source(
        column=CONTROL,
        unit=1e-4,
        topic="actuator_commands",
        opened=_named,
        scene=str(_TENDON),
    ),
    "external_wrench": Source(column=FORCE, unit=1e-6, topic="external_wrench", opened=_wrench),
}
"""Sources of commands by name."""
