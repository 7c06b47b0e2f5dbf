"""Motion of position-controlled feet that brings the loads on them to the wanted ones."""

from collections.abc import Sequence
from math import atan2, copysign

import mujoco
import numpy as np

from mujoco_ros.controllers.estimation.base_estimator import BaseEstimator
from mujoco_ros.controllers.interface.observation import Observation, named_reading
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.library.walk.footsteps import LEFT, RIGHT, turned
from mujoco_ros.controllers.library.walk.stabilizer import StabilizerConfig
from mujoco_ros.model.sensors.robot_sensors import find_sensor_site

_LEAST_LOAD = 0.05
"""Load of a foot, as part of the weight, below which its torque is not controlled."""
_SWING_RETURN = 5.0
"""Decay of the rotation of a foot without load [1/s]."""
_ADAPTATION = 5.0
"""Rate at which the slope of the ground is adopted [1/s]."""
_FLAT = 0.7
"""Part of a sole in which the centre of pressure shows that it is flat on the ground."""
_BALANCED = 0.2
"""Part of a sole by which the centre of pressure may be beside the wanted one."""
_ALIGNMENT, _FASTEST = 10.0, 1.0
"""Angular acceleration [rad/s²] and largest angular velocity [rad/s] of a sole that is turned onto
the ground."""
_TURNS = 0.3
"""Such an angular velocity that it reaches only if the foot is not flat on the ground [rad/s]."""
_LARGEST_TILT = 0.3
"""[rad]"""


class FootAdmittance:
    """Rotates the feet by errors of torque, and shifts them by errors of the load.

    Without errors, rotation and shift become those that are measured: the feet follow the ground.

    Source: S. Kajita et al., Biped Walking Stabilization Based on Linear Inverted Pendulum
    Tracking, IROS 2010, sections V and VI.

    Attributes:
        tilt: Roll and pitch of left and right foot along the axes of the sole [rad].  # (2, 2)
        ground: Roll and pitch of the ground under the feet, along the same axes [rad].  # (2, 2)
        lift: Height of the left foot above the right one, in addition to that of the gait [m].
        loads: Measured forces on the soles, along their normals [N].  # (2,)
    """

    def __init__(
        self,
        robot: RobotModel,
        sensors: Sequence[str],
        config: StabilizerConfig,
        weight: float,
        half_sizes: np.ndarray,
    ) -> None:
        """Begin on level ground.

        Args:
            robot: The robot.
            sensors: Names of the force-torque sensors of the left and the right foot.
            config: The settings.
            weight: Weight of the robot [N].
            half_sizes: Half length and width of the soles [m].  # (2, 2)
        """
        self._config, self._weight, self._sensors = config, weight, tuple(sensors)
        self._sites = [find_sensor_site(robot.model, robot.prefix, name) for name in sensors]
        self._torques, self.loads = np.zeros((2, 2)), np.zeros(2)
        self.ground = np.zeros((2, 2))
        self._half_sizes = half_sizes
        # A centre of pressure at its limit may differ in the last bit.
        limits = np.maximum(half_sizes - config.sole_margin, 0.0) - 1e-6
        self._limits: list[list[float]] = limits.tolist()
        self._tilts, self._difference = np.zeros((2, 2)), 0.0
        self._lever, self._moment = np.zeros(3), np.zeros(3)
        self.tilt, self.lift = np.zeros((2, 2)), 0.0
        self._turning = np.zeros((2, 2))

    @property
    def is_flat(self) -> bool:
        """Whether no foot turns onto the ground."""
        return float(np.abs(self._turning).max()) < _TURNS

    def step(
        self,
        observation: Observation,
        estimator: BaseEstimator,
        loads: np.ndarray,
        pressure: np.ndarray,
        support: int | None,
        slope: np.ndarray,
        rise: float,
        period: float,
    ) -> None:
        """Continue by a tick.

        Args:
            observation: Has the wrenches.
            estimator: Has the poses of the soles.
            loads: Wanted vertical forces on the feet [N].  # (2,)
            pressure: Wanted centres of pressure in the frames of the soles [m].  # (2, 2)
            support: The foot that stands alone; None if both stand.
            slope: Roll and pitch of the ground where the other foot lands, along the axes of its
                sole [rad].  # (2,)
            rise: Height of the left foot above the right one, without `lift` [m].
            period: [s]
        """
        self._measure(observation, estimator)
        config, tilt, measured = self._config, self.tilt, self.loads
        for foot in (LEFT, RIGHT):
            if measured[foot] < _LEAST_LOAD * self._weight:
                self._turning[foot] = 0.0
                tilt[foot] += _SWING_RETURN * period * (slope - tilt[foot])
                self.ground[foot] = tilt[foot]
                continue
            ahead, left = self._wanted(foot, pressure[foot])
            error = self._torques[foot] - np.array([left, -ahead]) * measured[foot]
            ground = self.ground[foot]
            ground += _ADAPTATION * period * self._flatness(foot) * (self._tilts[foot] - ground)
            turning = self._align(foot, error.tolist(), period)
            ground += period * turning
            tilt[foot] += period * (
                config.ankle_damping * error + turning + config.ankle_return * (ground - tilt[foot])
            )
        np.minimum(tilt, _LARGEST_TILT, out=tilt)
        np.maximum(tilt, -_LARGEST_TILT, out=tilt)
        if support is None:
            difference = (measured[LEFT] - measured[RIGHT]) - (loads[LEFT] - loads[RIGHT])
            ground = self._difference - rise - self.lift
            self.lift += period * (
                config.force_damping * float(difference) + config.force_return * ground
            )

    def _wanted(self, foot: int, pressure: np.ndarray) -> list[float]:
        """Return the wanted centre of pressure [m].

        At its limit, it is the measured one if that is farther outwards: a robot that tips about
        the edge of a sole shall not lean farther out.
        """
        load = float(self.loads[foot])
        roll, pitch = self._torques[foot].tolist()
        result = []
        for wanted, measured, limit in zip(
            pressure.tolist(), (-pitch / load, roll / load), self._limits[foot], strict=True
        ):
            if abs(wanted) < limit:
                result.append(wanted)
            else:
                result.append(max(wanted, measured) if wanted > 0.0 else min(wanted, measured))
        return result

    def _align(self, foot: int, error: Sequence[float], period: float) -> np.ndarray:
        """Return the angular velocity that brings a whole sole onto the ground [rad/s].  # (2,)

        A sole on the edge of a plate has its centre of pressure at that edge, however it turns. The
        longer this lasts, the faster the sole turns. On a sole that is flat, a small rotation moves
        the centre of pressure, and this ends.
        """
        turning: np.ndarray = self._turning[foot]
        length, width = (self._half_sizes[foot] * (_BALANCED * self.loads[foot])).tolist()
        for axis, (moment, reach) in enumerate(zip(error, (width, length), strict=True)):
            if not abs(moment) > reach:
                turning[axis] = 0.0
                continue
            now, step = float(turning[axis]), copysign(_ALIGNMENT * period, moment)
            now = step if now * moment < 0.0 else now + step
            turning[axis] = min(max(now, -_FASTEST), _FASTEST)
        return turning

    def _flatness(self, foot: int) -> float:
        """Return 1 if the centre of pressure is in the middle of a sole, 0 near its edge.

        A foot that turns about its edge does not show the slope of the ground.
        """
        length, width = (_FLAT * self._half_sizes[foot] * self.loads[foot]).tolist()
        roll, pitch = self._torques[foot].tolist()
        return max(0.0, 1.0 - float(max(abs(pitch) / length, abs(roll) / width)))

    def _measure(self, observation: Observation, estimator: BaseEstimator) -> None:
        """Compute loads, and torques about the centres of the soles, in the soles' frames."""
        data, heights = estimator.robot.data, np.zeros(2)
        for foot, (name, site) in enumerate(zip(self._sensors, self._sites, strict=True)):
            wrench = named_reading("force-torque sensor", name, observation.wrenches)
            sensor = data.site_xmat[site].reshape(3, 3)
            origin, axes = estimator.soles[foot].frame(data)
            force = sensor @ wrench.force
            np.subtract(data.site_xpos[site], origin, out=self._lever)
            mujoco.mju_cross(self._moment, self._lever, force)
            self._moment += sensor @ wrench.torque
            self._torques[foot] = self._moment @ axes[:, :2]
            self.loads[foot] = axes[:, 2] @ force
            self._tilts[foot] = roll_and_pitch(axes)
            heights[foot] = origin[2]
        self._difference = float(heights[LEFT] - heights[RIGHT])


def roll_and_pitch(axes: np.ndarray) -> tuple[float, float]:
    """Return the rotation of a sole from the horizontal about its axes, which is small [rad]."""
    yaw = atan2(axes[1, 0], axes[0, 0])
    ahead, left = turned(float(axes[0, 2]), float(axes[1, 2]), -yaw)  # of the normal
    return -left, ahead
