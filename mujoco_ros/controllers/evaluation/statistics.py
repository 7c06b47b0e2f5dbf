"""Statistics of many episodes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from mujoco_ros.controllers.evaluation.episode import Episode

_Z_95 = 1.959963984540054
"""Standard deviations around the mean with 95 % of a normal distribution."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """Statistics of many episodes.

    Attributes:
        count: Number of episodes under conditions with which the robot can succeed.
        successes: Number of successful ones.
        beyond: Number of all other episodes.
        refused: Number of those that failed as the conditions require.
        false_successes: Number of episodes of which the controller wrongly reports a success.
        interval: 95 % confidence interval of the success rate.
        outcomes: Number of episodes by final failure.
        recovered: Number of recoveries by failure, in successful episodes.
        measures: Mean, root mean square and largest value of each measure in successful episodes.
        phases: Mean time in each state [s].
        planning: Median and largest computing time of a plan [s].
        speed: Simulated time per processor time.
    """

    count: int
    successes: int
    beyond: int
    refused: int
    false_successes: int
    interval: tuple[float, float]
    outcomes: Mapping[str, int]
    recovered: Mapping[str, int]
    measures: Mapping[str, tuple[float, float, float]]
    phases: Mapping[str, float]
    planning: tuple[float, float]
    speed: float


def summarize(episodes: Sequence[Episode]) -> Summary:
    """Compute the statistics of episodes."""
    possible = [it for it in episodes if not it.refusal]
    good = [it for it in possible if it.success]
    plans = [duration for it in episodes for duration in it.planning]
    cost = sum(it.cost for it in episodes)
    return Summary(
        count=len(possible),
        successes=len(good),
        beyond=len(episodes) - len(possible),
        refused=sum(it.is_refused for it in episodes),
        false_successes=sum(it.is_false_success for it in episodes),
        interval=success_interval(len(good), len(possible)),
        outcomes=Counter(it.outcome for it in possible if not it.success),
        recovered=Counter(failure for it in good for failure in it.failures),
        measures={name: _statistics(good, name) for name in names(good, "measures")},
        phases={
            name: float(np.mean([it.phases.get(name, 0.0) for it in episodes]))
            for name in names(episodes, "phases")
        },
        planning=(float(np.median(plans)), max(plans)) if plans else (0.0, 0.0),
        speed=sum(it.duration for it in episodes) / cost if cost else 0.0,
    )


def success_interval(successes: int, count: int) -> tuple[float, float]:
    """Return the Wilson score interval of a rate with 95 % confidence; also valid for 0 and 1.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    Journal of the American Statistical Association 22 (1927).
    """
    if not count:
        return 0.0, 1.0
    rate, spread = successes / count, _Z_95 * _Z_95 / count
    centre = (rate + spread / 2) / (1 + spread)
    half = _Z_95 * sqrt(rate * (1 - rate) / count + spread / (4 * count)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)


def names(episodes: Sequence[Episode], mapping: str) -> list[str]:
    """Return the keys in one of the mappings of all episodes, in order of appearance."""
    return list(dict.fromkeys(name for it in episodes for name in getattr(it, mapping)))


def _statistics(episodes: Sequence[Episode], name: str) -> tuple[float, float, float]:
    values = np.array([it.measures.get(name, np.nan) for it in episodes])
    values = values[np.isfinite(values)]
    if not len(values):
        return (np.nan, np.nan, np.nan)
    rms = float(np.sqrt(np.mean(values**2)))
    return float(values.mean()), rms, float(np.abs(values).max())
