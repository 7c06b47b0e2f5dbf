"""Sensor noise as the model declares it, reproducible by seed."""

from copy import deepcopy
from typing import Any

import mujoco
import numpy as np


class SensorNoise:
    """Adds Gaussian noise with the standard deviation of each sensor's ``noise`` attribute.

    MuJoCo keeps that attribute for the user and never applies it itself.
    """

    def __init__(self, model: mujoco.MjModel, seed: int) -> None:
        """Prepare the noise of every number in sensordata."""
        self._seed = seed
        self._std = np.repeat(model.sensor_noise, model.sensor_dim)  # (nsensordata,)
        self._sample = np.zeros_like(self._std)
        self._quaternions = [
            slice(int(adr), int(adr) + 4)
            for adr, kind, noise in zip(
                model.sensor_adr, model.sensor_datatype, model.sensor_noise, strict=True
            )
            if kind == mujoco.mjtDataType.mjDATATYPE_QUATERNION and noise
        ]
        self.reset()

    def reset(self) -> None:
        """Start the sequence again."""
        self._random = np.random.default_rng(self._seed)

    def carry(self, older: "SensorNoise") -> None:
        """Go on with the sequence of an older model's noise."""
        self._random = older._random

    def memory(self) -> Any:
        """Return where the sequence stands, for `recall`."""
        return deepcopy(self._random.bit_generator.state)

    def recall(self, memory: Any) -> None:
        """Go on with the sequence from where it stood at the time of a `memory`."""
        self._random.bit_generator.state = memory

    def add(self, sensordata: np.ndarray) -> None:
        """Add fresh noise in place; quaternions stay of unit length."""
        self._random.standard_normal(out=self._sample)
        self._sample *= self._std
        sensordata += self._sample
        for part in self._quaternions:
            sensordata[part] /= np.linalg.norm(sensordata[part])
