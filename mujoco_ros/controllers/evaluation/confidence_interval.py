"""How sure one can be of a rate that was counted."""

from math import sqrt
from typing import NamedTuple

Z_95 = 1.959963984540054
"""Of the normal distribution, 95 % lie within so many standard deviations of the mean."""


class Interval(NamedTuple):
    """Where a rate is with a confidence of 95 %."""

    low: float
    high: float


def wilson(successes: int, trials: int, z: float = Z_95) -> Interval:
    """Return the Wilson score interval of a rate; also sensible at 0 and 1.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    Journal of the American Statistical Association 22 (1927).
    """
    if not trials:
        return Interval(0.0, 1.0)
    rate, spread = successes / trials, z * z / trials
    centre = (rate + spread / 2) / (1 + spread)
    half = z * sqrt(rate * (1 - rate) / trials + spread / (4 * trials)) / (1 + spread)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))
