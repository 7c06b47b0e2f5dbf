"""A frame over the scene, with handles for the mouse."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.gizmo import GizmoFrame, Handle, dragged, handles, ring
from mujoco_ros.viewer.panels.widgets import Colour
from mujoco_ros.viewer.projection import ScreenProjection

_GRIP_PX = 18.0
_AXES: tuple[Colour, ...] = (
    (0.90, 0.25, 0.25, 1.0),
    (0.25, 0.70, 0.30, 1.0),
    (0.25, 0.45, 0.95, 1.0),
)
_CENTRE: Colour = (1.0, 0.80, 0.25, 1.0)
_HELD: Colour = (1.0, 1.0, 1.0, 0.6)
_LABEL: Colour = (1.0, 1.0, 1.0, 1.0)
_SHADE: Colour = (0.0, 0.0, 0.0, 0.7)
_FLAGS = imgui.WindowFlags
_WINDOW = (
    int(_FLAGS.NoDecoration)
    | int(_FLAGS.NoBackground)
    | int(_FLAGS.NoSavedSettings)
    | int(_FLAGS.NoFocusOnAppearing)
    | int(_FLAGS.NoBringToFrontOnFocus)
    | int(_FLAGS.NoDocking)
    | int(_FLAGS.NoMove)
    | int(_FLAGS.NoNav)
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Hold:
    """What was taken hold of, where it was, and how it was seen."""

    handle: Handle
    frame: GizmoFrame
    lens: ScreenProjection


class DragHandles:
    """A frame with its name and handles, and which of them the mouse holds."""

    def __init__(self, name: str) -> None:
        """Hold nothing yet."""
        self._name = name
        self._hold: _Hold | None = None

    def build(self, frame: GizmoFrame, lens: ScreenProjection) -> GizmoFrame:
        """Build the frame; return where the mouse has dragged it to."""
        _draw(self._name, frame, lens)
        held = ""
        for handle in handles(frame, lens):
            if _build_grip(self._name, handle, lens):
                held = handle.name
                if self._hold is None or self._hold.handle.name != held:
                    self._hold = _Hold(handle=handle, frame=frame, lens=lens)
        if not held:
            self._hold = None
        if self._hold is None:
            return frame
        # From where it began, so that nothing adds up that a slow page counts twice, or not.
        way = imgui.GetMouseDragDelta(imgui.MouseButton.Left, 0.0)
        if not (way.x or way.y):
            return frame
        hold = self._hold
        return dragged(hold.frame, hold.handle, hold.lens, np.array([way.x, way.y]))


def _build_grip(name: str, handle: Handle, lens: ScreenProjection) -> bool:
    """Build what the mouse takes a handle by; return whether it holds it.

    It is a window, as a mouse over no window belongs to the camera.
    """
    place = lens.project(handle.point)
    if place is None:
        return False
    size = imgui.Vec2(_GRIP_PX, _GRIP_PX)
    imgui.SetNextWindowPos(_vec2(place - 0.5 * _GRIP_PX))
    imgui.SetNextWindowSize(size)
    imgui.PushStyleVar(imgui.StyleVar.WindowPadding, imgui.Vec2(0.0, 0.0))
    imgui.PushStyleVar(imgui.StyleVar.WindowMinSize, imgui.Vec2(1.0, 1.0))
    imgui.Begin(f"##{name} {handle.name}", None, _WINDOW)
    imgui.InvisibleButton("grip", size)
    # Of a mouse that moved and was let go since the last frame, the way counts as well.
    is_held = bool(imgui.IsItemActive() or imgui.IsItemDeactivated())
    if is_held or imgui.IsItemHovered():
        _dot(place, 0.5 * _GRIP_PX, _HELD)
    imgui.End()
    imgui.PopStyleVar(2)
    return is_held


def _draw(name: str, frame: GizmoFrame, lens: ScreenProjection) -> None:
    """Draw axes, rings and handles over the scene, but below all windows."""
    middle = lens.project(frame.position)
    if middle is None:
        return
    for axis, colour in enumerate(_AXES):
        corners = [lens.project(point) for point in ring(frame, axis, lens)]
        for start, end in pairwise(corners):
            _line(start, end, 2.0, colour)
    for handle in handles(frame, lens):
        place = lens.project(handle.point)
        colour = _CENTRE if handle.axis is None else _AXES[handle.axis]
        if handle.axis is not None and not handle.turns:
            _line(middle, place, 3.0, colour)
        if place is not None:
            _dot(place, 4.0 if handle.turns else 6.0, colour)
    canvas = imgui.GetBackgroundDrawList()
    for offset, colour in ((9.0, _SHADE), (8.0, _LABEL)):
        canvas.AddText(_vec2(middle + offset), _packed(colour), name)


def _line(start: np.ndarray | None, end: np.ndarray | None, width: float, colour: Colour) -> None:
    if start is not None and end is not None:
        canvas = imgui.GetBackgroundDrawList()
        canvas.AddLine(_vec2(start), _vec2(end), _packed(colour), width)


def _dot(place: np.ndarray, radius: float, colour: Colour) -> None:
    imgui.GetBackgroundDrawList().AddCircleFilled(_vec2(place), radius, _packed(colour))


def _vec2(place: np.ndarray) -> imgui.Vec2:
    return imgui.Vec2(float(place[0]), float(place[1]))


def _packed(colour: Colour) -> int:
    return int(imgui.GetColorU32(imgui.Vec4(*colour)))
