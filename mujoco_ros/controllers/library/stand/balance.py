"""Balance of a robot as measured by its sensors."""

from collections.abc import Sequence

import numpy as np

from mujoco_ros.controllers.interface.observation import Observation


def tilt(observation: Observation) -> float | None:
    """Return the angle between the base's z axis and the vertical [rad]; None if unknown.

    Source is the pose of the base, or else an IMU with orientation.
    """
    quats = [imu.quat_wxyz for imu in observation.imus.values()]
    if observation.base is not None:
        quats.insert(0, observation.base.pose.quat_wxyz)
    for quat in quats:
        if quat is not None:
            _, x, y, _ = quat
            return float(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)))
    return None


def height(observation: Observation) -> float | None:
    """Return the height of the base in ``world`` [m]; None if unknown."""
    base = observation.base
    return None if base is None else float(base.pose.position[2])


def unloaded(observation: Observation, feet: Sequence[str], least: float) -> tuple[str, ...]:
    """Return the feet whose touch sensors read less than `least` [N]."""
    touches = observation.touches
    return tuple(foot for foot in feet if touches.get(foot, np.inf) < least)
