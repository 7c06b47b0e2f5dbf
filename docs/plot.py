"""Line plots in the colours of the documentation, as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, FAINT, GRID, PAPER = "#1d2b38", "#51606e", "#e3e9ee", "#fbfcfd"
DPI = 100
HEADER = 30  # px for the legend
STYLE = {
    "axes.edgecolor": "#b6c2cf",
    "axes.facecolor": PAPER,
    "axes.grid": True,
    "axes.labelcolor": FAINT,
    "axes.titlecolor": INK,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.xmargin": 0.0,
    "axes.ymargin": 0.08,
    "figure.facecolor": PAPER,
    "font.size": 9,
    "grid.color": GRID,
    "legend.frameon": False,
    "path.simplify_threshold": 0.2,
    "svg.fonttype": "none",
    "svg.hashsalt": "mujoco_ros",  # without it, every run names its clips differently
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a panel; lines with the same label share an entry of the legend.

    Attributes:
        x: Where on the horizontal axis.  # (n,)
        y: Where on the vertical axis.  # (n,)
        label: Text of the legend; empty for no entry.
        colour: Its colour.
        dashed: Whether it is dashed.
        dots: Whether to draw dots instead of a line.
    """

    x: np.ndarray
    y: np.ndarray
    label: str = ""
    colour: str = INK
    dashed: bool = False
    dots: bool = False


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A pair of axes.

    Attributes:
        title: Text above the axes.
        y_label: Label of the vertical axis.
        lines: Curves and points.
        marks: Instants with a vertical line, and their texts.
    """

    title: str = ""
    y_label: str = ""
    lines: Sequence[Line] = ()
    marks: Sequence[tuple[float, str]] = ()


def draw(
    grid: Sequence[Sequence[Panel]], *, title: str, x_label: str, width: int, height: int
) -> str:
    """Return an SVG of panels in rows, each about `width` times `height` [px] with its labels."""
    rows, columns = len(grid), max(len(row) for row in grid)
    with mpl.rc_context(STYLE):
        size = (width * columns / DPI, (height * rows + HEADER) / DPI)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
        for row, panels in enumerate(grid):
            for column, panel in enumerate(panels):
                _panel(axes[row, column], panel)
                if row == rows - 1:
                    axes[row, column].set_xlabel(x_label)
        entries = {}
        for place in axes.flat:
            for handle, label in zip(*place.get_legend_handles_labels(), strict=True):
                entries.setdefault(label, handle)
        figure.legend(
            entries.values(), entries.keys(), loc="outside upper left", ncols=len(entries)
        )
        file = StringIO()
        figure.savefig(file, format="svg", metadata={"Title": title, "Date": None, "Creator": None})
    return file.getvalue()


def _panel(axes: Axes, panel: Panel) -> None:
    for line in (line for line in panel.lines if len(line.x)):  # the layout fails on empty ones
        style = "" if line.dots else "--" if line.dashed else "-"
        axes.plot(
            line.x,
            line.y,
            linestyle=style,
            marker="o" if line.dots else "",
            color=line.colour,
            label=line.label or "_unnamed",
            clip_on=not line.dots,
        )
    for number, (instant, text) in enumerate(panel.marks):
        axes.axvline(instant, color=FAINT, linestyle=":", linewidth=1)
        axes.annotate(
            text,
            (instant, 0.05 + 0.12 * number),
            xycoords=axes.get_xaxis_transform(),
            xytext=(4, 0),
            textcoords="offset points",
            color=FAINT,
            in_layout=False,
        )
    axes.set_title(panel.title, loc="left")
    axes.set_ylabel(panel.y_label)
