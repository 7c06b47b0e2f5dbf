"""The measured state at one instant, and the noise of sensors, reproducible by seed."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.sensors.robot_sensors import Distances


@dataclass(frozen=True)
class Sample:
    """The measured state at one instant; the arrays are reused by the next step.

    MuJoCo's step evaluates positions, forces and sensors before it integrates, so this is the state
    at the beginning of the step: all of it belongs to the same time, except what channels delay
    (see `sim.realism`): the measured numbers of joints, which are the same arrays as the true ones
    without channels, and the sensor readings.
    """

    # All of the engine's state, which `qpos`, `qvel`, `act` and `plugin_state` are views of;
    # `state_fields` lists it (nstate,)
    state: np.ndarray
    qpos: np.ndarray  # positions (nq,)
    qvel: np.ndarray  # velocities; of free joints: linear in the world, angular in the body (nv,)
    act: np.ndarray  # actuator activations (na,)
    plugin_state: np.ndarray  # state of engine plugins (npluginstate,)
    qacc: np.ndarray  # accelerations, in the same frames (nv,)
    qfrc_actuator: np.ndarray  # actuator forces in joint space [Nm or N] (nv,)
    sensordata: np.ndarray  # sensor readings (nsensordata,)
    xpos: np.ndarray  # body positions in the world (nbody, 3)
    xquat: np.ndarray  # body orientations in the world, wxyz (nbody, 4)
    cam_xpos: np.ndarray  # camera positions in the world (ncam, 3)
    cam_xmat: np.ndarray  # camera orientations in the world (ncam, 9)
    # Positions as encoders and odometry measure them, else as `qpos` (nq,)
    measured_qpos: np.ndarray
    measured_qvel: np.ndarray  # as for positions (nv,)
    measured_effort: np.ndarray  # as for positions, of `qfrc_actuator` (nv,)


class SensorNoise:
    """Adds Gaussian noise with the standard deviation of each sensor's ``noise`` attribute.

    MuJoCo itself never applies that attribute.
    """

    def __init__(self, model: mujoco.MjModel, seed: int) -> None:
        self._seed = seed
        self._std = np.repeat(model.sensor_noise, model.sensor_dim)  # (nsensordata,)
        self._sample = np.zeros_like(self._std)
        self._distances = Distances(model)
        self._quaternions = [
            slice(int(adr), int(adr) + 4)
            for adr, kind, noise in zip(
                model.sensor_adr, model.sensor_datatype, model.sensor_noise, strict=True
            )
            if kind == mujoco.mjtDataType.mjDATATYPE_QUATERNION and noise
        ]
        self.reset()

    def reset(self) -> None:
        """Restart the sequence."""
        self._random = np.random.default_rng(self._seed)

    def transfer(self, old: "SensorNoise") -> None:
        """Continue the sequence of the previous plant."""
        self._random = old._random

    def save_state(self) -> Any:
        """Return the state of the sequence, for `restore_state`."""
        return deepcopy(self._random.bit_generator.state)

    def restore_state(self, state: Any) -> None:
        """Continue the sequence from a saved state."""
        self._random.bit_generator.state = state

    def add(self, sensordata: np.ndarray) -> None:
        """Add noise in place.

        Quaternions keep unit length. Distances out of range get no noise, and no distance becomes
        negative.
        """
        self._random.standard_normal(out=self._sample)
        self._sample *= self._std
        distances = self._distances.addresses
        if len(distances):
            self._sample[distances] = np.maximum(self._sample[distances], -sensordata[distances])
            self._sample[self._distances.out_of_range(sensordata)] = 0.0
        sensordata += self._sample
        for part in self._quaternions:
            sensordata[part] /= np.linalg.norm(sensordata[part])
