"""Plots of episodes as SVG files."""

from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from mujoco_ros.controllers.evaluation.episode import SUCCESS, Episode
from mujoco_ros.controllers.evaluation.report import keys_of
from mujoco_ros.model.output_files import output_file

_INK, _FAINT, _GOOD, _BAD, _GRID = "#1d2b38", "#51606e", "#2a7f9e", "#c8553d", "#e3e9ee"
_STYLE: dict[Any, Any] = {
    "axes.edgecolor": "#b6c2cf",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.labelcolor": _FAINT,
    "axes.titlecolor": _INK,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "font.size": 9,
    "grid.color": _GRID,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "mujoco_ros",  # reproducible IDs
    "xtick.color": _FAINT,
    "ytick.color": _FAINT,
}
_MAP = ("start_x", "start_y", "goal_x", "goal_y")
_HISTOGRAMS = (
    ("error_xy", 1e3, "place error in the plane [mm]", True),
    ("error_yaw", 180 / np.pi, "error of orientation [°]", True),
    ("tracking", 1e3, "largest tracking error [mrad]", True),
    ("cycle", 1.0, "cycle [s]", False),
)
"""Measure, factor, label, and whether zero is the ideal value."""
_MARKS = "XDv^sP*"  # markers of failures; repeated if there are more kinds


def write_plots(folder: Path, episodes: Sequence[Episode]) -> list[Path]:
    """Write all plots with data into a folder, and return the files."""
    written = []
    with mpl.rc_context(_STYLE):
        for name, draw in (("map", _map), ("errors", _errors), ("phases", _phases)):
            figure = draw(episodes)
            if figure is not None:
                path = folder / f"{name}.svg"
                with output_file(path, "plot") as file:
                    figure.savefig(file, format="svg", metadata={"Date": None})
                written.append(path)
    return written


def _map(episodes: Sequence[Episode]) -> Figure | None:
    """Plot starts and goals from above, with one marker for each kind of failure."""
    placed = [episode for episode in episodes if all(name in episode.conditions for name in _MAP)]
    if not placed:
        return None
    figure = Figure(figsize=(5.6, 5.9), layout="constrained")
    axes = figure.subplots()
    outcomes = Counter(
        episode.outcome for episode in sorted(placed, key=lambda episode: not episode.success)
    )
    marks = dict(
        zip((outcome for outcome in outcomes if outcome != SUCCESS), cycle(_MARKS), strict=False)
    )
    for episode in placed:
        x, y, to_x, to_y = (episode.conditions[name] for name in _MAP)
        colour, alpha = (_GOOD, 0.12) if episode.success else (_BAD, 0.6)
        axes.plot([y, to_y], [x, to_x], color=colour, alpha=alpha, linewidth=0.8, zorder=1)
        axes.plot(to_y, to_x, "o", mfc="none", mec=colour, ms=4, alpha=0.6, zorder=2)
        mark = "o" if episode.success else marks[episode.outcome]
        axes.plot(y, x, mark, color=colour, ms=5 if episode.success else 8, zorder=3)
    for outcome, count in outcomes.items():
        mark, colour = ("o", _GOOD) if outcome == SUCCESS else (marks[outcome], _BAD)
        axes.plot([], [], mark, color=colour, label=f"{outcome}: {count}")
    axes.plot(0.0, 0.0, "s", color=_INK, ms=10)
    axes.annotate("arm", (0.0, 0.0), (9, -3), textcoords="offset points", color=_INK)
    axes.set(xlabel="y [m]", ylabel="x [m]", aspect="equal")
    axes.invert_xaxis()  # x up, y to the left
    axes.set_title("Starts (filled) and goals (rings), from above")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _errors(episodes: Sequence[Episode]) -> Figure | None:
    good = [episode for episode in episodes if episode.success]
    rows = [row for row in _HISTOGRAMS if any(row[0] in episode.measures for episode in good)]
    if not rows:
        return None
    figure = Figure(figsize=(7.6, 2.4 * ((len(rows) + 1) // 2)), layout="constrained")
    grid = figure.subplots((len(rows) + 1) // 2, 2, squeeze=False).ravel()
    for axes, (name, factor, label, from_zero) in zip(grid, rows, strict=False):
        values = factor * np.array([episode.measures[name] for episode in good])
        # Axes of errors start at zero, to show their size.
        low, high = 0.0 if from_zero else values.min(), values.max()
        bins = min(30, 3 + len(good) // 4)
        axes.hist(values, bins=bins, range=(low, high or 1.0), color=_GOOD)
        axes.axvline(np.sqrt(np.mean(values**2)), color=_INK, linewidth=1.0, linestyle="--")
        axes.set(xlabel=label, ylabel="episodes")
        axes.yaxis.get_major_locator().set_params(integer=True)
    for axes in grid[len(rows) :]:
        axes.set_visible(False)
    figure.suptitle("Successful episodes; dashed: RMS", x=0.01, ha="left", color=_INK, size=10)
    return figure


def _phases(episodes: Sequence[Episode]) -> Figure | None:
    """Plot the time in each state: mean, and 5th to 95th percentile."""
    states = keys_of(episodes, "phases")
    if not states:
        return None
    durations = np.array(
        [[episode.phases.get(state, 0.0) for episode in episodes] for state in states]
    )
    figure = Figure(figsize=(7.0, 0.9 + 0.26 * len(states)), layout="constrained")
    axes = figure.subplots()
    rows, mean = np.arange(len(states)), durations.mean(axis=1)
    low, high = np.percentile(durations, (5, 95), axis=1)
    spread = np.maximum(np.array([mean - low, high - mean]), 0.0)
    axes.barh(rows, mean, color=_GOOD, height=0.65)
    axes.errorbar(mean, rows, xerr=spread, fmt="none", ecolor=_INK, elinewidth=1.0, capsize=2)
    axes.set_yticks(rows, states)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(xlabel="time in the state [s]; whiskers: 5 % to 95 % of the episodes")
    axes.set_title(f"{mean.sum():.2f} s in all")
    return figure
