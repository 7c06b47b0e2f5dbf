"""Confidence interval of a success rate."""

from math import sqrt
from typing import NamedTuple

Z_95 = 1.959963984540054
"""Standard deviations around the mean with 95 % of a normal distribution."""


class Interval(NamedTuple):
    """Bounds of a rate with 95 % confidence."""

    low: float
    high: float


def wilson(successes: int, trials: int, z: float = Z_95) -> Interval:
    """Return the Wilson score interval of a rate, which is also valid for 0 and 1.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    Journal of the American Statistical Association 22 (1927).
    """
    if not trials:
        return Interval(0.0, 1.0)
    rate, spread = successes / trials, z * z / trials
    centre = (rate + spread / 2) / (1 + spread)
    half = z * sqrt(rate * (1 - rate) / trials + spread / (4 * trials)) / (1 + spread)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))
