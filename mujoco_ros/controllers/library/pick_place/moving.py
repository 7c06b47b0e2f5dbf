"""States that move the arm along a planned path, and measurements of an object in its hand."""

from collections import deque
from collections.abc import Iterator
from itertools import chain, repeat
from math import ceil, isfinite, nan
from typing import ClassVar

import numpy as np

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.config_checks import NotNegative, Positive
from mujoco_ros.controllers.library.pick_place import motion_monitor
from mujoco_ros.controllers.library.pick_place import task as tasks
from mujoco_ros.controllers.library.pick_place.arm import GRAVITY, Arm
from mujoco_ros.controllers.library.pick_place.grasping import CENTRED
from mujoco_ros.controllers.library.pick_place.task import Average, ExecutedPath, Task
from mujoco_ros.controllers.planning.kinematics.limits import Payload
from mujoco_ros.model.pose import Pose


class ReversedPath:
    """A path from its end to its start."""

    def __init__(self, path: ExecutedPath) -> None:
        self._path = path

    @property
    def duration(self) -> float:
        return self._path.duration

    def samples(self, times: np.ndarray) -> np.ndarray:
        q, dq, ddq = self._path.samples(self._path.duration - times)
        return np.array([q, -dq, ddq])


class TrajectoryExecution:
    """Writes references along a path, with feed-forward efforts."""

    def __init__(self, arm: Arm, path: ExecutedPath, *, brake_s: float = 0.2) -> None:
        """Start at the start of the path; `brake_s` is the time to stop from full speed [s]."""
        self.path = path
        self._arm = arm
        self._time, self._rate = 0.0, 1.0
        self._deceleration, self._is_braking = 1.0 / brake_s, False
        self._samples: Iterator[np.ndarray] | None = None

    @property
    def is_finished(self) -> bool:
        return self._time >= self.path.duration

    @property
    def is_stopped(self) -> bool:
        return self._rate == 0.0 or self.is_finished

    def brake(self) -> None:
        """Slow down to rest on the path."""
        self._is_braking = True

    def step(self, context: StateContext) -> None:
        if self._is_braking:
            q, dq, ddq = self._braking_sample(context.period)
        else:
            self._time += context.period
            if self._samples is None:
                self._samples = self._all_samples(context.period)
            q, dq, ddq = next(self._samples)
        self._arm.command(context, q, dq, ddq)

    def _all_samples(self, period: float) -> Iterator[np.ndarray]:
        """Yield positions, velocities and accelerations of all ticks, then the last.  # (3, k)"""
        # An evaluation of all samples takes as long as three single evaluations.
        times = np.arange(1, 2 + ceil(self.path.duration / period)) * period
        samples = self.path.samples(times).swapaxes(0, 1)
        return chain(samples, repeat(samples[-1]))

    def _braking_sample(self, period: float) -> np.ndarray:
        """Advance with a decreasing rate, and return the sample.  # (3, k)"""
        before = self._rate
        self._rate = rate = max(0.0, before - self._deceleration * period)
        self._time += 0.5 * (before + rate) * period
        q, dq, ddq = self.path.samples(np.array([self._time]))[:, 0]
        return np.array([q, dq * rate, ddq * rate**2 + dq * (rate - before) / period])


_OSCILLATION_S = 0.05  # time for which the arm still oscillates at the end of a motion [s]


class RestMeasurement:
    """Averages weight and pose of the object in the hand while the arm rests."""

    def __init__(self, context: StateContext, arm: Arm, task: Task, duration: float) -> None:
        """Measure for `duration` [s] from now on."""
        self._arm, self._task, self._duration = arm, task, duration
        self._start = context.time
        self._poses = tasks.PoseAverage(context.time, duration)
        self.weight = Average()  # weight at the wrist [N]
        # Pose of the object in the tool's frame; None until it is complete, and without a pose
        self.held: Pose | None = None
        # Mass of the object [kg]; NaN before `weigh`, and if nothing measures forces
        self.mass = nan

    def add(self, context: StateContext) -> bool:
        """Add the observation of a tick; return whether the measurement is complete."""
        task, since = self._task, context.time - self._start
        if since >= min(_OSCILLATION_S, 0.5 * self._duration):
            self.weight.add(self._arm.weight(context))
        self._poses.add(context, task.object)
        if since < self._duration - 0.5 * context.period:
            return False
        if not task.follows_pose:
            return True
        pose = self._poses.pose(context.period)
        if pose is None:
            return False
        # References, because encoders may have offsets to the drives, and the goal is a reference.
        self.held = self._arm.tool(context.references.q).inverse() @ pose
        return True

    def overdue(self, context: StateContext, patience: float) -> str | None:
        """Return ``pose_stale`` if the pose is not measured in time [s]; None before."""
        if context.time - self._start < self._duration + patience:
            return None
        name = self._task.object
        if not motion_monitor.is_stale(context, name, patience):
            context.reason = f"no pose of '{name}' at rest was measured"
        return "pose_stale"

    def weigh(self, context: StateContext, lightest: float) -> str | None:
        """Put pose and mass into the task; return ``slip`` below the mass `lightest` [kg]."""
        task = self._task
        task.held = self.held or task.held or CENTRED
        self.mass = (self.weight.mean - task.empty_weight) / GRAVITY
        if not isfinite(self.mass):
            return None
        task.metrics["payload"] = self.mass
        if is_missing(self.weight, task.empty_weight, 2.0 * lightest):
            context.reason = f"the hand is empty: measured mass {self.mass * 1e3:.0f} g"
            return "slip"
        return None

    def check_mass(self, context: StateContext) -> str | None:
        """Return ``too_heavy`` if the grip cannot hold the mass, after `weigh`."""
        context.reason = self._task.excess_mass(self.mass)
        return "too_heavy" if context.reason else None

    def load_arm(self) -> None:
        """Make the measured object the payload of the arm, after `weigh`."""
        assert self._task.held is not None, "set by `weigh`"
        if isfinite(self.mass):  # else nothing measures forces
            payload = Payload(mass=max(self.mass, 0.0), com=self._task.held.position)
            self._arm.set_payload(payload)


def is_missing(weight: Average, empty: float, mass: float) -> bool:
    """Return whether most of the weight of an object of a mass [kg] is missing, for certain.

    The weights at the wrist are measured, and with an empty hand [N].
    """
    highest = weight.mean - empty + 2.0 * weight.standard_error
    return highest < 0.5 * mass * GRAVITY


_SLOW = 0.02  # largest speed of a joint at rest [rad/s]
_OPEN = 0.002  # largest distance of open fingers from their limit [m]
_REST_TICKS = 5  # ticks over which speeds are averaged at the end of a motion
_BIAS_TICKS = 12  # ticks for which a position error at rest must remain the same to be a bias


class MovingConfig(motion_monitor.MonitoredMotion):
    """Settings of the end of a motion."""

    settled: Positive = setting("Largest position error of a joint at the end [rad]", 0.002)
    bias: Positive = setting(
        "Largest position error of a joint at the end that does not change [rad]: the offset of "
        "an encoder, or the sag of a soft joint",
        0.015,
    )
    patience: NotNegative = setting("Timeout of settling, and of measurements at the end [s]", 0.5)


class ArmMotionState(tasks.TaskState, outcomes=("done",), failures=motion_monitor.FAILURES):
    """Follows a path under a monitor, and finishes when the joints are at rest at its end.

    Attributes:
        holds_object: Whether the fingers hold the object, so that the grip is checked.
        brake_s: Time to stop from full speed [s].
        ended: Time at the end of the path since the start of the state [s]; 0 before.
        rested: Time [s] since which the arm rests at the end.
    """

    Config = MovingConfig
    config: MovingConfig
    holds_object: ClassVar[bool] = False
    brake_s: ClassVar[float] = 0.2

    def start(self, context: StateContext) -> None:
        super().start(context)
        self.monitor = motion_monitor.MotionMonitor(context, self.arm, self.task, self.config)
        self._execution: TrajectoryExecution | None = None
        self.ended = self.rested = 0.0
        self._stop: tuple[str, str] | None = None
        self._speeds: deque[np.ndarray] = deque(maxlen=_REST_TICKS)
        self._errors: deque[np.ndarray] = deque(maxlen=_BIAS_TICKS)
        self._measured: RestMeasurement | None = None

    def advance(self, context: StateContext) -> str | None:
        self._speeds.append(context.observation.dq[self.arm.joints])
        failure = self.monitor.check_motion(context)
        if failure is None and self.holds_object:
            failure = self.monitor.grip.check(context)
        if failure is not None:
            return failure
        if self._stop is None and (outcome := self.check_and_brake(context)):
            self._stop = outcome, context.reason
            if self._execution is not None:
                self._execution.brake()
        if self._execution is None:
            self.arm.hold(context)
            if self._stop is None:
                path = self.path(context)
                if path is None or isinstance(path, str):
                    return path
                self._execution = TrajectoryExecution(self.arm, path, brake_s=self.brake_s)
                self._execution.step(context)
                return None
        elif not self._execution.is_stopped:
            self._execution.step(context)
            return None
        if self._stop is not None:
            outcome, context.reason = self._stop
            return outcome
        self.arm.hold(context)
        return self._settle(context)

    def path(self, context: StateContext) -> ExecutedPath | str | None:
        """Return the path, a failure, or None while it is not ready; default is the planned one."""
        return self.task.motion

    def check_and_brake(self, context: StateContext) -> str | None:
        """Return an outcome that ends the motion after smooth braking."""
        return None

    def finish(self, context: StateContext) -> str | None:
        """Return the outcome at rest at the end of the path, or None to continue."""
        return "done"

    def measure(self, context: StateContext, duration: float) -> RestMeasurement | str | None:
        """Measure the object in the hand at rest, from the first call on, at every tick.

        Return the measurement when it is complete, a failure if it is overdue, and None before.
        """
        if self._measured is None:
            duration *= self.task.variation.measuring
            self._measured = RestMeasurement(context, self.arm, self.task, duration)
        if self._measured.add(context):
            return self._measured
        return self._measured.overdue(context, self.config.patience)

    def _settle(self, context: StateContext) -> str | None:
        observation, joints = context.observation, self.arm.joints
        self.ended = self.ended or context.elapsed
        self._errors.append(context.references.q[joints] - observation.q[joints])
        error = np.abs(self._errors[-1])
        if self.rested or self._is_settled(error):
            self.rested = self.rested or context.time
            return self.finish(context)
        if context.elapsed - self.ended > self.config.patience:
            worst = int(np.argmax(error))
            context.reason = (
                f"'{context.robot.joints[joints[worst]]}' does not come to rest at the end: "
                f"error {error[worst] * 1e3:.1f} mrad"
            )
            return "tracking"
        return None

    def _is_settled(self, error: np.ndarray) -> bool:
        """Return whether the arm rests at the end, given its position errors [rad].  # (k,)"""
        if np.abs(np.mean(self._speeds, axis=0)).max() > _SLOW:
            return False
        if error.max() < self.config.settled:
            return True
        if len(self._errors) < _BIAS_TICKS or error.max() > self.config.bias:
            return False
        return bool(np.ptp(self._errors, axis=0).max() < self.config.settled)


class ExecApproach(ArmMotionState, failures=("object_moved", "pose_stale", "stuck")):
    """Moves above the object and opens the gripper; stops if the object is moved."""

    def check_and_brake(self, context: StateContext) -> str | None:
        self.arm.open(context)
        return self.monitor.check_object(context)

    def finish(self, context: StateContext) -> str | None:
        opening = float(context.observation.q[self.arm.gripper])
        distance = float(context.robot.upper[self.arm.gripper]) - opening
        if distance < _OPEN:
            return "done"
        if context.elapsed - self.ended > self.config.patience:
            context.reason = f"the fingers stop {distance * 1e3:.1f} mm before they are open"
            return "stuck"
        return None


class ExecTransport(ArmMotionState, failures=motion_monitor.GRIP_FAILURES):
    """Moves above the goal with the object, and measures its pose in the hand."""

    holds_object = True

    class Config(MovingConfig):
        """Settings of `ExecTransport`."""

        measuring: Positive = setting("Duration of the measurement of weight and pose [s]", 0.1)

    config: Config

    def finish(self, context: StateContext) -> str | None:
        task, payload = self.task, self.arm.payload
        measured = self.measure(context, self.config.measuring)
        if not isinstance(measured, RestMeasurement):
            return measured
        if payload is not None and is_missing(measured.weight, task.empty_weight, payload.mass):
            context.reason = "the weight of the object is missing"
            return "slip"
        if measured.held is not None:
            task.held = measured.held
        return "done"
