"""SVG lines, boxes and texts. Lengths are pixels, y points down."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from mujoco_ros.controllers.fsm.diagram.layout.parts import BoxPlacement, Point

INK, FAINT, BLUE, RED, GREEN, PAPER = (
    *("#1d2b38", "#51606e", "#2f6fad", "#b8405e", "#3d8b57", "#ffffff"),
)
FONT = "Helvetica, Arial, sans-serif"
SMALL, LARGE = 10.0, 12.0
"""Font sizes."""
ROUND = 7.0
"""Corner radius of a box."""
HEAD = 8.0
"""Length of an arrow head."""
_CORNER = 6.0
_BOLD = 1.09
_WIDTHS = (
    dict.fromkeys("ijl.,:;'|!", 0.31)
    | dict.fromkeys(" ft()[]/-r", 0.40)
    | dict.fromkeys("mMW@%", 0.96)
    | dict.fromkeys("wABCDEGHKNOPQRSUVXYZ", 0.74)
)


def text_width(text: str, size: float = SMALL, *, bold: bool = False) -> float:
    """Return the approximate width of a text in the wider of the common fonts."""
    width = size * sum(_WIDTHS.get(letter, 0.62) for letter in text)
    return width * _BOLD if bold else width


@dataclass(frozen=True, slots=True)
class Stroke:
    """Style of a line."""

    colour: str
    dashed: bool


def arrows(routes: Sequence[Sequence[Point]], stroke: Stroke) -> Iterator[str]:
    """Yield arrows that share a part of their route, on a white outline."""
    # One path draws shared parts once; it starts at the goal, so that dashes coincide.
    path = "".join(_path([_foot(points), *points[-2::-1]]) for points in routes)
    dash = ' stroke-dasharray="5 3"' if stroke.dashed else ""
    yield f'<path d="{path}" fill="none" stroke="{PAPER}" stroke-width="4"/>'
    yield f'<path d="{path}" fill="none" stroke="{stroke.colour}" stroke-width="1.3"{dash}/>'
    for tip, foot in dict.fromkeys((points[-1], _foot(points)) for points in routes):
        yield head(tip, foot, stroke.colour)


def _path(points: Sequence[Point]) -> str:
    """Return the path through the points, with rounded corners."""
    path = [f"M{points[0].x:.1f} {points[0].y:.1f}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        enter, leave = _near(corner, before), _near(corner, after)
        path.append(f"L{enter.x:.1f} {enter.y:.1f}Q{corner.x:.1f} {corner.y:.1f}")
        path.append(f" {leave.x:.1f} {leave.y:.1f}")
    path.append(f"L{points[-1].x:.1f} {points[-1].y:.1f}")
    return "".join(path)


def _foot(points: Sequence[Point]) -> Point:
    """Return the start of the arrow head."""
    return _near(points[-1], points[-2], HEAD - 1.0)


def _near(corner: Point, other: Point, radius: float = _CORNER) -> Point:
    """Return the point at `radius` from a corner towards another, or halfway if that is nearer."""
    dx, dy = other.x - corner.x, other.y - corner.y
    length = abs(dx) + abs(dy)
    share = min(radius / length, 0.5) if length else 0.0
    return Point(corner.x + share * dx, corner.y + share * dy)


def head(tip: Point, foot: Point, colour: str) -> str:
    """Return an arrow head."""
    dx, dy = tip.x - foot.x, tip.y - foot.y
    length = abs(dx) + abs(dy) or 1.0
    wide = 0.45 * HEAD
    across = Point(-dy / length * wide, dx / length * wide)
    return (
        f'<path d="M{tip.x:.1f} {tip.y:.1f}L{foot.x + across.x:.1f} {foot.y + across.y:.1f}'
        f'L{foot.x - across.x:.1f} {foot.y - across.y:.1f}Z" fill="{colour}"/>'
    )


def rect(
    place: BoxPlacement,
    fill: str,
    edge: str,
    width: float,
    radius: float = ROUND,
    dashed: bool = False,
) -> str:
    """Return a box with rounded corners."""
    dash = ' stroke-dasharray="3 2"' if dashed else ""
    return (
        f'<rect x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}" '
        f'height="{place.height:.1f}" rx="{radius:g}" fill="{fill}" stroke="{edge}" '
        f'stroke-width="{width:g}"{dash}/>'
    )


def text(
    at: Point,
    text: str,
    colour: str,
    anchor: str = "start",
    *,
    size: float = SMALL,
    bold: bool = False,
    halo: bool = False,
) -> str:
    """Return a line of text; `halo` draws a white outline around it."""
    weight = ' font-weight="bold"' if bold else ""
    outline = ' stroke="#ffffff" stroke-width="3" paint-order="stroke"' if halo else ""
    return (
        f'<text x="{at.x:.1f}" y="{at.y:.1f}" font-size="{size:g}" fill="{colour}" '
        f'text-anchor="{anchor}"{weight}{outline}>{escape(text)}</text>'
    )
