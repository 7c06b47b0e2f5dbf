"""Episodes as tables: CSV for programs, Markdown for people."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

from mujoco_ros.evaluation.episode import Episode
from mujoco_ros.evaluation.statistics import Summary, names

_ABOUT = ("seed", "outcome", "reason", "failures", "duration", "cost", "digest")
_GROUPS = ("conditions", "measures", "phases")


def as_csv(episodes: Sequence[Episode]) -> str:
    """Return a line for each episode, in the order of seeds."""
    columns = {group: names(episodes, group) for group in _GROUPS}
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_ABOUT, *(name for group in _GROUPS for name in columns[group]), "planning"])
    for it in sorted(episodes, key=lambda it: it.seed):
        about = [it.seed, it.outcome, it.reason, " ".join(it.failures), it.duration, it.cost]
        values = [getattr(it, group).get(name) for group in _GROUPS for name in columns[group]]
        planning = " ".join(f"{taken:.4f}" for taken in it.planning)
        writer.writerow([*about, it.digest, *values, planning])
    return text.getvalue()


def as_markdown(title: str, summary: Summary, episodes: Sequence[Episode]) -> str:
    """Return what episodes come to, and those that failed, each with how to run it again."""
    low, high = summary.interval
    rate = summary.successes / summary.count if summary.count else 0.0
    lines = [
        f"# {title}",
        "",
        f"**{summary.successes} of {summary.count}** succeeded: {rate:.1%}, "
        f"95 % interval {low:.1%} to {high:.1%} (Wilson).",
        f"Simulated {summary.speed:.1f} times as fast as real time on a processor; a plan took "
        f"{1e3 * summary.planning[0]:.0f} ms (median), {1e3 * summary.planning[1]:.0f} ms at most.",
        "",
        *_table(
            ("Measured in successful episodes", "mean", "RMS", "largest"),
            [(name, *map(_number, values)) for name, values in summary.measures.items()],
        ),
        *_table(
            ("State", "mean time [s]"),
            [(name, f"{taken:.2f}") for name, taken in summary.phases.items()],
        ),
        *_table(("Failed with", "episodes"), summary.outcomes.items()),
        *_table(("Recovered from", "times"), summary.recovered.items()),
        *_table(
            ("Failed episode (`--episode`)", "outcome", "why"),
            [(it.seed, it.outcome, it.reason) for it in episodes if not it.success],
        ),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    listed = [[str(cell) for cell in row] for row in rows]
    if not listed:
        return []
    rule = ["---", *["---:"] * (len(head) - 1)]
    return [_row(head), _row(rule), *map(_row, listed), ""]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float) -> str:
    return f"{value:.4g}"
