"""Motion of position-controlled feet: swing, landing, slope of the ground, and admittance."""

from collections.abc import Sequence
from math import atan2, copysign, cos, sin

import mujoco
import numpy as np

from mujoco_ros.controllers.estimation.base_estimator import BaseEstimator
from mujoco_ros.controllers.interface.observation import Observation, named_reading
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.library.base_states import quintic
from mujoco_ros.controllers.library.walk.footsteps import LEFT, RIGHT, Footstep, turned
from mujoco_ros.controllers.library.walk.stabilizer import StabilizerConfig
from mujoco_ros.model.sensors.robot_sensors import find_sensor_site

_APEX = 0.45  # part of the swing at which the foot is highest
_APPROACH, TOUCHDOWN = 0.75, 0.88
"""Parts of the swing from which on the foot is lowered with a constant velocity, and at which it is
at its goal; the rest is for contact that comes late."""
APPROACH_VELOCITY = 0.09  # that velocity [m/s]; a stiff leg bounces off the ground if it is higher
_LIFT, _LOWER = 0.06, 0.1
"""Parts of the swing at its start and at its end without horizontal motion."""


def swing(
    start: Footstep, goal: Footstep, height: float, s: float, duration: float
) -> tuple[np.ndarray, float]:
    """Return position (3,) and yaw of the sole in a swing with quintic polynomials.

    It rises by `height` above the higher end [m]; `s` is the part of the swing that is over.
    """
    width = 1.0 - _LIFT - _LOWER
    part, *_ = quintic(min(max((s - _LIFT) / width, 0.0), 1.0))
    step = np.array([goal.x - start.x, goal.y - start.y, 0.0])
    turn = atan2(sin(goal.yaw - start.yaw), cos(goal.yaw - start.yaw))
    position = np.array([start.x, start.y, 0.0]) + part * step
    apex = height + max(start.z, goal.z)
    if s < _APEX:
        up, *_ = quintic(s / _APEX)
        position[2] = start.z + (apex - start.z) * up
    elif s < _APPROACH:
        time, u = (_APPROACH - _APEX) * duration, (s - _APEX) / (_APPROACH - _APEX)
        low = goal.z + APPROACH_VELOCITY * (TOUCHDOWN - _APPROACH) * duration
        down, *_ = quintic(u)
        end = APPROACH_VELOCITY * time  # for a velocity at the end
        position[2] = apex + (low - apex) * down + end * u**3 * (1.0 - u)
    elif s < TOUCHDOWN:
        position[2] = goal.z + APPROACH_VELOCITY * (TOUCHDOWN - s) * duration
    else:
        position[2] = goal.z
    return position, start.yaw + part * turn


_EARLIEST = 0.5
"""Part of the swing before which the foot is still rising, so that a load is not the ground."""
_TOUCH, _REST, _LOST = 0.1, 0.08, 0.02
"""Load at which the foot has landed, load while it waits for the end of the swing, and load below
which it has lost the ground again, as parts of the weight."""
_DEEPEST = 0.04  # largest depth of this search [m]
_COMPLIANCE = 1e-4  # vertical velocity of a landed foot per error of its load [m/(s N)]
_FASTEST_COMPLIANCE = 0.1  # largest such velocity [m/s]
_SMOOTH = 2.0
"""Largest change of the vertical velocity [m/s²]: a stiff leg that follows a jump bounces."""


class Landing:
    """Stops the swing foot where it touches the ground, and lowers it until it does."""

    def __init__(self, weight: float) -> None:
        """Use the weight of the robot [N]."""
        self._weight = weight
        self.position = np.zeros(3)  # position of the sole at the last step [m] (3,)
        self.begin()
        self.has_landed = True

    def begin(self) -> None:
        self.has_landed = False
        self._depth = self._velocity = 0.0

    def step(self, planned: np.ndarray, progress: float, load: float, period: float) -> None:
        """Continue by a tick from the planned position (3,), with a measured vertical force [N]."""
        if not self.has_landed and progress > _EARLIEST and load > _TOUCH * self._weight:
            self.has_landed = True
        if self.has_landed:
            self.position[2] += self._comply(load, period)
            return
        if progress > TOUCHDOWN:
            self._lower(period)
        self.position[:] = planned
        self.position[2] -= self._depth

    def search(self, load: float, period: float) -> float:
        """Return by how much a foot that has not landed moves down in double support [m]."""
        if not self.has_landed and load > _TOUCH * self._weight:
            self.has_landed = True
        if self.has_landed:
            return -min(0.0, self._comply(load, period))
        return self._lower(period)

    def _lower(self, period: float) -> float:
        """Return by how much the foot is lowered in a tick, at most to the largest depth [m]."""
        down = max(0.0, min(APPROACH_VELOCITY * period, _DEEPEST - self._depth))
        self._depth += down
        return down

    def _comply(self, load: float, period: float) -> float:
        """Return by how much a foot that has landed moves up in a tick [m].

        If only a corner has touched, and has slipped, it continues down.
        """
        velocity = min(_COMPLIANCE * (load - _REST * self._weight), _FASTEST_COMPLIANCE)
        missing = 1.0 - load / (_LOST * self._weight)
        if missing > 0.0:
            velocity = -APPROACH_VELOCITY * min(missing, 1.0) if self._depth < _DEEPEST else 0.0
        step = _SMOOTH * period
        self._velocity += min(max(velocity - self._velocity, -step), step)
        up = self._velocity * period
        self._depth += max(0.0, -up)
        return up


_STEEPEST = 0.15  # largest expected rise of the ground
_SHARE, _EDGE = 0.15, 0.05
"""Part of the difference of measured and expected slope that a step adds to the expected slope, and
the largest difference that counts: a foot on an edge shows a larger one."""


def slope_under(tilt: np.ndarray, yaw: float) -> np.ndarray:
    """Return the rise of the ground along x and y of ``world`` under a sole, limited.  # (2,)"""
    roll, pitch = tilt.tolist()
    slope = np.array(turned(-pitch, roll, yaw))
    return np.clip(slope, -_STEEPEST, _STEEPEST, out=slope)


def tilt_on(slope: np.ndarray, yaw: float) -> np.ndarray:
    """Return roll and pitch of a sole with a yaw on the ground [rad].  # (2,)"""
    ahead, left = turned(float(slope[0]), float(slope[1]), -yaw)
    return np.array([left, -ahead])


def approach(expected: np.ndarray, measured: np.ndarray) -> None:
    """Change the expected slope by a part of its difference to a measured one.  # (2,), (2,)"""
    expected += _SHARE * np.clip(measured - expected, -_EDGE, _EDGE)


_LEAST_LOAD = 0.05
"""Load of a foot, as part of the weight, below which its torque is not controlled."""
_SWING_RETURN = 5.0  # decay of the rotation of a foot without load [1/s]
_ADAPTATION = 5.0  # rate at which the slope of the ground is adopted [1/s]
_FLAT = 0.7  # part of a sole in which the centre of pressure shows that it is flat on the ground
_BALANCED = 0.2  # part of a sole by which the centre of pressure may be beside the wanted one
_ALIGNMENT, _FASTEST_TURN = 10.0, 1.0
"""Angular acceleration [rad/s²] and largest angular velocity [rad/s] of a sole that is turned onto
the ground."""
_TURNS = 0.3
"""Such an angular velocity that it reaches only if the foot is not flat on the ground [rad/s]."""
_LARGEST_TILT = 0.3  # [rad]


class FootAdmittance:
    """Rotates the feet by errors of torque, and shifts them by errors of the load.

    Without errors, the feet follow the ground: rotation and shift become the measured ones.

    Source: S. Kajita et al., Biped Walking Stabilization Based on Linear Inverted Pendulum
    Tracking, IROS 2010, sections V and VI.

    Attributes:
        tilt: Roll and pitch of left and right foot along the axes of the sole [rad].  # (2, 2)
        ground: Roll and pitch of the ground under the feet, along the same axes [rad].  # (2, 2)
        lift: Height of the left foot above the right one, beyond what the gait plans [m].
        loads: Measured forces on the soles, along their normals [N].  # (2,)
    """

    def __init__(
        self,
        robot: RobotModel,
        sensors: Sequence[str],  # names of the force-torque sensors of the left and the right foot
        config: StabilizerConfig,
        weight: float,  # weight of the robot [N]
        half_sizes: np.ndarray,  # half length and width of the soles [m] (2, 2)
    ) -> None:
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
        estimator: BaseEstimator,  # has the poses of the soles
        loads: np.ndarray,  # wanted vertical forces on the feet [N] (2,)
        pressure: np.ndarray,  # wanted centres of pressure in the frames of the soles [m] (2, 2)
        support: int | None,  # the foot that stands alone; None if both stand
        slope: np.ndarray,  # roll and pitch of the ground, along the other sole [rad] (2,)
        rise: float,  # height of the left foot above the right one, without `lift` [m]
        period: float,  # [s]
    ) -> None:
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
            turning[axis] = min(max(now, -_FASTEST_TURN), _FASTEST_TURN)
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
