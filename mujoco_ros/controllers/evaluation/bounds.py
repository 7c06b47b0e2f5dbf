"""Acceptance limits of controllers, and the results of the grasping lab for comparison."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import degrees

from mujoco_ros.controllers.evaluation.report import Summary


@dataclass(frozen=True, slots=True)
class Bound:
    """A metric and its limit.

    Attributes:
        name: Name of the metric with its unit.
        lab: Result of "MuJoCo Robotics Lab, Part 9"; empty without one.
        limit: The limit.
        value: Computes the metric.
        digits: Displayed decimal places.
        least: Whether the limit is a minimum.
    """

    name: str
    lab: str
    limit: float
    value: Callable[[Summary], float]
    digits: int = 1
    least: bool = False

    def holds(self, summary: Summary) -> bool:
        """Return whether the metric is within its limit."""
        value = self.value(summary)
        return value >= self.limit if self.least else value <= self.limit

    def text(self, summary: Summary) -> str:
        """Return the metric as text."""
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
        "drift of the estimated base [% of the path]",
        "",
        2.0,
        _largest("estimate_relative_drift", 1e2),
        2,
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


@dataclass(frozen=True, slots=True)
class Check:
    """Episodes under conditions, and what must hold for them.

    Attributes:
        conditions: Name of the conditions.
        episodes: Number of episodes.
        bounds: The limits.
    """

    conditions: str
    episodes: int
    bounds: tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What a controller must achieve.

    Attributes:
        checks: The episodes.
        failures: Largest number of episodes that fail, of all together.
    """

    checks: tuple[Check, ...]
    failures: int


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
_TROT_CHECKS = tuple(
    replace(check, bounds=(LAB[0], *ESTIMATE[1:])) if "turning" in check.conditions else check
    for check in _WALK
)
"""Without the drift of a robot that turns on the spot, which has no path."""
ACCEPTANCE: Mapping[str, Acceptance] = {
    # The success rate is checked for both conditions together.
    "pick_place": Acceptance((Check("lab", 10, LAB[1:]), Check("table", 10, ())), 1),
    "trot": Acceptance(_TROT_CHECKS, 1),
    "trot_policy": Acceptance(
        (Check("randomised", 30, TROT), *(Check(name, 2, TROT) for name in _TROTS)), 1
    ),
    "walk": Acceptance(_WALK, 1),
    "walk_grasp": Acceptance(
        (Check("pushed", 20, (LAB[0], *ESTIMATE)), Check("randomised", 20, ESTIMATE)), 1
    ),
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
    head = ["", "the lab", "limit", *summaries]
    rows = [head, ["---", *["---:"] * (len(head) - 1)]]
    for bound in LAB:
        limit = f"{'≥' if bound.least else '≤'} {bound.limit:g}"
        rows.append(
            [bound.name, bound.lab, limit, *(bound.text(summary) for summary in summaries.values())]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"
