"""What sensors add to what they measure, for controllers that have to live with it."""

from dataclasses import dataclass, replace

import numpy as np

from mujoco_ros.evaluation.trial import Senses
from mujoco_ros.fsm.observation import Observation, Pose, Wrench
from mujoco_ros.model.errors import ModelError


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
                raise ModelError(f"noise {name} must not be negative, got {getattr(self, name)}")


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
        noise, n = self._noise, len(seen.q)
        draw = self._draw(3 * n + 6 * (len(seen.wrenches) + len(seen.objects)))
        by = iter(draw[3 * n :].reshape(-1, 2, 3))
        return replace(
            seen,
            q=seen.q + noise.position * draw[:n],
            dq=seen.dq + noise.velocity * draw[n : 2 * n],
            effort=seen.effort * (1.0 + noise.effort * draw[2 * n : 3 * n]),
            wrenches={
                name: _blurred(wrench, noise, next(by)) for name, wrench in seen.wrenches.items()
            },
            objects={name: _shaken(pose, noise, next(by)) for name, pose in seen.objects.items()},
        )

    def _draw(self, size: int) -> np.ndarray:
        """Return so many standard normal numbers."""
        if self._row == len(self._drawn) or size != self._drawn.shape[1]:
            self._drawn, self._row = self._random.standard_normal((_TICKS, size)), 0
        self._row += 1
        drawn: np.ndarray = self._drawn[self._row - 1]
        return drawn


def _blurred(wrench: Wrench, noise: Noise, by: np.ndarray) -> Wrench:
    return Wrench(
        force=wrench.force + noise.force * by[0], torque=wrench.torque + noise.torque * by[1]
    )


def _shaken(pose: Pose, noise: Noise, by: np.ndarray) -> Pose:
    x, y, z = (0.5 * noise.turn * by[1]).tolist()
    a, b, c, d = pose.quat_wxyz.tolist()  # turned by a small angle in the object's own frame
    quat = np.array(
        [
            a - b * x - c * y - d * z,
            b + a * x + c * z - d * y,
            c + a * y + d * x - b * z,
            d + a * z + b * y - c * x,
        ]
    )
    return Pose(position=pose.position + noise.place * by[0], quat_wxyz=quat / np.linalg.norm(quat))
