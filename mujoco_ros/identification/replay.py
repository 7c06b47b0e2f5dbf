"""How well a model repeats a recording: simulation of all of it, from its first state."""

from dataclasses import dataclass

import numpy as np

from mujoco_ros.identification.joint_record import JointRecord
from mujoco_ros.identification.noise import noise_of
from mujoco_ros.identification.references import Interpolation
from mujoco_ros.identification.robot_model import IdentifiedRobot
from mujoco_ros.identification.windows import Prediction, Windows


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
