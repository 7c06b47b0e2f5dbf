"""Motion of position-controlled feet that brings the loads on them to the wanted ones."""

from collections.abc import Sequence

import numpy as np

from mujoco_ros.controllers.estimation.base_estimator import BaseEstimator
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.library.walk.footsteps import LEFT, RIGHT
from mujoco_ros.controllers.library.walk.stabilizer import StabilizerConfig

_LEAST_LOAD = 0.05
"""Load of a foot, as part of the weight, below which its torque is not controlled."""
_SWING_RETURN = 5.0
"""Decay of the rotation of a foot without load [1/s]."""
_LARGEST_TILT = 0.3
"""[rad]"""


class FootAdmittance:
    """Rotates the feet by errors of torque, and shifts them by errors of the load.

    Source: S. Kajita et al., Biped Walking Stabilization Based on Linear Inverted Pendulum
    Tracking, IROS 2010, sections V and VI.

    Attributes:
        tilt: Roll and pitch of left and right foot along the axes of the sole [rad].  # (2, 2)
        lift: Height of the left foot above the right one [m].
    """

    def __init__(
        self, robot: RobotModel, sensors: Sequence[str], config: StabilizerConfig, weight: float
    ) -> None:
        """Use the force-torque sensors of the left and the right foot; the weight is in newtons."""
        self._config, self._weight, self._sensors = config, weight, tuple(sensors)
        self._sites = [robot.model.site(robot.prefix + name).id for name in sensors]
        self._torques, self._loads = np.zeros((2, 2)), np.zeros(2)
        self.tilt, self.lift = np.zeros((2, 2)), 0.0

    def step(
        self,
        observation: Observation,
        estimator: BaseEstimator,
        loads: np.ndarray,
        pressure: np.ndarray,
        support: int | None,
        period: float,
    ) -> None:
        """Continue by a tick.

        Args:
            observation: Has the wrenches.
            estimator: Has the poses of the soles.
            loads: Wanted vertical forces on the feet [N].  # (2,)
            pressure: Wanted centres of pressure in the frames of the soles [m].  # (2, 2)
            support: The foot that stands alone; None if both stand.
            period: [s]
        """
        self._measure(observation, estimator)
        config, tilt, measured = self._config, self.tilt, self._loads
        for foot in (LEFT, RIGHT):
            is_swinging = support is not None and foot != support
            if is_swinging or measured[foot] < _LEAST_LOAD * self._weight:
                tilt[foot] -= _SWING_RETURN * period * tilt[foot]
                continue
            ahead, left = pressure[foot]
            error = self._torques[foot] - measured[foot] * np.array([left, -ahead])
            tilt[foot] += period * (config.ankle_damping * error - config.ankle_return * tilt[foot])
        np.clip(tilt, -_LARGEST_TILT, _LARGEST_TILT, out=tilt)
        self.lift -= period * config.force_return * self.lift
        if support is None:
            difference = (measured[LEFT] - measured[RIGHT]) - (loads[LEFT] - loads[RIGHT])
            self.lift += period * config.force_damping * float(difference)

    def _measure(self, observation: Observation, estimator: BaseEstimator) -> None:
        """Compute loads, and torques about the centres of the soles, in the soles' frames."""
        data = estimator.robot.data
        for foot, (name, site) in enumerate(zip(self._sensors, self._sites, strict=True)):
            wrench, sensor = observation.wrenches[name], data.site_xmat[site].reshape(3, 3)
            origin, axes = estimator.soles[foot].frame(data)
            force = sensor @ wrench.force
            lever = data.site_xpos[site] - origin
            torque = sensor @ wrench.torque + np.cross(lever, force)
            self._torques[foot] = (axes.T @ torque)[:2]
            self._loads[foot] = axes[:, 2] @ force
