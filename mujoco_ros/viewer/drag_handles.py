"""A frame drawn over the scene, and handles that drag it along and about its axes."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import mujoco
import numpy as np
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer import style
from mujoco_ros.viewer.framing import ScreenProjection

_LENGTH_PX = 70.0  # length of the axes on the screen, at any depth
_RING = 0.75  # radius of the rings, as a share of the length
_LETTERS = "xyz"


@dataclass(frozen=True, kw_only=True, slots=True)
class Handle:
    """A handle of a frame."""

    name: str  # ``move``, ``move x`` … or ``turn x`` …, different for each handle of a frame
    # Index of the axis whose colour it has; None for the handle at the origin
    axis: int | None = None
    rotates: bool = False  # whether it rotates the frame
    point: np.ndarray  # position in the world [m] (3,)
    # Unit vector of the handle's motion for a positive drag; 0 for a motion in a plane (3,)
    direction: np.ndarray = field(default_factory=lambda: np.zeros(3))
    # Unit vector of the axis of rotation, or normal of the plane of motion; 0 for the plane of the
    # screen (3,)
    normal: np.ndarray = field(default_factory=lambda: np.zeros(3))
    control: str = ""  # name of the control of an interactive marker that it belongs to


def handles(frame: Pose, projection: ScreenProjection) -> Iterator[Handle]:
    """Yield the handles of a frame, of equal size on the screen at any depth."""
    axes, length = frame.matrix, handle_length(frame, projection)
    yield Handle(name="move", point=frame.position)
    for i in range(3):
        yield line_handle(axes, i, frame.position, length)
    for i in range(3):
        yield turn_handle(axes, i, frame.position, length)


def handle_length(frame: Pose, projection: ScreenProjection) -> float:
    """Return the length of the axes of a frame [m]."""
    return _LENGTH_PX * projection.metres_per_pixel(frame.position)


def line_handle(axes: np.ndarray, i: int, origin: np.ndarray, length: float) -> Handle:
    """Return the handle that moves along column `i` of a rotation matrix."""
    axis = axes[:, i]
    return Handle(name=f"move {_LETTERS[i]}", axis=i, point=origin + length * axis, direction=axis)


def turn_handle(axes: np.ndarray, i: int, origin: np.ndarray, length: float) -> Handle:
    """Return the handle that rotates about column `i` of a rotation matrix."""
    radius = (axes[:, i - 2] + axes[:, i - 1]) / np.sqrt(2.0)
    return Handle(
        name=f"turn {_LETTERS[i]}",
        axis=i,
        rotates=True,
        point=origin + _RING * length * radius,
        direction=np.cross(axes[:, i], radius),
        normal=axes[:, i],
    )


def ring(handle: Handle, origin: np.ndarray) -> np.ndarray:
    """Return the quarter circle whose middle is a handle that rotates about `origin`.  # (n, 3)"""
    radius = handle.point - origin
    angles = np.linspace(-0.25 * np.pi, 0.25 * np.pi, 13)[:, None]
    tangent = np.cross(handle.normal, radius)
    return np.asarray(origin + np.cos(angles) * radius + np.sin(angles) * tangent)


def dragged(frame: Pose, handle: Handle, projection: ScreenProjection, pixels: np.ndarray) -> Pose:
    """Return a frame after a drag of a handle; the mouse moves `pixels` right and down.  # (2,)"""
    if not handle.rotates and not handle.direction.any():
        motion = projection.drag_in_plane(handle.point, pixels)
        if handle.normal.any():
            motion = projection.drag_on_plane(handle.point, handle.normal, pixels)
        return replace(frame, position=frame.position + motion)
    distance = projection.drag_along(handle.point, handle.direction, pixels)
    if not handle.rotates:
        return replace(frame, position=frame.position + distance * handle.direction)
    radius = float(np.linalg.norm(handle.point - frame.position))
    rotation, quat = np.zeros((2, 4))
    mujoco.mju_axisAngle2Quat(rotation, handle.normal, distance / radius)
    mujoco.mju_mulQuat(quat, rotation, frame.quat_wxyz)
    mujoco.mju_normalize4(quat)
    return replace(frame, quat_wxyz=quat)


_WINDOW = style.window_flags(
    *("NoDecoration", "NoBackground", "NoSavedSettings", "NoFocusOnAppearing"),
    *("NoBringToFrontOnFocus", "NoDocking", "NoMove", "NoNav"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Drag:
    handle: Handle
    frame: Pose
    projection: ScreenProjection


class DragHandles:
    """A frame with its name and handles, and the drag in progress."""

    def __init__(
        self,
        name: str,
        handles_of: Callable[[Pose, ScreenProjection], Iterable[Handle]] = handles,
    ) -> None:
        """Begin without a drag; `handles_of` returns the handles of the frame `name`."""
        self._name, self._handles_of = name, handles_of
        self._drag: _Drag | None = None

    @property
    def held(self) -> Handle | None:
        """The handle that is dragged, as it was at the start."""
        return None if self._drag is None else self._drag.handle

    def build(self, frame: Pose, projection: ScreenProjection) -> Pose:
        """Build the frame; return it after the motion of the mouse."""
        shown = list(self._handles_of(frame, projection))
        _draw(self._name, frame, shown, projection)
        grabbed = ""
        for handle in shown:
            if _build_handle(self._name, handle, projection):
                grabbed = handle.name
                if self._drag is None or self._drag.handle.name != grabbed:
                    self._drag = _Drag(handle=handle, frame=frame, projection=projection)
        if not grabbed:
            self._drag = None
        if self._drag is None:
            return frame
        # From the start of the drag: increments would accumulate errors of lost or repeated frames.
        motion = imgui.GetMouseDragDelta(imgui.MouseButton.Left, 0.0)
        if not (motion.x or motion.y):
            return frame
        drag = self._drag
        return dragged(drag.frame, drag.handle, drag.projection, np.array([motion.x, motion.y]))


def _build_handle(name: str, handle: Handle, projection: ScreenProjection) -> bool:
    """Build a handle, which needs a window of its own; return whether the mouse has grabbed it."""
    pixel = projection.project(handle.point)
    if pixel is None:
        return False
    size = imgui.Vec2(style.HANDLE_SIZE, style.HANDLE_SIZE)
    imgui.SetNextWindowPos(imgui.Vec2(*(pixel - 0.5 * style.HANDLE_SIZE)))
    imgui.SetNextWindowSize(size)
    imgui.PushStyleVar(imgui.StyleVar.WindowPadding, imgui.Vec2(0.0, 0.0))
    imgui.PushStyleVar(imgui.StyleVar.WindowMinSize, imgui.Vec2(1.0, 1.0))
    imgui.Begin(f"##{name} {handle.name}", None, _WINDOW)
    imgui.InvisibleButton("grip", size)
    # Deactivated: the motion since the last frame counts although the button is released.
    is_grabbed = bool(imgui.IsItemActive() or imgui.IsItemDeactivated())
    if is_grabbed or imgui.IsItemHovered():
        _draw_dot(pixel, 0.5 * style.HANDLE_SIZE, style.GRABBED)
    imgui.End()
    imgui.PopStyleVar(2)
    return is_grabbed


def _draw(name: str, frame: Pose, shown: Iterable[Handle], projection: ScreenProjection) -> None:
    origin = projection.project(frame.position)
    if origin is None:
        return
    for handle in shown:
        pixel = projection.project(handle.point)
        colour = style.CENTRE if handle.axis is None else style.AXES[handle.axis]
        if handle.rotates:
            corners = [projection.project(point) for point in ring(handle, frame.position)]
            for start, end in pairwise(corners):
                _draw_line(start, end, 2.0, colour)
        if handle.axis is not None and not handle.rotates:
            _draw_line(origin, pixel, 3.0, colour)
        if pixel is not None:
            _draw_dot(pixel, 4.0 if handle.rotates else 6.0, colour)
    canvas = imgui.GetBackgroundDrawList()
    for offset, colour in ((9.0, style.SHADOW), (8.0, style.WHITE)):
        canvas.AddText(imgui.Vec2(*(origin + offset)), style.packed(colour), name)


def _draw_line(
    start: np.ndarray | None, end: np.ndarray | None, width: float, colour: style.Colour
) -> None:
    if start is not None and end is not None:
        canvas = imgui.GetBackgroundDrawList()
        canvas.AddLine(imgui.Vec2(*start), imgui.Vec2(*end), style.packed(colour), width)


def _draw_dot(pixel: np.ndarray, radius: float, colour: style.Colour) -> None:
    imgui.GetBackgroundDrawList().AddCircleFilled(imgui.Vec2(*pixel), radius, style.packed(colour))
