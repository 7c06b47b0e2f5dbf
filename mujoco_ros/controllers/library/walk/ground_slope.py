"""The slope of the ground, as soles that lie on it measure it."""

import numpy as np

from mujoco_ros.controllers.library.walk.footsteps import turned

_STEEPEST = 0.15
"""Largest expected rise of the ground."""
_SHARE, _EDGE = 0.15, 0.05
"""Part of the difference of measured and expected slope by which a step changes the latter, and the
largest difference that counts: that of a foot on an edge is larger."""


def slope_under(tilt: np.ndarray, yaw: float) -> np.ndarray:
    """Return the rise of the ground along x and y of ``world`` under a sole, limited.  # (2,)

    Args:
        tilt: Roll and pitch of the sole [rad].  # (2,)
        yaw: Yaw of the sole [rad].
    """
    roll, pitch = tilt.tolist()
    slope = np.array(turned(-pitch, roll, yaw))
    return np.clip(slope, -_STEEPEST, _STEEPEST, out=slope)


def tilt_on(slope: np.ndarray, yaw: float) -> np.ndarray:
    """Return roll and pitch of a sole on the ground [rad].  # (2,)

    Args:
        slope: Rise of the ground along x and y of ``world``.  # (2,)
        yaw: Yaw of the sole [rad].
    """
    ahead, left = turned(float(slope[0]), float(slope[1]), -yaw)
    return np.array([left, -ahead])


def approach(expected: np.ndarray, measured: np.ndarray) -> None:
    """Change the expected slope by a part of its difference to a measured one.  # (2,), (2,)"""
    expected += _SHARE * np.clip(measured - expected, -_EDGE, _EDGE)
