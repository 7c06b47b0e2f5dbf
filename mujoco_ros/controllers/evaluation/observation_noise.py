"""What sensors add to what they measure, for controllers that have to live with it."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from mujoco_ros.controllers.evaluation.trial import Senses
from mujoco_ros.controllers.interface.observation import Observation, Pose, WrenchReading
from mujoco_ros.model.errors import UserInputError


@dataclass(frozen=True, kw_only=True, slots=True)
class Noise:
    """Standard deviations of white noise at every tick.

    Attributes:
        position: Of joints [rad or m].
        velocity: Of joints [rad/s or m/s].
        effort: Of actuators, as part of what they give.
        force: Of force-torque sensors [N].
        torque: Of force-torque sensors [Nm].
        place: Of where objects are known to be, along each axis [m].
        turn: Of how they are turned, about each axis [rad].
    """

    position: float = 0.0
    velocity: float = 0.0
    effort: float = 0.0
    force: float = 0.0
    torque: float = 0.0
    place: float = 0.0
    turn: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no deviation."""
        for name in self.__dataclass_fields__:
            if getattr(self, name) < 0.0:
                raise UserInputError(
                    f"noise {name} must not be negative, got {getattr(self, name)}"
                )


USUAL = Noise(
    position=1e-5, velocity=1e-3, effort=0.01, force=0.1, torque=0.005, place=2e-4, turn=2e-3
)
"""Encoders of 19 bits; a force-torque sensor and marker tracking of the middle class."""
_TICKS = 256
"""For which noise is drawn at a time."""


def noisy(noise: Noise, seed: int) -> Senses:
    """Return senses with noise of their own seed."""
    return _Noisy(noise, seed).sense


class _Noisy:
    """Draws noise for many ticks at a time: one by one, that would take longer than a step."""

    def __init__(self, noise: Noise, seed: int) -> None:
        self._noise, self._random = noise, np.random.default_rng(seed)
        self._drawn = np.empty((0, 0))
        self._row = 0

    def sense(self, seen: Observation) -> Observation:
        n = len(seen.q)
        by = self._draw(n, len(seen.wrenches), len(seen.objects))
        of_wrenches = by[3 * n :]
        of_objects = of_wrenches[6 * len(seen.wrenches) :]
        return Observation(
            time=seen.time,
            q=seen.q + by[:n],
            dq=seen.dq + by[n : 2 * n],
            effort=seen.effort * by[2 * n : 3 * n],
            base=seen.base,
            imus=seen.imus,
            wrenches={
                name: _blurred(wrench, of_wrenches[6 * i : 6 * i + 6])
                for i, (name, wrench) in enumerate(seen.wrenches.items())
            },
            touches=seen.touches,
            objects={
                name: _shaken(pose, of_objects[6 * i : 6 * i + 6])
                for i, (name, pose) in enumerate(seen.objects.items())
            },
        )

    def _draw(self, joints: int, wrenches: int, objects: int) -> np.ndarray:
        """Return what is added to all that is sensed, and the factors of efforts."""
        size = 3 * joints + 6 * (wrenches + objects)
        if self._row == len(self._drawn) or size != self._drawn.shape[1]:
            noise = self._noise
            deviation = np.repeat(
                (noise.position, noise.velocity, noise.effort)
                + wrenches * (noise.force, noise.torque)
                + objects * (noise.place, 0.5 * noise.turn),
                3 * (joints,) + 2 * (wrenches + objects) * (3,),
            )
            self._drawn = self._random.standard_normal((_TICKS, size)) * deviation
            self._drawn[:, 2 * joints : 3 * joints] += 1.0
            self._row = 0
        self._row += 1
        drawn: np.ndarray = self._drawn[self._row - 1]
        return drawn


def _blurred(wrench: WrenchReading, by: np.ndarray) -> WrenchReading:
    return WrenchReading(force=wrench.force + by[:3], torque=wrench.torque + by[3:])


def _shaken(pose: Pose, by: np.ndarray) -> Pose:
    """Return a pose that is moved, and turned by twice a small angle in its own frame."""
    x, y, z = by[3:].tolist()
    a, b, c, d = pose.quat_wxyz.tolist()
    quat = np.array(
        (
            a - b * x - c * y - d * z,
            b + a * x + c * z - d * y,
            c + a * y + d * x - b * z,
            d + a * z + b * y - c * x,
        )
    )
    quat /= sqrt(quat.dot(quat))
    return Pose(position=pose.position + by[:3], quat_wxyz=quat)
