"""A curve, and when to be where on it."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedCurve:
    """Cubics by a parameter, and the parameter by time: its acceleration is piecewise constant.

    Attributes:
        breaks: Parameters between which the positions are one cubic each.  # (p + 1,)
        cubics: Their coefficients, by falling powers of the parameter since the break; the curve
            is smooth to the second derivative.  # (4, p, k)
        where: Parameters between which its acceleration is constant.  # (m,)
        speed: Its rate of change there, 0 at both ends [1/s].  # (m,)
        times: When they are passed, from 0 on [s].  # (m,)
    """

    breaks: np.ndarray
    cubics: np.ndarray
    where: np.ndarray
    speed: np.ndarray
    times: np.ndarray

    @classmethod
    def passing(
        cls, breaks: np.ndarray, cubics: np.ndarray, where: np.ndarray, speed: np.ndarray
    ) -> "TimedCurve":
        """Return the one that has the rates `speed` at `where`."""
        times = _times(where, speed)
        return cls(breaks=breaks, cubics=cubics, where=where, speed=speed, times=times)

    @classmethod
    def resting(cls, q: np.ndarray) -> "TimedCurve":
        """Return the one that stays where it is, and takes no time."""
        ends, still = np.array([0.0, 1.0]), np.zeros(2)
        cubic = np.zeros((4, 1, len(q)))
        cubic[3] = q
        return cls(breaks=ends, cubics=cubic, where=ends, speed=still, times=still)

    def slower(self, factor: float) -> "TimedCurve":
        """Return the same that takes `factor` times as long."""
        speed = self.speed / factor
        return replace(self, speed=speed, times=_times(self.where, speed))

    @property
    def duration(self) -> float:
        """Return how long it takes [s]."""
        return float(self.times[-1])

    @property
    def start(self) -> np.ndarray:
        """Return the first posture.  # (k,)."""
        return self.sample(0.0)[0]

    @property
    def goal(self) -> np.ndarray:
        """Return the last posture.  # (k,)."""
        return self.sample(self.duration)[0]

    def sample(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return positions, velocities and accelerations at a time [s]; at rest before and after.

        Returns:
            One array for each.  # (k,)
        """
        q, dq, ddq = self.samples(np.array([time]))
        return q[0], dq[0], ddq[0]

    def samples(self, times: np.ndarray) -> np.ndarray:
        """Return the same for many times (n,) at once.  # (3, n, k)."""
        moving = (times > 0.0) & (times < self.duration)
        piece = np.searchsorted(self.times[1:-1], times, side="right")
        since = np.clip(times, 0.0, self.duration) - self.times[piece]
        bend = self._acceleration[piece]
        rate = self.speed[piece] + bend * since
        at = self.where[piece] + (self.speed[piece] + 0.5 * bend * since) * since
        part = np.searchsorted(self.breaks[1:-1], at, side="right")
        s, one, zero = at - self.breaks[part], np.ones_like(at), np.zeros_like(at)
        powers = np.array(
            [
                [s**3, s**2, s, one],
                [3 * s**2, 2 * s, one, zero],
                [6 * s, one + one, zero, zero],
            ]
        )
        q, first, second = np.einsum("dpn,pnk->dnk", powers, self.cubics[:, part])
        rate, bend = (moving * rate)[:, None], (moving * bend)[:, None]
        return np.array([q, first * rate, second * rate**2 + first * bend])

    @cached_property
    def _acceleration(self) -> np.ndarray:
        """Acceleration of the curve parameter between the points [1/s²].  # (m - 1,)."""
        bend: np.ndarray = np.diff(self.speed**2) / (2.0 * np.diff(self.where))
        return bend


def _times(where: np.ndarray, speed: np.ndarray) -> np.ndarray:
    """Return when the points are passed: between two, the mean of their rates counts.  # (m,)."""
    steps = 2.0 * np.diff(where) / (speed[:-1] + speed[1:])
    return np.concatenate([[0.0], np.cumsum(steps)])
