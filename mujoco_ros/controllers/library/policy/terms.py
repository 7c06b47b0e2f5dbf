"""Terms of an input: what each one contains, from the observation of a tick."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin

import numpy as np

from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.interface.inputs import BodyVelocity
from mujoco_ros.controllers.interface.observation import BaseReading, Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.library.policy.camera_images import image_writer
from mujoco_ros.controllers.library.policy.config import TermConfig
from mujoco_ros.controllers.library.policy.sensor_values import SensorValues
from mujoco_ros.model.errors import UserInputError, unknown

_STANDING = 0.01
"""Commands below this are zero [m/s, rad/s]."""


@dataclass(slots=True)
class PolicyTick:
    """What the terms are computed from.

    Attributes:
        observation: The observation.
        command: The commanded velocity.
        elapsed: Time since the start of the state [s].
        images: The newest image of each camera.
    """

    observation: Observation
    command: BodyVelocity
    elapsed: float
    images: Mapping[str, Image]


Write = Callable[[PolicyTick, np.ndarray], None]
"""Writes the values of a term into an array."""


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a robot.

    Attributes:
        config: Its settings.
        size: Number of values of a frame.
        write: Computes them.
    """

    config: TermConfig
    size: int
    write: Write


class TermFactory:
    """Creates the terms of a policy."""

    def __init__(
        self,
        robot: RobotModel,
        joints: Sequence[str],
        default_pose: np.ndarray,
        previous_action: np.ndarray,
        imu: str,
    ) -> None:
        """Prepare for a robot.

        Args:
            robot: The robot.
            joints: The joints of the policy.
            default_pose: Positions of all joints of the robot.  # (n,)
            previous_action: Array with the output of the last run.
            imu: Name of the IMU of the orientation and angular velocity; empty is the base.
        """
        self._robot, self._joints, self._imu = robot, joints, imu
        self._default_pose, self._previous_action = default_pose, previous_action
        self._sensors = SensorValues(robot)
        self._makers: Mapping[str, Callable[[TermConfig], Term]] = {
            "joint_position": self._joint_position,
            "joint_velocity": lambda config: self._of_joints(config, lambda it: it.dq),
            "joint_effort": lambda config: self._of_joints(config, lambda it: it.effort),
            "previous_action": self._of_previous_action,
            "base_angular_velocity": self._angular_velocity,
            "base_linear_velocity": self._linear_velocity,
            "projected_gravity": lambda config: Term(config, 3, self.gravity(config.sensor)),
            "command": lambda config: Term(config, 3, _write_command),
            "gait_phase": _gait_phase,
            "sensor": self._of_sensor,
        }

    def make(self, config: TermConfig, axes: Sequence[int | None] | None) -> Term:
        """Create a term of an input with a shape.

        Raises:
            UserInputError: The robot lacks a joint or sensor of the term, or the shape is not one
                of an image.
        """
        if config.term == "image":
            camera = config.sensor
            size, put = image_writer(camera, config.value, axes)
            return Term(config, size, lambda tick, it: put(tick.images[camera], it))
        return self._makers[config.term](config)

    def gravity(self, sensor: str = "") -> Write:
        """Return what writes the direction of gravity in the frame of an IMU or of the base."""
        quaternion = self._imu_value(sensor, "quat_wxyz")

        def write(tick: PolicyTick, values: np.ndarray) -> None:
            if quaternion is None:
                w, x, y, z = _base(tick.observation).pose.quat_wxyz
            else:
                w, x, y, z = _four(quaternion(tick.observation))
            values[0] = 2.0 * (w * y - x * z)
            values[1] = -2.0 * (y * z + w * x)
            values[2] = 2.0 * (x * x + y * y) - 1.0

        return write

    def indices(self, joints: Sequence[str]) -> np.ndarray:
        """Return the indices of joints of the robot; without names, those of the policy."""
        known, joints = self._robot.joints, joints or self._joints
        for joint in joints:
            if joint not in known:
                raise unknown(f"robot '{self._robot.name}': joint", joint, known)
        return np.array([known.index(joint) for joint in joints], dtype=np.intp)

    def _of_joints(self, config: TermConfig, read: Callable[[Observation], np.ndarray]) -> Term:
        joints = self.indices(config.joints)

        def write(tick: PolicyTick, values: np.ndarray) -> None:
            read(tick.observation).take(joints, out=values, mode="clip")

        return Term(config, len(joints), write)

    def _joint_position(self, config: TermConfig) -> Term:
        joints = self.indices(config.joints)
        default_pose = self._default_pose[joints]

        def write(tick: PolicyTick, values: np.ndarray) -> None:
            tick.observation.q.take(joints, out=values, mode="clip")
            np.subtract(values, default_pose, out=values)

        return Term(config, len(joints), write)

    def _of_previous_action(self, config: TermConfig) -> Term:
        action = self._previous_action
        return Term(config, len(action), lambda _tick, values: np.copyto(values, action))

    def _angular_velocity(self, config: TermConfig) -> Term:
        read = self._imu_value(config.sensor, "angular_velocity")
        if read is None:
            return Term(config, 3, lambda tick, it: np.copyto(it, _base(tick.observation).angular))
        return Term(config, 3, lambda tick, it: np.copyto(it, read(tick.observation)))

    def _linear_velocity(self, config: TermConfig) -> Term:
        if not config.sensor:
            return Term(config, 3, lambda tick, it: np.copyto(it, _base(tick.observation).linear))
        return self._of_sensor(config, expected=3)

    def _of_sensor(self, config: TermConfig, expected: int | None = None) -> Term:
        size, read = self._sensors.find(config.sensor, config.value)
        if expected is not None and size != expected:
            raise UserInputError(
                f"sensor '{config.sensor}' has {size} values, and {config.term} needs {expected}"
            )
        return Term(config, size, lambda tick, it: np.copyto(it, read(tick.observation)))

    def _imu_value(self, sensor: str, value: str) -> Callable[[Observation], np.ndarray] | None:
        """Return what reads a measurement of the IMU; None without an IMU."""
        name = sensor or self._imu
        return self._sensors.find_imu(name, value) if name else None


def _base(observation: Observation) -> BaseReading:
    if observation.base is None:
        raise UserInputError("the observation lacks the floating base; use an IMU instead")
    return observation.base


def _four(quaternion: np.ndarray) -> np.ndarray:
    return quaternion if np.ndim(quaternion) else np.full(4, np.nan)  # not measured


def _write_command(tick: PolicyTick, values: np.ndarray) -> None:
    values[0], values[1], values[2] = tick.command


class _GaitPhase:
    """Functions of the phases of a gait, which can stop while the command is zero."""

    def __init__(self, config: TermConfig) -> None:
        self._functions = [{"sin": sin, "cos": cos}[name] for name in config.functions]
        self._period, self._phases, self._at_rest = config.period, config.phases, config.at_rest
        self._begins, self._since, self._last = config.phases, 0.0, 0.0

    def __call__(self, tick: PolicyTick, values: np.ndarray) -> None:
        """Write the values."""
        elapsed = tick.elapsed
        if elapsed < self._last:  # the state has started again
            self._begins, self._since = self._phases, 0.0
        self._last = elapsed
        if self._at_rest and hypot(*tick.command) < _STANDING:
            self._begins, self._since = self._at_rest, elapsed
        cycles = (elapsed - self._since) / self._period
        angles = [2.0 * pi * ((cycles + phase) % 1.0) for phase in self._begins]
        for at, value in enumerate(f(angle) for f in self._functions for angle in angles):
            values[at] = value


def _gait_phase(config: TermConfig) -> Term:
    return Term(config, len(config.functions) * len(config.phases), _GaitPhase(config))
