"""Balance while walking: DCM feedback, distribution of the ZMP to the feet, and joint torques."""

from collections.abc import Sequence

import mujoco
import numpy as np

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.library.config_checks import CheckedConfig, NotNegative, Positive
from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.planning.kinematics.sole import Sole


class StabilizerConfig(CheckedConfig):
    """Settings of the stabilizer."""

    dcm_gain: NotNegative = setting("Decay of the DCM error [1/s]", 3.0)
    dcm_integral_gain: NotNegative = setting("Gain of its integral [1/s²]", 1.0)
    integral_time: Positive = setting("Time constant of the leaky integral [s]", 10.0)
    ankle_damping: NotNegative = setting(
        "Angular velocity of a foot per error of the torque on it [rad/(s Nm)]", 0.001
    )
    ankle_return: NotNegative = setting("Decay of the foot's rotation [1/s]", 3.0)
    force_damping: NotNegative = setting(
        "Vertical velocity of the feet per error of the difference of their loads [m/(s N)]", 5e-5
    )
    force_return: NotNegative = setting("Decay of the difference of their heights [1/s]", 3.0)
    sole_margin: NotNegative = setting(
        "Distance of the centre of pressure from the edges of a sole [m]", 0.02
    )


class DcmFeedback:
    """Chooses the ZMP that moves the DCM to its reference.

    Source: S. Caron, A. Kheddar, O. Tempier, Stair Climbing Stabilization of the HRP-4 Humanoid
    Robot using Whole-body Admittance Control, ICRA 2019, section III.
    """

    def __init__(self, config: StabilizerConfig, omega: float) -> None:
        """Use a pendulum with the natural frequency `omega` [1/s]."""
        self.config, self.omega = config, omega
        self.integral = np.zeros(2)  # leaky integral of the DCM error [m s] (2,)

    def zmp(
        self, dcm: np.ndarray, dcm_reference: np.ndarray, zmp_reference: np.ndarray, period: float
    ) -> np.ndarray:
        config, omega = self.config, self.omega
        error = dcm - dcm_reference
        self.integral += period * (error - self.integral / config.integral_time)
        zmp: np.ndarray = (
            zmp_reference
            + (1.0 + config.dcm_gain / omega) * error
            + (config.dcm_integral_gain / omega) * self.integral
        )
        return zmp


def distribute(
    zmp: np.ndarray,  # in ``world`` [m] (2,)
    soles: np.ndarray,  # centres of left and right sole [m] (2, 2)
    axes: np.ndarray,  # forward axes of the soles (2, 2)
    half_sizes: np.ndarray,  # half length and width of the permitted rectangles [m] (2, 2)
    share: float | None,  # share of the right foot if only one stands, 0 or 1; None with both
) -> tuple[float, np.ndarray]:
    """Distribute a ZMP to two feet.

    Along the line between the soles it is balanced by the loads, beside the line by the centres of
    pressure in both soles alike, similar to S. Kajita et al., Biped Walking Stabilization Based on
    Linear Inverted Pendulum Tracking, IROS 2010, section IV.

    Returns:
        Share of the weight on the right foot, and the centres of pressure in the frames of the
        soles [m].  # (2, 2)
    """
    if share is None:
        line = soles[1] - soles[0]
        share = min(max(float((zmp - soles[0]) @ line / (line @ line)), 0.0), 1.0)
    x, y = (zmp - (soles[0] + share * (soles[1] - soles[0]))).tolist()
    pressure = np.array([(cos * x + sin * y, cos * y - sin * x) for cos, sin in axes.tolist()])
    np.minimum(pressure, half_sizes, out=pressure)
    np.maximum(pressure, -half_sizes, out=pressure)
    return share, pressure


_SMOOTHING = 0.02  # time constant of the accelerations, which are differences of velocities [s]
_LARGEST_ACCELERATION = 50.0  # [m/s² or rad/s²]
_LARGEST_OFFSET = 0.09  # [m]


class FeedForward:
    """Inverse dynamics of the reference motion, with the body carried by its feet.

    The inverted pendulum neglects that the legs swing. The moment that this needs shifts the
    zero-moment point (ZMP).
    """

    def __init__(self, body: FloatingBaseKinematics, soles: Sequence[Sole]) -> None:
        """Use the reference configuration `body`, without a copy."""
        self._body, self._soles = body, tuple(soles)
        self._forces = np.zeros(body.model.nv)
        self._jacobian = np.zeros((6, body.size))
        self._last, self._acceleration = np.zeros(body.size), np.zeros(body.size)
        self._moment = np.zeros(3)
        # ZMP of the reference motion less the pendulum's ZMP, at the last tick [m] (2,)
        self.zmp_offset = np.zeros(2)

    def reset(self) -> None:
        self._last[:] = self._acceleration[:] = 0.0
        self.zmp_offset[:] = 0.0

    def torques(
        self, velocity: np.ndarray, loads: np.ndarray, pressure: np.ndarray, period: float
    ) -> np.ndarray:
        """Return joint torques (n,) [Nm] for the velocity (6 + n,) with which the body has moved.

        Only the ratio of the loads is used; the centres of pressure (2, 2) are in soles' frames.
        """
        body, model, data = self._body, self._body.model, self._body.data
        share = period / (period + _SMOOTHING)
        difference = (velocity - self._last) / period
        np.minimum(difference, _LARGEST_ACCELERATION, out=difference)
        np.maximum(difference, -_LARGEST_ACCELERATION, out=difference)
        self._last[:] = velocity
        self._acceleration += share * (difference - self._acceleration)
        data.qacc[:] = 0.0
        data.qacc[body.dofs] = self._acceleration
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 1, self._forces)
        forces = self._forces[body.dofs]
        self._shift_zmp(forces)
        torques: np.ndarray = forces
        total = loads.sum()
        for sole, load, (ahead, left) in zip(self._soles, loads, pressure, strict=True):
            if load <= 0.0:
                continue
            origin, axes = sole.frame(data)
            point = origin + axes[:, 0] * ahead + axes[:, 1] * left
            body.jacobian(point, sole.body, self._jacobian)
            force = forces[:3] * (load / total)
            torques = torques - self._jacobian[:3].T @ force
        return torques[6:]

    def _shift_zmp(self, forces: np.ndarray) -> None:
        """Compute the offset of the ZMP from the force and the moment on the base.  # (6 + n,)"""
        body, data = self._body, self._body.data
        force = forces[:3]
        if not force[2] > 0.0:
            return
        # About the centre of mass, along the axes of the world.
        mujoco.mju_cross(self._moment, body.position - body.com, force)
        self._moment += data.xmat[body.base].reshape(3, 3) @ forces[3:6]
        x, y, _ = (self._moment / force[2]).tolist()
        for axis, offset in enumerate((-y, x)):
            self.zmp_offset[axis] = min(max(offset, -_LARGEST_OFFSET), _LARGEST_OFFSET)
