"""Numbered commands: each adds one unit to a quantity of the simulator that the probe records."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import WrenchStamped
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from benchmark.processes.probe_columns import FORCE, POSITION, TORQUE, VELOCITY

RATE_HZ = 990.0
"""Not 1000 Hz, so that commands arrive at every phase of the step."""
GOAL_RATE_HZ = 50.0
_DEPTH = 10
_POINT_NS = 1_000_000  # a step
_BODY = "pelvis"

Send = Callable[[int], None]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A source of commands.

    Attributes:
        column: Column of the probe that its commands change.
        unit: Change of that quantity by one command (rad, rad/s, Nm or N).
        rate_hz: Commands per second.
        spins: Whether its client must process responses.
        topic: Its topic or action.
        opened: Opens it, and returns a function that sends the command of a number.
    """

    column: int
    unit: float
    rate_hz: float = RATE_HZ
    spins: bool = False
    topic: str
    opened: Callable[[Node, str, JointState, float], tuple[Any, Send]]


def _joint_state(node: Node, topic: str, states: JointState, unit: float) -> tuple[Any, Send]:
    publisher = node.create_publisher(JointState, topic, _DEPTH)
    message = JointState(name=states.name, position=states.position)
    message.velocity = message.effort = [0.0] * len(states.name)

    def send(number: int) -> None:
        message.effort[0] = number * unit
        publisher.publish(message)

    return publisher.get_subscription_count, send


def _array(start: str) -> Callable[[Node, str, JointState, float], tuple[Any, Send]]:
    """Return the opening of a source of arrays, which begin at the joints' `start` or at zero."""

    def opened(node: Node, topic: str, states: JointState, unit: float) -> tuple[Any, Send]:
        publisher = node.create_publisher(Float64MultiArray, topic, _DEPTH)
        values = list(states.position) if start else [0.0] * len(states.name)
        message = Float64MultiArray(data=values)

        def send(number: int) -> None:
            message.data[0] = values[0] + number * unit
            publisher.publish(message)

        return publisher.get_subscription_count, send

    return opened


def _trajectory_of(states: JointState) -> JointTrajectory:
    point = JointTrajectoryPoint(positions=states.position)
    point.time_from_start = Duration(nanosec=_POINT_NS)
    return JointTrajectory(joint_names=states.name, points=[point])


def _trajectory(node: Node, topic: str, states: JointState, unit: float) -> tuple[Any, Send]:
    publisher = node.create_publisher(JointTrajectory, topic, _DEPTH)
    message = _trajectory_of(states)

    def send(number: int) -> None:
        message.points[0].positions[0] = states.position[0] + number * unit
        publisher.publish(message)

    return publisher.get_subscription_count, send


def _goal(node: Node, topic: str, states: JointState, unit: float) -> tuple[Any, Send]:
    client = ActionClient(node, FollowJointTrajectory, topic)
    goal = FollowJointTrajectory.Goal(trajectory=_trajectory_of(states))

    def send(number: int) -> None:
        goal.trajectory.points[0].positions[0] = states.position[0] + number * unit
        client.send_goal_async(goal)

    return client.server_is_ready, send


def _wrench(node: Node, topic: str, _states: JointState, unit: float) -> tuple[Any, Send]:
    publisher = node.create_publisher(WrenchStamped, topic, _DEPTH)
    message = WrenchStamped()
    message.header.frame_id = _BODY

    def send(number: int) -> None:
        message.wrench.force.z = number * unit
        publisher.publish(message)

    return publisher.get_subscription_count, send


_TRAJECTORIES = "joint_trajectory_controller"
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
    "external_wrench": Source(column=FORCE, unit=1e-6, topic="external_wrench", opened=_wrench),
}
"""Sources of commands by name."""
