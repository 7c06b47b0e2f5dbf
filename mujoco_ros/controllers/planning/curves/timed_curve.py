"""A curve with its timing."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedCurve:
    """Piecewise cubics of a parameter, whose acceleration is piecewise constant in time.

    Attributes:
        breaks: Parameters at the ends of the cubics.  # (p + 1,)
        cubics: Coefficients by falling powers of the parameter since the break; the curve has a
            continuous second derivative.  # (4, p, k)
        parameters: Parameters at the ends of the stretches of constant acceleration.  # (m,)
        rates: Rates of change of the parameter there, 0 at both ends [1/s].  # (m,)
        times: Times there, from 0 on [s].  # (m,)
    """

    breaks: np.ndarray
    cubics: np.ndarray
    parameters: np.ndarray
    rates: np.ndarray
    times: np.ndarray

    @classmethod
    def from_rates(
        cls, breaks: np.ndarray, cubics: np.ndarray, parameters: np.ndarray, rates: np.ndarray
    ) -> "TimedCurve":
        """Return the curve with `rates` at `parameters`."""
        times = _times(parameters, rates)
        return cls(breaks=breaks, cubics=cubics, parameters=parameters, rates=rates, times=times)

    @classmethod
    def at_rest(cls, q: np.ndarray) -> "TimedCurve":
        """Return a curve of one configuration that takes no time."""
        ends, zero = np.array([0.0, 1.0]), np.zeros(2)
        cubic = np.zeros((4, 1, len(q)))
        cubic[3] = q
        return cls(breaks=ends, cubics=cubic, parameters=ends, rates=zero, times=zero)

    def slowed(self, factor: float) -> "TimedCurve":
        """Return the same curve with `factor` times the duration."""
        rates = self.rates / factor
        return replace(self, rates=rates, times=_times(self.parameters, rates))

    @property
    def duration(self) -> float:
        """Return the duration [s]."""
        return float(self.times[-1])

    @property
    def start(self) -> np.ndarray:
        """Return the first configuration.  # (k,)."""
        return self.sample(0.0)[0]

    @property
    def goal(self) -> np.ndarray:
        """Return the last configuration.  # (k,)."""
        return self.sample(self.duration)[0]

    def sample(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return positions, velocities and accelerations at a time [s]; at rest before and after.

        Returns:
            One array for each.  # (k,)
        """
        q, dq, ddq = self.samples(np.array([time]))
        return q[0], dq[0], ddq[0]

    def samples(self, times: np.ndarray) -> np.ndarray:
        """Return positions, velocities and accelerations at many times (n,).  # (3, n, k)."""
        moving = (times > 0.0) & (times < self.duration)
        piece = np.searchsorted(self.times[1:-1], times, side="right")
        since = np.clip(times, 0.0, self.duration) - self.times[piece]
        acceleration = self._acceleration[piece]
        rate = self.rates[piece] + acceleration * since
        at = self.parameters[piece] + (self.rates[piece] + 0.5 * acceleration * since) * since
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
        rate, acceleration = (moving * rate)[:, None], (moving * acceleration)[:, None]
        return np.array([q, first * rate, second * rate**2 + first * acceleration])

    @cached_property
    def _acceleration(self) -> np.ndarray:
        """Acceleration of the parameter in each stretch [1/s²].  # (m - 1,)."""
        acceleration: np.ndarray = np.diff(self.rates**2) / (2.0 * np.diff(self.parameters))
        return acceleration


def _times(parameters: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return the times at the parameters, from the mean rate of each stretch.  # (m,)."""
    steps = 2.0 * np.diff(parameters) / (rates[:-1] + rates[1:])
    return np.concatenate([[0.0], np.cumsum(steps)])
