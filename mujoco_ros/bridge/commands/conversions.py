"""Messages of joint commands as the types of the control layer."""

import numpy as np
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance as ToleranceMessage
from trajectory_msgs.msg import JointTrajectory

from mujoco_ros.control.errors import CommandError
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.modes import POSITION
from mujoco_ros.control.settings import OutOfLimits, TrajectorySettings
from mujoco_ros.control.trajectory.trajectory import (
    JointTolerance,
    PointArrays,
    Tolerances,
    Trajectory,
    tolerances,
    trajectory,
)

_FIELDS = ("positions", "velocities", "accelerations", "effort")


def seconds(duration: Duration) -> float:
    """Return a duration or time stamp in seconds."""
    return float(duration.sec + 1e-9 * duration.nanosec)


def point_arrays(message: JointTrajectory) -> PointArrays:
    """Remove the points of a message, and return them as arrays.

    rclpy keeps the message of a goal, and freeing 100 000 points at once, rather than one by one,
    holds the GIL for 30 ms.

    Raises:
        CommandError: A field has neither no values nor one for each joint.
    """
    points, joints = list(reversed(message.points)), len(message.joint_names)
    message.points = []
    times = np.empty(len(points))
    values = np.zeros((4, len(points), joints))
    given = np.zeros((4, len(points)), dtype=bool)
    try:
        for i in range(len(points)):
            point = points.pop()
            times[i] = seconds(point.time_from_start)
            for row, name in enumerate(_FIELDS):
                field = getattr(point, name)
                if not field:
                    continue
                if len(field) != joints:
                    raise CommandError(
                        f"point {i} has {len(field)} {name} for {joints} joints; give one for "
                        "each, or none"
                    )
                values[row, i] = field
                given[row, i] = True
    finally:
        while points:
            points.pop()
    return PointArrays(times=times, values=values, given=given)


def to_trajectory(
    message: JointTrajectory,
    joints: ControlledJoints,
    settings: TrajectorySettings,
    out_of_limits: OutOfLimits,
    *,
    upsampled: bool = False,
) -> Trajectory:
    """Return the trajectory of a message; see `trajectory`.

    Raises:
        CommandError: It is invalid.
    """
    stamp = message.header.stamp
    start = seconds(stamp) if stamp.sec or stamp.nanosec else None
    names, points = message.joint_names, point_arrays(message)
    return trajectory(joints, settings, out_of_limits, names, start, points, upsampled=upsampled)


def joints_to_hold(message: JointTrajectory, joints: ControlledJoints) -> np.ndarray:
    """Return the joints that hold after an empty trajectory: those it names, or all.

    Raises:
        CommandError: It names a joint that does not exist.
    """
    among = joints.with_interface(POSITION)
    if message.joint_names:
        return joints.find(message.joint_names, among)
    return np.array(among, dtype=np.intp)


def to_tolerances(
    goal: FollowJointTrajectory.Goal,
    joints: ControlledJoints,
    settings: TrajectorySettings,
    indices: np.ndarray,
) -> Tolerances:
    """Return a goal's tolerances over the joints with `indices`.

    Raises:
        CommandError: One is invalid, or for joints of several degrees of freedom.
    """
    if goal.multi_dof_trajectory.points or goal.multi_dof_trajectory.joint_names:
        raise CommandError("multi_dof_trajectory is not supported: joints have one axis here")
    if goal.component_path_tolerance or goal.component_goal_tolerance:
        raise CommandError("component tolerances are for multi_dof_trajectory, not supported")
    return tolerances(
        joints,
        settings,
        indices,
        [_tolerance(t) for t in goal.path_tolerance],
        [_tolerance(t) for t in goal.goal_tolerance],
        seconds(goal.goal_time_tolerance),
    )


def _tolerance(message: ToleranceMessage) -> JointTolerance:
    return JointTolerance(
        name=message.name,
        position=message.position,
        velocity=message.velocity,
        acceleration=message.acceleration,
    )
