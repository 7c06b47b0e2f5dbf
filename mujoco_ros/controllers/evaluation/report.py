"""Episodes and their statistics as CSV, Markdown and text."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from math import sqrt
from typing import NamedTuple

import numpy as np

from mujoco_ros.controllers.evaluation.episode import Episode


class Quantity(NamedTuple):
    """Title and unit of a number."""

    name: str
    unit: str = ""  # of the display; empty for a plain number
    factor: float = 1.0  # display units per SI unit

    @property
    def title(self) -> str:
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    def text(self, value: float) -> str:
        """Return a value in SI units as text in the display unit."""
        return f"{self.factor * value:.4g}"


def quantity(name: str) -> Quantity:
    """Return the quantity of a condition or measure; default is its name without a unit."""
    return _QUANTITIES.get(name, Quantity(name))


_MILLI, _DEGREES = 1e3, 180.0 / np.pi
_QUANTITIES: Mapping[str, Quantity] = {
    "start_x": Quantity("start, x", "mm", _MILLI),
    "start_y": Quantity("start, y", "mm", _MILLI),
    "start_yaw": Quantity("start, yaw", "°", _DEGREES),
    "goal_x": Quantity("goal, x", "mm", _MILLI),
    "goal_y": Quantity("goal, y", "mm", _MILLI),
    "goal_yaw": Quantity("goal, yaw", "°", _DEGREES),
    "speed": Quantity("commanded speed", "m/s"),
    "velocity_error": Quantity("error of the mean velocity", "m/s"),
    "yaw_rate": Quantity("commanded turn", "rad/s"),
    "yaw_rate_error": Quantity("error of the mean turn", "rad/s"),
    "push": Quantity("push, impulse per mass", "m/s"),
    "direction": Quantity("push, direction", "°", _DEGREES),
    "at": Quantity("push, time", "s"),
    "base_mass": Quantity("mass of the base, factor"),
    "mass": Quantity("mass of the box", "g", _MILLI),
    "friction": Quantity("friction, factor"),
    "size": Quantity("edge of the box", "mm", _MILLI),
    "delay": Quantity("delay of poses", "ms", _MILLI),
    **{f"offset_{i}": Quantity(f"encoder offset, axis {i}", "mrad", _MILLI) for i in range(1, 7)},
    "obstacle": Quantity("height of the obstacle", "mm", _MILLI),
    "obstacle_x": Quantity("obstacle, x", "mm", _MILLI),
    "obstacle_y": Quantity("obstacle, y", "mm", _MILLI),
    "motion": Quantity("motion of the box", "mm", _MILLI),
    "motion_direction": Quantity("motion, direction", "°", _DEGREES),
    "motion_at": Quantity("motion, start", "s"),
    "obstacle_moved": Quantity("displacement of the obstacle", "mm", _MILLI),
    "error_x": Quantity("place error, x", "mm", _MILLI),
    "error_y": Quantity("place error, y", "mm", _MILLI),
    "error_xy": Quantity("place error in the plane", "mm", _MILLI),
    "error_z": Quantity("place error, z", "mm", _MILLI),
    "error_yaw": Quantity("error of orientation", "mrad", _MILLI),
    "tracking": Quantity("largest tracking error", "mrad", _MILLI),
    "ik_error": Quantity("inverse kinematics, error of position", "mm", _MILLI),
    "ik_turn": Quantity("inverse kinematics, error of orientation", "mrad", _MILLI),
    "corners": Quantity("most waypoints of a path"),
    "payload_error": Quantity("error of the measured mass", "g", _MILLI),
    "saturated_steps": Quantity("steps at a torque limit"),
    "cycle": Quantity("cycle", "s"),
    "turned": Quantity("turn", "°", _DEGREES),
    "commanded_turn": Quantity("commanded turn", "°", _DEGREES),
    "height": Quantity("height of the base, part of the initial height"),
    "moved": Quantity("displacement of the base", "mm", _MILLI),
}


_Z_95 = 1.959963984540054  # standard deviations around the mean with 95 % of a normal distribution


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """Statistics of many episodes; those beyond what the robot can do are counted apart."""

    count: int  # episodes under conditions with which the robot can succeed
    successes: int
    beyond: int  # all other episodes
    refused: int  # of these, episodes that failed as the conditions require
    false_successes: int  # episodes of which the controller wrongly reports a success
    interval: tuple[float, float]  # 95 % confidence interval of the success rate
    outcomes: Mapping[str, int]  # episodes by final failure
    recovered: Mapping[str, int]  # recoveries by failure, in successful episodes
    measures: Mapping[str, tuple[float, float, float]]  # mean, RMS, largest in successful episodes
    phases: Mapping[str, float]  # mean time in each state [s]
    planning: tuple[float, float]  # median and largest computing time of a plan [s]
    speed: float  # simulated time per processor time


def summarize(episodes: Sequence[Episode]) -> Summary:
    """Compute the statistics of episodes."""
    possible = [episode for episode in episodes if not episode.refusal]
    good = [episode for episode in possible if episode.success]
    plans = [duration for episode in episodes for duration in episode.planning]
    cost = sum(episode.cost for episode in episodes)
    return Summary(
        count=len(possible),
        successes=len(good),
        beyond=len(episodes) - len(possible),
        refused=sum(episode.is_refused for episode in episodes),
        false_successes=sum(episode.is_false_success for episode in episodes),
        interval=success_interval(len(good), len(possible)),
        outcomes=Counter(episode.outcome for episode in possible if not episode.success),
        recovered=Counter(failure for episode in good for failure in episode.failures),
        measures={name: _statistics(good, name) for name in keys_of(good, "measures")},
        phases={
            name: float(np.mean([episode.phases.get(name, 0.0) for episode in episodes]))
            for name in keys_of(episodes, "phases")
        },
        planning=(float(np.median(plans)), max(plans)) if plans else (0.0, 0.0),
        speed=sum(episode.duration for episode in episodes) / cost if cost else 0.0,
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


def keys_of(episodes: Sequence[Episode], mapping: str) -> list[str]:
    """Return the keys in one of the mappings of all episodes, in order of appearance."""
    return list(dict.fromkeys(name for episode in episodes for name in getattr(episode, mapping)))


def _statistics(episodes: Sequence[Episode], name: str) -> tuple[float, float, float]:
    values = np.array([episode.measures.get(name, np.nan) for episode in episodes])
    values = values[np.isfinite(values)]
    if not len(values):
        return (np.nan, np.nan, np.nan)
    rms = float(np.sqrt(np.mean(values**2)))
    return float(values.mean()), rms, float(np.abs(values).max())


_COLUMNS = ("seed", "outcome", "reason", "failures", "duration", "cost", "digest")
_GROUPS = ("conditions", "measures", "phases")


def as_csv(episodes: Sequence[Episode]) -> str:
    """Return one line for each episode, in the order of seeds."""
    columns = {group: keys_of(episodes, group) for group in _GROUPS}
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = [name for group in _GROUPS for name in columns[group]]
    writer.writerow([*_COLUMNS, *header, "planning"])
    for episode in sorted(episodes, key=lambda episode: episode.seed):
        row = [getattr(episode, name) for name in _COLUMNS]
        row[_COLUMNS.index("failures")] = " ".join(episode.failures)
        values = [getattr(episode, group).get(name) for group in _GROUPS for name in columns[group]]
        planning = " ".join(f"{duration:.4f}" for duration in episode.planning)
        writer.writerow([*row, *values, planning])
    return text.getvalue()


def as_markdown(title: str, summary: Summary, episodes: Sequence[Episode]) -> str:
    """Return the statistics of episodes, and the failed ones with their seeds."""
    low, high = summary.interval
    rate = summary.successes / summary.count if summary.count else 0.0
    lines = [
        f"# {title}",
        "",
        f"**{summary.successes} of {summary.count}** succeeded: {rate:.1%}, "
        f"95 % interval {low:.1%} to {high:.1%} (Wilson).",
        *_beyond(summary),
        f"Simulated {summary.speed:.1f} times as fast as real time on a processor"
        f"{_planning(summary)}.",
        "",
        *table(
            ("Measured in successful episodes", "mean", "RMS", "largest"),
            [
                (quantity(name).title, *map(quantity(name).text, values))
                for name, values in summary.measures.items()
            ],
        ),
        *table(
            ("State", "mean time [s]"),
            [(name, f"{duration:.2f}") for name, duration in summary.phases.items()],
        ),
        *table(("Failed with", "episodes"), summary.outcomes.items()),
        *table(("Recovered from", "times"), summary.recovered.items()),
        *table(
            ("Failed episode (`--episode`)", "outcome", "reason"),
            [
                (episode.seed, episode.outcome, episode.reason)
                for episode in episodes
                if not (episode.success or episode.is_refused)
            ],
        ),
    ]
    return "\n".join(lines).rstrip() + "\n"


def as_text(episode: Episode) -> str:
    """Return all data of one episode, one line for each value."""
    general = {
        "outcome": episode.outcome,
        "reason": episode.reason,
        "beyond the limit": episode.refusal,
        "failures": ", ".join(episode.failures),
        "simulated time [s]": f"{episode.duration:.3f}",
        "processor time [s]": f"{episode.cost:.2f}",
        "computing time of plans [ms]": ", ".join(
            f"{1e3 * duration:.0f}" for duration in episode.planning
        ),
        "digest of its states": episode.digest,
    }
    groups = {
        f"episode {episode.seed}": {name: text for name, text in general.items() if text},
        "conditions": _texts(episode.conditions),
        "measures": _texts(episode.measures),
        "time in each state [s]": {
            name: f"{duration:.3f}" for name, duration in episode.phases.items()
        },
    }
    width = max(len(name) for lines in groups.values() for name in lines)
    return (
        "\n".join(
            "\n".join([title, *(f"  {name:{width}}  {text}" for name, text in lines.items())])
            for title, lines in groups.items()
            if lines
        )
        + "\n"
    )


def _texts(values: Mapping[str, float]) -> dict[str, str]:
    return {quantity(name).title: quantity(name).text(value) for name, value in values.items()}


def _beyond(summary: Summary) -> Iterator[str]:
    if summary.beyond:
        yield (
            f"{summary.beyond} further episodes were beyond what the robot can do; "
            f"{summary.refused} of them were refused by name."
        )
    if summary.false_successes:
        yield f"**{summary.false_successes} false successes** were reported."


def _planning(summary: Summary) -> str:
    median, longest = (1e3 * duration for duration in summary.planning)
    return f"; a plan took {median:.0f} ms (median), {longest:.0f} ms at most" if longest else ""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a Markdown table, with an empty one behind it; none without rows."""
    listed = [[" ".join(str(cell).split()).replace("|", r"\|") for cell in row] for row in rows]
    rule = ["---", *["---:"] * (len(head) - 1)]
    lines = [f"| {' | '.join(row)} |" for row in (head, rule, *listed)]
    return [*lines, ""] if listed else []
