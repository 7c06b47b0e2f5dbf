"""How a controller's references reach a robot."""

from abc import ABC, abstractmethod

import numpy as np
from builtin_interfaces.msg import Duration
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mujoco_ros.bridge.publishing.template_publisher import stamp
from mujoco_ros.bridge.publishing.topics import RELIABLE
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.modes import INTERFACES, POSITION
from mujoco_ros.controllers.ros.node.gripper_goals import GripperGoals

JOINT_COMMANDS, TRAJECTORY, TRAJECTORY_EFFORT = "joint_commands", "trajectory", "trajectory_effort"
OUTPUTS = (JOINT_COMMANDS, TRAJECTORY, TRAJECTORY_EFFORT)
_POSITION, _VELOCITY, _EFFORT = range(3)
_AHEAD, _BRAKING = 4, 10
"""Periods for which a trajectory goes on, and in which it comes to rest then."""


class CommandOutput(ABC):
    """Tells the joints what they are to do.

    Attributes:
        topic: Where.
    """

    def __init__(self, joints: ControlledJoints) -> None:
        """Tell these joints."""
        self.topic = ""
        self._names = joints.names
        self._takes = np.array(
            [[interface in takes for takes in joints.takes] for interface in INTERFACES]
        )
        self._limits = joints.lower, joints.upper
        self._last = np.full(self._takes.shape, np.nan)

    def act(self, values: np.ndarray, time: float) -> None:
        """Tell the joints, at a tick, what they take of references; NaN leaves one as it is.

        Args:
            values: Position, velocity and effort.  # (3, n)
            time: Of the tick [s].
        """
        told = np.where(self._takes, values, np.nan)
        np.clip(told[_POSITION], *self._limits, out=told[_POSITION])
        np.copyto(self._last, told, where=~np.isnan(told))
        self._send(told, time)

    def hold(self, time: float) -> None:
        """Have the joints that were told something stand still where they are told to be."""
        still = self._last.copy()
        still[_VELOCITY] = np.where(np.isnan(still[_VELOCITY]), np.nan, 0.0)
        self._send(still, time)

    def answer(self, time: float) -> None:
        """Answer a tick, and change nothing."""
        self._send(np.full(self._takes.shape, np.nan), time)

    @abstractmethod
    def _send(self, told: np.ndarray, time: float) -> None:
        """Tell the joints what they take.  # (3, n)"""


class JointCommands(CommandOutput):
    """Streams ``joint_commands``, one message a tick: in lockstep the clock waits for it."""

    def __init__(self, endpoints: Endpoints, namespace: str, joints: ControlledJoints) -> None:
        """Open the topic."""
        super().__init__(joints)
        self.topic = within(namespace, CommandSource.JOINT_COMMANDS)
        self._publisher = endpoints.publisher(JointState, self.topic, RELIABLE)

    def _send(self, told: np.ndarray, time: float) -> None:
        # One that is told nothing at least says that this tick was answered.
        chosen = np.flatnonzero(~np.isnan(told).all(axis=0)).tolist() or [0]
        message = JointState(name=[self._names[joint] for joint in chosen])
        message.header.stamp = stamp(time)
        message.position, message.velocity, message.effort = (row[chosen].tolist() for row in told)
        self._publisher.publish(message)


class Trajectories(CommandOutput):
    """Sends short trajectories, for robots that take nothing else.

    Each goes on from the next tick as fast as it shall be then, for a few ticks, and comes to rest
    after them, should nothing follow: a trajectory that ends in motion is refused by many. Its
    times count from the tick's stamp, so that it does not matter how long it was on its way.
    A gripper has a controller of its own, and gets a goal whenever it shall be somewhere else.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        namespace: str,
        joints: ControlledJoints,
        period: float,
        gripper: GripperGoals | None,
        *,
        efforts: bool = False,
        lockstep: bool = False,
    ) -> None:
        """Open the topic.

        Args:
            endpoints: Opens it.
            namespace: The robot's.
            joints: Its joints.
            period: Time between two ticks [s].
            gripper: Who has the gripper's joint, if there is one.
            efforts: Whether to tell efforts as well, to joints that take them. Controllers that
                command positions alone refuse trajectories which do.
            lockstep: Whether every tick is answered, if only by joints that go on holding.
        """
        super().__init__(joints)
        self._ahead, self._braking = _AHEAD * period, _BRAKING * period
        self._period = period
        self.topic = within(namespace, CommandSource.TRAJECTORY, "joint_trajectory")
        self._joints = joints.taking(POSITION)
        self._gripper, self._efforts = gripper, efforts
        self._answering = [self._names[joint] for joint in self._joints] if lockstep else []
        self._publisher = endpoints.publisher(JointTrajectory, self.topic, RELIABLE)

    def _send(self, told: np.ndarray, time: float) -> None:
        if self._gripper is not None:
            self._gripper.go(float(told[_POSITION, self._gripper.joint]), time)
        chosen = [joint for joint in self._joints if not np.isnan(told[_POSITION, joint])]
        if chosen:
            self._publisher.publish(self._trajectory(told, chosen, time))
        elif self._answering:
            self._publisher.publish(
                JointTrajectory(header=_header(time), joint_names=self._answering)
            )

    def _trajectory(self, told: np.ndarray, chosen: list[int], time: float) -> JointTrajectory:
        positions, speeds = told[_POSITION, chosen], np.nan_to_num(told[_VELOCITY, chosen])
        ahead = positions + (self._ahead - self._period) * speeds
        rest = ahead + 0.5 * self._braking * speeds
        lower, upper = (limit[chosen] for limit in self._limits)
        efforts = np.nan_to_num(told[_EFFORT, chosen]) if self._efforts else np.empty(0)
        return JointTrajectory(
            header=_header(time),
            joint_names=[self._names[joint] for joint in chosen],
            points=[
                _point(after, np.clip(position, lower, upper), velocity, efforts)
                for after, position, velocity in (
                    (self._ahead, ahead, speeds),
                    (self._ahead + self._braking, rest, 0.0 * speeds),
                )
            ],
        )


def _header(time: float) -> Header:
    return Header(stamp=stamp(time))


def _point(
    after: float, positions: np.ndarray, velocities: np.ndarray, efforts: np.ndarray
) -> JointTrajectoryPoint:
    seconds, nanoseconds = divmod(round(after * 1e9), 1_000_000_000)
    return JointTrajectoryPoint(
        positions=positions.tolist(),
        velocities=velocities.tolist(),
        effort=efforts.tolist(),
        time_from_start=Duration(sec=seconds, nanosec=nanoseconds),
    )
