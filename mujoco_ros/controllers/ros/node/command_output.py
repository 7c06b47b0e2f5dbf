"""Publishers of a controller's references."""

import uuid
from abc import ABC, abstractmethod

import numpy as np
from builtin_interfaces.msg import Duration
from control_msgs.action import ParallelGripperCommand
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from unique_identifier_msgs.msg import UUID

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joints import INTERFACES, POSITION, ControlledJoints
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.wire.conversions import split, stamp
from mujoco_ros.wire.names import RESTART
from mujoco_ros.wire.qos import RELIABLE
from mujoco_ros.wire.service_caller import ServiceCaller

JOINT_COMMANDS, TRAJECTORY, TRAJECTORY_EFFORT = "joint_commands", "trajectory", "trajectory_effort"
OUTPUTS = (JOINT_COMMANDS, TRAJECTORY, TRAJECTORY_EFFORT)
_POSITION, _VELOCITY, _EFFORT = range(3)
_AHEAD, _BRAKING = 4, 10
"""Periods for which a trajectory continues at constant velocity, and in which it then stops."""

_SEND_GOAL = ParallelGripperCommand.Impl.SendGoalService
_MIN_CHANGE_M = 2e-4  # smaller changes of the reference do not cause a new goal
_MIN_INTERVAL_S = 0.1  # gripper controllers do not accept a stream of goals


class CommandOutput(ABC):
    """Publishes joint commands."""

    _publisher: Publisher

    def __init__(self, joints: ControlledJoints) -> None:
        self.topic = ""
        self._names = joints.names
        self._takes = np.array(
            [[interface in takes for takes in joints.interfaces] for interface in INTERFACES]
        )
        self._limits = joints.lower, joints.upper
        self._last = np.full(self._takes.shape, np.nan)
        self._frame = ""

    def restart(self) -> None:
        """Mark the next message as the first one after a reset, which may move joints at once."""
        self._frame = RESTART

    def command(self, values: np.ndarray, time: float) -> None:
        """Publish position, velocity and effort at a tick [s]; NaN is no change.  # (3, n)"""
        values = np.where(self._takes, values, np.nan)
        np.clip(values[_POSITION], *self._limits, out=values[_POSITION])
        np.copyto(self._last, values, where=~np.isnan(values))
        self._publish(values, time)

    def hold(self, time: float) -> None:
        """Command all joints with a reference to hold it at zero velocity."""
        values = self._last.copy()
        values[_VELOCITY] = np.where(np.isnan(values[_VELOCITY]), np.nan, 0.0)
        self._publish(values, time)

    def acknowledge(self, time: float) -> None:
        """Publish a message for a tick that commands no joint; a lockstep clock needs one."""
        self._publish(np.full(self._takes.shape, np.nan), time)

    def _header(self, time: float) -> Header:
        frame, self._frame = self._frame, ""
        return Header(stamp=stamp(time), frame_id=frame)

    @property
    def has_subscription(self) -> bool:
        """Whether a subscription is matched; an earlier message would be lost."""
        return bool(self._publisher.get_subscription_count() > 0)

    @abstractmethod
    def _publish(self, values: np.ndarray, time: float) -> None: ...


class JointCommands(CommandOutput):
    """Publishes one ``joint_commands`` message a tick."""

    def __init__(self, endpoints: Endpoints, namespace: str, joints: ControlledJoints) -> None:
        super().__init__(joints)
        self.topic = in_namespace(namespace, CommandSource.JOINT_COMMANDS)
        self._publisher = endpoints.publisher(JointState, self.topic, RELIABLE)

    def _publish(self, values: np.ndarray, time: float) -> None:
        # Without a command, one joint with NaN acknowledges the tick.
        joints = np.flatnonzero(~np.isnan(values).all(axis=0)).tolist() or [0]
        message = JointState(header=self._header(time))
        message.name = [self._names[joint] for joint in joints]
        message.position, message.velocity, message.effort = (
            row[joints].tolist() for row in values
        )
        self._publisher.publish(message)


class GripperGoals:
    """Follows a gripper's reference with goals of ``gripper_cmd``; each replaces the last one."""

    def __init__(self, caller: ServiceCaller, namespace: str, joint: int, name: str) -> None:
        self.joint = joint
        self._caller, self._name = caller, name
        self._service = in_namespace(
            namespace, CommandSource.GRIPPER, "gripper_cmd", "_action/send_goal"
        )
        self._sent, self._sent_at = np.nan, -np.inf
        caller.is_served(_SEND_GOAL, self._service)  # starts the discovery

    def send(self, position: float, time: float) -> None:
        """Send a goal [m] at the time of a tick [s], if it is new; NaN is not sent."""
        if np.isnan(position) or abs(position - self._sent) < _MIN_CHANGE_M:
            return
        if 0.0 <= time - self._sent_at < _MIN_INTERVAL_S:
            return
        self._sent, self._sent_at = position, time
        request = _SEND_GOAL.Request(goal_id=UUID(uuid=np.frombuffer(uuid.uuid4().bytes, np.uint8)))
        request.goal.command.name = [self._name]
        request.goal.command.position = [position]
        self._caller.call(_SEND_GOAL, self._service, request, lambda _response: None)


class Trajectories(CommandOutput):
    """Publishes a short trajectory a tick, for robots without joint commands.

    Each trajectory continues at the commanded velocity for a few ticks and then stops, because many
    controllers reject a trajectory that ends in motion. Its times start at the tick's stamp, so
    that latency has no influence. The gripper gets goals of its own action.
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
        """Open the topic; pure position controllers reject `efforts`.

        In `lockstep`, a tick without a command publishes an empty trajectory.
        """
        super().__init__(joints)
        self._ahead, self._braking = _AHEAD * period, _BRAKING * period
        self._period = period
        self.topic = in_namespace(namespace, CommandSource.TRAJECTORY, "joint_trajectory")
        self._joints = joints.with_interface(POSITION)
        self._gripper, self._efforts = gripper, efforts
        self._acknowledged = [self._names[joint] for joint in self._joints] if lockstep else []
        self._publisher = endpoints.publisher(JointTrajectory, self.topic, RELIABLE)

    def _publish(self, values: np.ndarray, time: float) -> None:
        if self._gripper is not None:
            self._gripper.send(float(values[_POSITION, self._gripper.joint]), time)
        joints = [joint for joint in self._joints if not np.isnan(values[_POSITION, joint])]
        if not (joints or self._acknowledged):
            return
        message = JointTrajectory(header=self._header(time))
        if joints:
            message.joint_names = [self._names[joint] for joint in joints]
            message.points = self._points(values[:, joints], joints)
        else:
            message.joint_names = self._acknowledged
        self._publisher.publish(message)

    def _points(self, values: np.ndarray, joints: list[int]) -> list[JointTrajectoryPoint]:
        positions, velocities = values[_POSITION], np.nan_to_num(values[_VELOCITY])
        ahead = positions + (self._ahead - self._period) * velocities
        rest = ahead + 0.5 * self._braking * velocities
        lower, upper = (limit[joints] for limit in self._limits)
        efforts = np.nan_to_num(values[_EFFORT]) if self._efforts else np.empty(0)
        return [
            _point(after, np.clip(position, lower, upper), velocity, efforts)
            for after, position, velocity in (
                (self._ahead, ahead, velocities),
                (self._ahead + self._braking, rest, 0.0 * velocities),
            )
        ]


def _point(
    after: float, positions: np.ndarray, velocities: np.ndarray, efforts: np.ndarray
) -> JointTrajectoryPoint:
    seconds, nanoseconds = split(after)
    return JointTrajectoryPoint(
        positions=positions.tolist(),
        velocities=velocities.tolist(),
        effort=efforts.tolist(),
        time_from_start=Duration(sec=seconds, nanosec=nanoseconds),
    )
