"""Balance while walking: DCM feedback, and the distribution of the ZMP to the feet."""

from dataclasses import dataclass

import numpy as np

from mujoco_ros.controllers.library.config_checks import check_not_negative, check_positive


@dataclass(frozen=True, kw_only=True)
class StabilizerConfig:
    """Settings of the stabilizer.

    Attributes:
        dcm_gain: Decay of the DCM error [1/s].
        dcm_integral_gain: Gain of its integral [1/s²].
        integral_time: Time constant of the leaky integral [s].
        ankle_damping: Angular velocity of a foot per error of the torque on it [rad/(s Nm)].
        ankle_return: Decay of the foot's rotation [1/s].
        force_damping: Vertical velocity of the feet per error of the difference of their loads
            [m/(s N)].
        force_return: Decay of the difference of their heights [1/s].
        sole_margin: Distance of the centre of pressure from the edges of a sole [m].
    """

    dcm_gain: float = 3.0
    dcm_integral_gain: float = 1.0
    integral_time: float = 10.0
    ankle_damping: float = 0.001
    ankle_return: float = 3.0
    force_damping: float = 5e-5
    force_return: float = 3.0
    sole_margin: float = 0.02

    def __post_init__(self) -> None:
        check_not_negative(
            *(self, "dcm_gain", "dcm_integral_gain", "ankle_damping", "ankle_return"),
            *("force_damping", "force_return", "sole_margin"),
        )
        check_positive(self, "integral_time")


class DcmFeedback:
    """Chooses the ZMP that moves the DCM to its reference.

    Source: S. Caron, A. Kheddar, O. Tempier, Stair Climbing Stabilization of the HRP-4 Humanoid
    Robot using Whole-body Admittance Control, ICRA 2019, section III.

    Attributes:
        integral: Leaky integral of the DCM error [m s].  # (2,)
    """

    def __init__(self, config: StabilizerConfig, omega: float) -> None:
        """Use a pendulum with the natural frequency `omega` [1/s]."""
        self.config, self.omega = config, omega
        self.integral = np.zeros(2)

    def zmp(
        self, dcm: np.ndarray, dcm_reference: np.ndarray, zmp_reference: np.ndarray, period: float
    ) -> np.ndarray:
        """Return the ZMP.  # (2,)"""
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
    zmp: np.ndarray,
    soles: np.ndarray,
    axes: np.ndarray,
    half_sizes: np.ndarray,
    share: float | None,
) -> tuple[float, np.ndarray]:
    """Distribute a ZMP to two feet.

    Along the line between the soles it is balanced by the loads, beside the line by the centres of
    pressure in both soles alike, similar to S. Kajita et al., Biped Walking Stabilization Based on
    Linear Inverted Pendulum Tracking, IROS 2010, section IV.

    Args:
        zmp: In ``world`` [m].  # (2,)
        soles: Centres of left and right sole [m].  # (2, 2)
        axes: Forward axes of the soles.  # (2, 2)
        half_sizes: Half length and width of the permitted rectangles [m].  # (2, 2)
        share: Share of the right foot if only one stands, 0 or 1; None with both.

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
