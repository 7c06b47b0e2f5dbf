"""How well a model repeats a recording, next to the noise of the recording."""

from dataclasses import dataclass

import numpy as np

from mujoco_ros.identification.joint_record import JointRecord
from mujoco_ros.identification.robot_model import IdentifiedRobot
from mujoco_ros.identification.windows import Interpolation, Prediction, Windows

_DIFFERENCES = 3
_GAIN = np.sqrt(20.0)
"""Deviation of the third difference of white noise of deviation 1: 1, -3, 3, -1 squared."""
_MAD = 1.4826
"""Deviation of a normal distribution over its median absolute deviation."""
_FLOOR = 1e-5
"""Least noise over the deviation of the signal; a simulation without noise has none."""


def noise_of(samples: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the white noise in signals.

    Third differences of a smooth signal vanish, and those of noise do not. The median is
    insensitive to jumps, as at a reversal with dry friction. The noise is at least that of rounding
    to the smallest difference between two samples.

    Args:
        samples: Signals, evenly sampled.  # (n, k)

    Returns:
        Deviation of each; NaN of a signal with a NaN.  # (k,)
    """
    differences = np.abs(np.diff(samples, _DIFFERENCES, axis=0))
    noise = _MAD * np.median(differences, axis=0) / _GAIN
    least = _FLOOR * samples.std(axis=0)
    # Third differences of coarse samples at a high rate are zero: the error of rounding remains.
    steps = np.abs(np.diff(samples, axis=0))
    step = np.min(np.where(steps > 0.0, steps, np.inf), axis=0, initial=np.inf)
    rounding = np.where(np.isfinite(step), step, 0.0) / np.sqrt(12.0)
    floor = np.maximum(np.maximum(least, rounding), np.finfo(float).tiny)
    result: np.ndarray = np.maximum(noise, floor)
    return result


@dataclass(frozen=True, kw_only=True)
class Replay:
    """A simulated and a measured motion.

    Attributes:
        joints: Names of the joints.  # k
        times: Stamps of the samples [s].  # (m,)
        measured: Measured positions [rad or m].  # (m, k)
        simulated: Simulated signals at the same stamps.
        noise: Deviation of the noise of the measured positions [rad or m].  # (k,)
    """

    joints: tuple[str, ...]
    times: np.ndarray
    measured: np.ndarray
    simulated: Prediction
    noise: np.ndarray

    @property
    def error(self) -> np.ndarray:
        """Return the root mean square of the position errors [rad or m].  # (k,)"""
        square = (self.simulated.position - self.measured) ** 2
        error: np.ndarray = np.sqrt(np.mean(square, axis=0))
        return error

    @property
    def ratio(self) -> np.ndarray:
        """Return the errors over the noise; 1 is a perfect model.  # (k,)"""
        ratio: np.ndarray = self.error / self.noise
        return ratio


def replay(
    robot: IdentifiedRobot,
    record: JointRecord,
    values: np.ndarray,
    delay: float,
    interpolation: Interpolation = "hold",
) -> Replay:
    """Simulate a recording without any restart.

    Args:
        robot: The model of the robot; its parameters are changed.
        record: The recording.
        values: Parameters of all joints, rows as in `KINDS`.  # (5, n)
        delay: Time from the stamp of a command until it acts [s].
        interpolation: References between commands.
    """
    robot.apply(values)
    noise = np.stack([noise_of(record.position), noise_of(record.velocity)])
    windows = Windows(robot, record, noise, np.inf, interpolation)
    return Replay(
        joints=record.joints,
        times=record.times[windows.counted],
        measured=record.position[windows.counted],
        simulated=windows.simulate(delay),
        noise=noise[0],
    )
