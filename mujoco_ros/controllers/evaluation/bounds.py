"""What is asked of pick_place, beside what the grasping lab reports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from mujoco_ros.controllers.evaluation.statistics import Summary


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """A figure, and how good it has to be.

    Attributes:
        name: What it is, with its unit.
        lab: What "MuJoCo Robotics Lab, Part 9" reports.
        limit: The bound.
        value: Finds the figure.
        digits: How many to show behind the point.
        least: Whether it must be at least the limit, not at most.
    """

    name: str
    lab: str
    limit: float
    value: Callable[[Summary], float]
    digits: int = 1
    least: bool = False

    def holds(self, summary: Summary) -> bool:
        """Return whether the figure is good enough."""
        value = self.value(summary)
        return value >= self.limit if self.least else value <= self.limit

    def shown(self, summary: Summary) -> str:
        """Return the figure as text."""
        return f"{self.value(summary):.{self.digits}f}"


def _measured(name: str, which: int, factor: float = 1.0) -> Callable[[Summary], float]:
    """Return what finds a measure: its mean (0), root mean square (1) or largest value (2)."""
    return lambda summary: factor * summary.measures.get(name, (float("inf"),) * 3)[which]


_MEAN, _RMS, _LARGEST = 0, 1, 2
_MILLI, _MICRO = 1e3, 1e6
LAB = (
    Bound(
        name="success [%]",
        lab="100 (50 of 50)",
        limit=100.0,
        value=lambda it: 100.0 * it.successes / max(it.count, 1),
        least=True,
    ),
    Bound(
        name="place error, RMS in the plane [mm]",
        lab="1.4",
        limit=1.0,
        value=_measured("error_xy", _RMS, _MILLI),
        digits=2,
    ),
    Bound(
        name="largest tracking error [mrad]",
        lab="< 5",
        limit=5.0,
        value=_measured("tracking", _LARGEST, _MILLI),
        digits=2,
    ),
    Bound(name="mean cycle [s]", lab="8.2", limit=6.5, value=_measured("cycle", _MEAN), digits=2),
    Bound(
        name="median planning of a segment [ms]",
        lab="200 to 600",
        limit=200.0,
        value=lambda it: _MILLI * it.planning[0],
        digits=0,
    ),
    Bound(
        name="largest error of inverse kinematics [mm]",
        lab="< 0.1",
        limit=0.01,
        value=_measured("ik_error", _LARGEST, _MILLI),
        digits=5,
    ),
    Bound(
        name="the same, turned [µrad]",
        lab="< 100",
        limit=100.0,
        value=_measured("ik_turn", _LARGEST, _MICRO),
        digits=2,
    ),
    Bound(
        name="most corners of a way, its ends included",
        lab="5 to 15",
        limit=15.0,
        value=_measured("corners", _LARGEST),
        digits=0,
    ),
    Bound(
        name="steps in which a torque was saturated",
        lab="0",
        limit=0.0,
        value=_measured("saturated_steps", _LARGEST),
        digits=0,
    ),
)
"""On the lab's own start and goal."""
TABLE = (replace(LAB[0], limit=99.0),)
"""Anywhere on the table."""
SPEED = Bound(
    name="simulated time per processor time",
    lab="",
    limit=10.0,
    value=lambda it: it.speed,
    least=True,
)


def missed(bounds: tuple[Bound, ...], summary: Summary) -> list[str]:
    """Return what is not good enough, in words."""
    return [
        f"{it.name}: {it.shown(summary)}, wanted at {'least' if it.least else 'most'} {it.limit:g}"
        for it in bounds
        if not it.holds(summary)
    ]


def comparison(summaries: Mapping[str, Summary]) -> str:
    """Return the lab's figures beside ours, as a Markdown table."""
    head = ["", "the lab", "asked for", *summaries]
    rows = [head, ["---", *["---:"] * (len(head) - 1)]]
    for it in LAB:
        asked = f"{'≥' if it.least else '≤'} {it.limit:g}"
        rows.append(
            [it.name, it.lab, asked, *(it.shown(summary) for summary in summaries.values())]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"
