"""Episodes as CSV, Markdown and text."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from mujoco_ros.controllers.evaluation.episode import Episode
from mujoco_ros.controllers.evaluation.quantities import quantity
from mujoco_ros.controllers.evaluation.statistics import Summary, names

_COLUMNS = ("seed", "outcome", "reason", "failures", "duration", "cost", "digest")
_GROUPS = ("conditions", "measures", "phases")


def as_csv(episodes: Sequence[Episode]) -> str:
    """Return one line for each episode, in the order of seeds."""
    columns = {group: names(episodes, group) for group in _GROUPS}
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = [name for group in _GROUPS for name in columns[group]]
    writer.writerow([*_COLUMNS, *header, "planning"])
    for it in sorted(episodes, key=lambda it: it.seed):
        row = [it.seed, it.outcome, it.reason, " ".join(it.failures), it.duration, it.cost]
        values = [getattr(it, group).get(name) for group in _GROUPS for name in columns[group]]
        planning = " ".join(f"{duration:.4f}" for duration in it.planning)
        writer.writerow([*row, it.digest, *values, planning])
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
        *_table(
            ("Measured in successful episodes", "mean", "RMS", "largest"),
            [
                (it.title, *map(it.text, values))
                for it, values in ((quantity(name), it) for name, it in summary.measures.items())
            ],
        ),
        *_table(
            ("State", "mean time [s]"),
            [(name, f"{duration:.2f}") for name, duration in summary.phases.items()],
        ),
        *_table(("Failed with", "episodes"), summary.outcomes.items()),
        *_table(("Recovered from", "times"), summary.recovered.items()),
        *_table(
            ("Failed episode (`--episode`)", "outcome", "reason"),
            [
                (it.seed, it.outcome, it.reason)
                for it in episodes
                if not (it.success or it.is_refused)
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
        "computing time of plans [ms]": ", ".join(f"{1e3 * it:.0f}" for it in episode.planning),
        "digest of its states": episode.digest,
    }
    groups = {
        f"episode {episode.seed}": {name: text for name, text in general.items() if text},
        "conditions": _texts(episode.conditions),
        "measures": _texts(episode.measures),
        "time in each state [s]": {name: f"{it:.3f}" for name, it in episode.phases.items()},
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


def _beyond(summary: Summary) -> list[str]:
    lines = []
    if summary.beyond:
        lines.append(
            f"{summary.beyond} further episodes were beyond what the robot can do; "
            f"{summary.refused} of them were refused by name."
        )
    if summary.false_successes:
        lines.append(f"**{summary.false_successes} false successes** were reported.")
    return lines


def _planning(summary: Summary) -> str:
    median, longest = (1e3 * duration for duration in summary.planning)
    return f"; a plan took {median:.0f} ms (median), {longest:.0f} ms at most" if longest else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    listed = [[str(cell) for cell in row] for row in rows]
    if not listed:
        return []
    rule = ["---", *["---:"] * (len(head) - 1)]
    return [_row(head), _row(rule), *map(_row, listed), ""]


def _row(cells: Sequence[str]) -> str:
    escaped = [" ".join(cell.split()).replace("|", r"\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"
