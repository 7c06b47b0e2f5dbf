"""The topic and the action of a robot's joint trajectory controller."""

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import SpeedScalingFactor
from rclpy.impl.implementation_singleton import rclpy_implementation
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mujoco_ros.bridge.commands.command_server import CommandServer
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.control.events import (
    ActionGoal,
    CommandError,
    CommandSource,
    GoalEnded,
    GoalProgress,
    LateError,
)
from mujoco_ros.control.joints import POSITION, ControlledJoints
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import OutOfLimits, TrajectorySettings
from mujoco_ros.control.trajectory.controller import TrajectoryController
from mujoco_ros.control.trajectory.trajectory import (
    PointArrays,
    Tolerances,
    Trajectory,
    check_speed_scaling,
    hold_trajectory,
    tolerances,
    trajectory,
)
from mujoco_ros.model.errors import counted
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.rclpy_ext.goal_server import Goal, GoalServer
from mujoco_ros.sim.command_queue import NANOSECOND, epoch_of
from mujoco_ros.wire.conversions import nanoseconds, split, stamp
from mujoco_ros.wire.names import RESTART
from mujoco_ros.wire.qos import LATCHED, RELIABLE

_FIELDS = ("positions", "velocities", "accelerations", "effort")


def seconds(duration: Duration) -> float:
    """Return a duration or time stamp in seconds."""
    return float(duration.sec + 1e-9 * duration.nanosec)


def point_arrays(message: JointTrajectory) -> PointArrays:
    """Remove the points of a message, and return them as arrays.

    rclpy keeps the message of a goal; freeing 100 000 points at once holds the GIL for 30 ms.
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
                        f"point {i} has {len(field)} {name} for {counted(joints, 'joint')}; give "
                        "one for each, or none"
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
    """Return the checked trajectory of a message; see `trajectory`.

    Without points, it holds the joints that it names, or all.
    """
    names, frame = message.joint_names, message.header.frame_id
    start = seconds(message.header.stamp) or None  # zeros are no stamp
    if not message.points:
        return hold_trajectory(joints, names)
    points = point_arrays(message)
    checked = trajectory(joints, settings, out_of_limits, names, start, points, upsampled=upsampled)
    return replace(checked, restarts=frame == RESTART or epoch_of(frame) is not None)


def to_tolerances(
    goal: FollowJointTrajectory.Goal,
    joints: ControlledJoints,
    settings: TrajectorySettings,
    indices: np.ndarray,
) -> Tolerances:
    """Return a goal's checked tolerances over the joints with `indices`."""
    if goal.multi_dof_trajectory.points or goal.multi_dof_trajectory.joint_names:
        raise CommandError("multi_dof_trajectory is not supported: joints have one axis here")
    if goal.component_path_tolerance or goal.component_goal_tolerance:
        raise CommandError("component tolerances are for multi_dof_trajectory, not supported")
    time = seconds(goal.goal_time_tolerance)
    return tolerances(joints, settings, indices, goal.path_tolerance, goal.goal_tolerance, time)


GOAL_TRAJECTORY = "goal_trajectory"
"""Topic of the trajectories of accepted goals; an empty one follows when the goal has ended."""
_FAR_AHEAD_S = 60.0


class FollowingController(Protocol):
    """A joint trajectory controller."""

    name: str  # its name in the namespace of the robot
    joints: ControlledJoints  # all joints of the robot; joints of other controllers take nothing
    columns: np.ndarray  # its joints, in the order of feedback
    trajectories: TrajectoryController

    def refusal(self) -> str:
        """Return why it takes no trajectories; empty if it does."""

    def follow(self, trajectory: Trajectory, time: float) -> None:
        """Execute a checked trajectory from the step at `time` [s] on."""

    def cancel(self, goal: ActionGoal) -> None:
        """Stop, if a goal is active."""


class _DefaultController:
    """The controller of all joints that take positions, which needs no activation."""

    def __init__(self, control: RobotControl) -> None:
        self.name = str(CommandSource.TRAJECTORY)
        self.joints, self.trajectories = control.joints, control.trajectory
        self.columns = np.array(control.joints.with_interface(POSITION), dtype=np.intp)
        self._control = control

    def refusal(self) -> str:
        return ""

    def follow(self, trajectory: Trajectory, time: float) -> None:
        self._control.follow(trajectory, time)

    def cancel(self, goal: ActionGoal) -> None:
        self._control.trajectory.cancel(goal)


class TrajectoryServer(CommandServer):
    """Serves the topics and the action of a joint trajectory controller."""

    def __init__(
        self,
        context: NodeContext,
        namespace: str,
        control: RobotControl,
        controller: FollowingController | None = None,
    ) -> None:
        """Serve a controller, or the one of all joints."""
        super().__init__(context, namespace, control)
        self._controller = controller or _DefaultController(control)
        name, self._lockstep = self._controller.name, context.lockstep
        self._columns = self._controller.columns
        self._names = [control.joints.names[i] for i in self._columns]
        self._subscribe(JointTrajectory, self._handle_topic, name, "joint_trajectory")
        self._action = in_namespace(namespace, name, "follow_joint_trajectory")
        self.goals = GoalServer(self._endpoints, FollowJointTrajectory, self._action, self)
        self._goal: Goal | None = None  # the one that was accepted last, until it ends
        self._goal_path = self._endpoints.publisher(
            JointTrajectory,
            in_namespace(namespace, name, GOAL_TRAJECTORY),
            RELIABLE,
        )
        self._open.append(self._goal_path)
        self._subscribe(
            SpeedScalingFactor, self._handle_speed, name, "speed_scaling_input", qos=LATCHED
        )

    def result(self, event: GoalEnded) -> FollowJointTrajectory.Result:
        """Return a result with the outcome as error code."""
        if event.goal is self._goal:
            self._goal = None
            self._publish_goal(JointTrajectory())
        return FollowJointTrajectory.Result(
            error_code=min(int(event.outcome), 0), error_string=event.message
        )

    def feedback(self, event: GoalProgress) -> FollowJointTrajectory.Feedback:
        """Return the desired and actual states."""
        message = FollowJointTrajectory.Feedback(joint_names=self._names)
        message.header.stamp = stamp(event.time)
        error = self._controller.joints.error(event.desired[:2], event.actual)
        for field, rows in (
            ("desired", event.desired),
            ("actual", event.actual),
            ("error", error),
        ):
            setattr(message, field, _point(rows[:, self._columns], event.since_start))
        if hasattr(message, "index"):  # since Kilted
            message.index = event.index
        return message

    def _handle_topic(self, topic: str, message: JointTrajectory) -> None:
        stamp_ns, epoch = nanoseconds(message.header.stamp), epoch_of(message.header.frame_id)
        try:
            checked = self._read(message, topic, upsampled=True)
        except CommandError as error:
            if stamp_ns and self._past(stamp_ns * NANOSECOND):
                self._rejections.report(topic, "refused", str(error))
            else:
                self._refuse(topic, error, stamp=stamp_ns, epoch=epoch)
            return
        if not self._lockstep.period(topic):
            stamp_ns = 0  # it is the start, not the tick that the trajectory answers
        self._follow(topic, checked, stamp=stamp_ns, epoch=epoch)

    def _handle_speed(self, topic: str, message: SpeedScalingFactor) -> None:
        factor = message.factor
        with self._rejections.refusing(topic):
            check_speed_scaling(factor)
            scale = self._controller.trajectories.scale_speed
            self._submit(topic, lambda _time: scale(factor))

    def check(self, goal: FollowJointTrajectory.Goal) -> Trajectory | None:
        """Return the checked trajectory with its tolerances; report a rejected one."""
        controller = self._controller
        with self._rejections.refusing(self._action, "goal rejected: "):
            checked = self._read(goal.trajectory, self._action)
            settings = controller.trajectories.settings
            allowed = to_tolerances(goal, controller.joints, settings, checked.joints)
            return replace(checked, tolerances=allowed)
        return None

    def accept(self, goal: Goal, checked: Trajectory) -> None:
        """Submit the trajectory of a goal, and publish it."""
        self._goal = goal
        self._follow(self._action, replace(checked, goal=goal), goal)
        if self._goal is goal:  # otherwise it could not be submitted
            self._publish_goal(self._message(checked))

    def cancel(self, goal: Goal) -> None:
        """Submit the cancellation of a goal."""
        cancel = self._controller.cancel
        self._submit(self._action, lambda _time: cancel(goal), urgent=True)

    def _publish_goal(self, message: JointTrajectory) -> None:
        # Goals that are aborted because the server closes end after its publisher.
        if self._goal_path in self._open and self._goal_path.get_subscription_count():
            with contextlib.suppress(rclpy_implementation.RCLError):  # of an overloaded middleware
                self._goal_path.publish(message)

    def _message(self, trajectory: Trajectory) -> JointTrajectory:
        """Return the waypoints that will be followed, with their start as stamp."""
        message, points = JointTrajectory(), trajectory.points
        if not trajectory.is_hold:
            start = self._simulation.time if trajectory.start is None else trajectory.start
            message.header.stamp = stamp(start)
            message.joint_names = [self._control.joints.names[i] for i in trajectory.joints]
            given = (points.degree + 1) // 2  # number of rows of each point
            rows = zip(points.q, points.dq, points.ddq, strict=True)
            message.points = [
                _point(row[:count], time)
                for row, count, time in zip(rows, given, points.times, strict=True)
            ]
        return message

    def _follow(
        self, topic: str, checked: Trajectory, goal: Goal | None = None, **stamps: Any
    ) -> None:
        follow = partial(self._controller.follow, checked)
        self._submit(topic, follow, goal, start=checked.start, **stamps)

    def _read(self, message: JointTrajectory, topic: str, *, upsampled: bool = False) -> Trajectory:
        """Return the trajectory of a message that is in time, with the tolerances of the
        parameters.
        """
        controller = self._controller
        if problem := controller.refusal():
            raise CommandError(problem)
        start = nanoseconds(message.header.stamp) * NANOSECOND
        if start and (problem := self._past(start)):
            raise LateError(problem)
        settings = controller.trajectories.settings
        out_of_limits = self._control.stream.out_of_limits
        checked = to_trajectory(
            message, controller.joints, settings, out_of_limits, upsampled=upsampled
        )
        if checked.is_hold:
            return checked
        now = self._simulation.time
        checked.check_in_time(now)
        self._rejections.report_clamped(topic, checked.clamped)
        ahead = 0.0 if checked.start is None else checked.start - now
        if ahead > _FAR_AHEAD_S:
            self._rejections.report(
                topic,
                "starts far ahead",
                f"the trajectory starts in {ahead:.0f} s; is use_sim_time set on its sender?",
            )
        return checked

    def _past(self, start: float) -> str:
        """Return why a start time [s] is from before a reset; empty if it is not."""
        return self._simulation.epochs.problem(start, self._simulation.time, starts=True)


def _point(rows: Iterable[np.ndarray], time: float) -> JointTrajectoryPoint:
    """Return positions, velocities and, if given, accelerations at a time [s] as a point."""
    point = JointTrajectoryPoint()
    point.time_from_start.sec, point.time_from_start.nanosec = split(time)
    for name, row in zip(("positions", "velocities", "accelerations"), rows, strict=False):
        setattr(point, name, row.tolist())
    return point
