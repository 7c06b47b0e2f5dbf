"""Acceptance limits of controllers, and the results of the grasping lab for comparison."""

from collections.abc import Callable, Mapping
from functools import partial
from math import degrees
from typing import NamedTuple

from mujoco_ros.controllers.evaluation.report import Summary, table


class Bound(NamedTuple):
    """A metric and its limit."""

    name: str  # with its unit
    lab: str  # result of "MuJoCo Robotics Lab, Part 9"; empty without one
    limit: float
    value: Callable[[Summary], float]
    digits: int = 1  # displayed decimal places
    least: bool = False  # whether the limit is a minimum

    def holds(self, summary: Summary) -> bool:
        """Return whether the metric is within its limit."""
        value = self.value(summary)
        return value >= self.limit if self.least else value <= self.limit

    def text(self, summary: Summary) -> str:
        return f"{self.value(summary):.{self.digits}f}"


def _measure(statistic: int, name: str, factor: float = 1.0) -> Callable[[Summary], float]:
    """Return a function for a statistic of a measure; without data it is infinite."""
    return lambda summary: factor * summary.measures.get(name, (float("inf"),) * 3)[statistic]


_mean, _rms, _largest = (partial(_measure, statistic) for statistic in range(3))
LAB = (
    Bound(
        *("success [%]", "100 (50 of 50)", 100.0),
        lambda summary: 100.0 * summary.successes / max(summary.count, 1),
        least=True,
    ),
    Bound("place error, RMS in the plane [mm]", "1.4", 1.0, _rms("error_xy", 1e3), 2),
    Bound("largest tracking error [mrad]", "< 5", 5.0, _largest("tracking", 1e3), 2),
    Bound("mean cycle [s]", "8.2", 6.5, _mean("cycle"), 2),
    Bound(
        *("median planning of a segment [ms]", "200 to 600", 200.0),
        lambda summary: 1e3 * summary.planning[0],
        digits=0,
    ),
    Bound("largest error of inverse kinematics [mm]", "< 0.1", 0.01, _largest("ik_error", 1e3), 5),
    Bound("the same, rotation [µrad]", "< 100", 100.0, _largest("ik_turn", 1e6), 2),
    Bound("most waypoints of a path, ends included", "5 to 15", 15.0, _largest("corners"), 0),
    Bound("steps with a saturated torque", "0", 0.0, _largest("saturated_steps"), 0),
)
"""With the start and goal of the lab."""
ESTIMATE = (
    Bound(
        *("drift of the estimated base [% of the path]", "", 2.0),
        *(_largest("estimate_relative_drift", 1e2), 2),
    ),
    Bound("its error of roll and pitch [°]", "", 0.5, _largest("estimate_tilt", degrees(1.0)), 2),
    Bound("its velocity, RMS [cm/s]", "", 5.0, _largest("estimate_velocity", 1e2), 2),
)
"""Of the estimated base of a walking robot."""
TROT = (
    Bound("error of the mean velocity, RMS [m/s]", "", 0.05, _rms("velocity_error"), 3),
    Bound("the same, turning [rad/s]", "", 0.05, _rms("yaw_rate_error"), 3),
)
"""Of the trotting quadruped."""


class Check(NamedTuple):
    """Episodes under conditions, and what must hold for them."""

    conditions: str
    episodes: int
    bounds: tuple[Bound, ...]


FAILURES = 1  # largest number of episodes of a controller that fail, of all checks together
_TERRAIN = tuple(
    Check(f"{direction}_on_{ground}", 1, (LAB[0], *ESTIMATE))
    for ground in ("plates", "slope")
    for direction in ("forwards", "sideways", "turning")
)
_TROTS = ("forwards", "backwards", "sideways", "turning", "standing")
_WALK = (
    *(Check("pushed", 20, (LAB[0], *ESTIMATE)), Check("randomised", 20, ESTIMATE)),
    *_TERRAIN,
)
ACCEPTANCE: Mapping[str, tuple[Check, ...]] = {
    # The success rate is checked for both conditions together.
    "pick_place": (Check("lab", 10, LAB[1:]), Check("table", 10, ())),
    # Without the drift of a robot that turns on the spot, which has no path.
    "trot": tuple(
        check._replace(bounds=(LAB[0], *ESTIMATE[1:])) if "turning" in check.conditions else check
        for check in _WALK
    ),
    "trot_policy": (Check("randomised", 30, TROT), *(Check(name, 2, TROT) for name in _TROTS)),
    "walk": _WALK,
    "walk_grasp": _WALK[:2],
}
"""By the name of the controller."""


def missed(bounds: tuple[Bound, ...], summary: Summary) -> list[str]:
    """Return descriptions of all metrics beyond their limits."""
    return [
        f"{bound.name}: {bound.text(summary)}, "
        f"limit: at {'least' if bound.least else 'most'} {bound.limit:g}"
        for bound in bounds
        if not bound.holds(summary)
    ]


def comparison(summaries: Mapping[str, Summary]) -> str:
    """Return the lab's results and the given ones as a Markdown table."""
    rows = [
        (
            bound.name,
            *(bound.lab, f"{'≥' if bound.least else '≤'} {bound.limit:g}"),
            *(bound.text(summary) for summary in summaries.values()),
        )
        for bound in LAB
    ]
    return "\n".join(table(("", "the lab", "limit", *summaries), rows))
