"""Noise of the sensors as the model declares it, reproducible by seed."""

from copy import deepcopy
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.sensors.robot_sensors import Distances


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
