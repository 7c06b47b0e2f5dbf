"""Draw line plots as SVG, so that the documentation needs no plotting library."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

FONT = "'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif"
INK, FAINT, GRID, PAPER = "#1d2b38", "#51606e", "#e3e9ee", "#fbfcfd"
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 30, 40  # px around the axes of a panel
HEADER = 34  # px for the legend
TICKS = 5
WOBBLE = 0.1
"""What a line may be off [px]."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a panel; those of one label share an entry of the legend.

    Attributes:
        x: Where on the horizontal axis.  # (n,)
        y: Where on the vertical axis.  # (n,)
        label: What it is; empty for no entry in the legend.
        colour: Its colour.
        width: Its width [px].
        dashed: Whether it is dashed.
        dots: Whether to draw dots instead of a line.
    """

    x: np.ndarray
    y: np.ndarray
    label: str = ""
    colour: str = INK
    width: float = 2.0
    dashed: bool = False
    dots: bool = False


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A pair of axes.

    Attributes:
        title: What is above it.
        y_label: What is beside it.
        lines: What is in it.
        marks: Instants marked by a vertical line, and what is written there.
    """

    title: str = ""
    y_label: str = ""
    lines: Sequence[Line] = ()
    marks: Sequence[tuple[float, str]] = ()


def draw(
    grid: Sequence[Sequence[Panel]], *, title: str, x_label: str, width: int, height: int
) -> str:
    """Return an SVG of panels in rows, each `width` times `height` [px] with its labels."""
    total_width = width * max(len(row) for row in grid)
    total_height = HEADER + height * len(grid)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total_width} {total_height}" '
        f'width="{total_width}" height="{total_height}" font-family="{FONT}" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{total_width}" height="{total_height}" rx="12" fill="{PAPER}" '
        'stroke="#cfd8e0"/>',
        *_legend(grid),
    ]
    for row, panels in enumerate(grid):
        below = x_label if row == len(grid) - 1 else ""
        for column, panel in enumerate(panels):
            place = column * width, HEADER + row * height
            parts += _panel(panel, place, (width, height), below)
    return "\n".join([*parts, "</svg>", ""])


def _legend(grid: Sequence[Sequence[Panel]]) -> list[str]:
    shown: dict[str, Line] = {}
    for panel in (panel for row in grid for panel in row):
        for line in panel.lines:
            if line.label:
                shown.setdefault(line.label, line)
    parts, x = [], float(LEFT)
    for label, line in shown.items():
        if line.dots:
            parts.append(f'<circle cx="{x + 12:.1f}" cy="22" r="4" fill="{line.colour}"/>')
        else:
            parts.append(_path(f"M{x:.1f} 22h24", line))
        parts.append(f'<text x="{x + 31:.1f}" y="26.5" fill="{INK}">{escape(label)}</text>')
        x += 31 + 7.2 * len(label) + 14
    return parts


def _panel(panel: Panel, place: tuple[int, int], size: tuple[int, int], x_label: str) -> list[str]:
    above = TOP if panel.title else 8
    left, top = place[0] + LEFT, place[1] + above
    wide, high = size[0] - LEFT - RIGHT, size[1] - above - BOTTOM
    x_low, x_high = _span([line.x for line in panel.lines], 0.0)
    y_low, y_high = _span([line.y for line in panel.lines], 0.08)

    def across(x: np.ndarray | float) -> np.ndarray | float:
        return left + wide * (x - x_low) / (x_high - x_low)

    def down(y: np.ndarray | float) -> np.ndarray | float:
        return top + high * (y_high - y) / (y_high - y_low)

    parts = []
    if panel.title:
        head = f'x="{left}" y="{top - 10}" font-weight="bold" fill="{INK}"'
        parts.append(f"<text {head}>{escape(panel.title)}</text>")
    for tick in _ticks(x_low, x_high):
        x = across(tick)
        parts.append(f'<path d="M{x:.1f} {top}v{high}" stroke="{GRID}"/>')
        parts.append(_text(x, top + high + 17, f"{tick:g}", "middle"))
    for tick in _ticks(y_low, y_high):
        y = down(tick)
        parts.append(f'<path d="M{left} {y:.1f}h{wide}" stroke="{GRID}"/>')
        parts.append(_text(left - 7, y + 4, f"{tick:g}", "end"))
    frame = f'x="{left}" y="{top}" width="{wide}" height="{high}"'
    parts.append(f'<rect {frame} fill="none" stroke="#b6c2cf"/>')
    for number, (instant, text) in enumerate(panel.marks):
        x = across(instant)
        parts.append(f'<path d="M{x:.1f} {top}v{high}" stroke="{FAINT}" stroke-dasharray="2 4"/>')
        parts.append(_text(x + 5, top + high - 8 - 16 * number, text, "start"))
    for line in panel.lines:
        x, y = across(line.x), down(line.y)
        if line.dots:
            fill = f'r="4" fill="{line.colour}"'
            dots = zip(x, y, strict=True)
            parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" {fill}/>' for a, b in dots]
        else:
            parts.append(_path(_outline(x, y), line))
    if x_label:
        parts.append(_text(left + wide / 2, top + high + 34, x_label, "middle"))
    if panel.y_label:
        x, y = left - 44, top + high / 2
        turn = f'transform="rotate(-90 {x} {y})"'
        parts.append(_text(x, y, panel.y_label, "middle", turn))
    return parts


def _outline(x: np.ndarray, y: np.ndarray) -> str:
    """Return the way through some points, but for those that nobody would miss."""
    kept = [0, *_bends(x, y, 0, len(x) - 1), len(x) - 1]
    return "M" + "L".join(f"{x[i]:.1f} {y[i]:.1f}" for i in kept)


def _bends(x: np.ndarray, y: np.ndarray, first: int, last: int) -> list[int]:
    """Return which points between two lie off the lines through the others (Douglas-Peucker)."""
    if last - first < 2:
        return []
    way = np.array([x[last] - x[first], y[last] - y[first]])
    between = slice(first + 1, last)
    area = (x[between] - x[first]) * way[1] - (y[between] - y[first]) * way[0]
    distance = np.abs(area) / np.linalg.norm(way)
    worst = first + 1 + int(np.argmax(distance))
    if distance.max() <= WOBBLE:
        return []
    return [*_bends(x, y, first, worst), worst, *_bends(x, y, worst, last)]


def _path(way: str, line: Line) -> str:
    dashes = ' stroke-dasharray="6 4"' if line.dashed else ""
    return (
        f'<path d="{way}" fill="none" stroke="{line.colour}" stroke-width="{line.width:g}" '
        f'stroke-linejoin="round"{dashes}/>'
    )


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{FAINT}" font-size="12" '
        f"{more}>{escape(text)}</text>"
    )


def _span(values: Sequence[np.ndarray], margin: float) -> tuple[float, float]:
    joined = np.concatenate(values)
    low, high = float(joined.min()), float(joined.max())
    room = margin * (high - low)
    return low - room, high + room


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two."""
    raw = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * min((1, 2, 5, 10), key=lambda factor: abs(factor * power - raw))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * number, 9) for number in range(first, last + 1)]
