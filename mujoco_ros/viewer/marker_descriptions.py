"""Interactive markers as visualization_msgs describes them, their shapes, and their client."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.message_shapes import Attachment, Carrier, Shape, ShapeKind


class InteractionMode(IntEnum):
    """What a control does, by the numbers of visualization_msgs/InteractiveMarkerControl."""

    NONE = 0
    MENU = 1
    BUTTON = 2
    MOVE_AXIS = 3
    MOVE_PLANE = 4
    ROTATE_AXIS = 5
    MOVE_ROTATE = 6
    MOVE_3D = 7
    ROTATE_3D = 8
    MOVE_ROTATE_3D = 9


class ControlOrientation(IntEnum):
    """What the axes of a control rotate with: the marker, nothing, or the camera."""

    INHERIT = 0
    FIXED = 1
    VIEW_FACING = 2


class MarkerKey(NamedTuple):
    """An interactive marker."""

    server: str  # namespace of its server
    name: str  # its name at the server


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkerControl:
    """A control of an interactive marker."""

    name: str  # its name
    description: str = ""  # what it does, in the words of its server
    mode: InteractionMode = InteractionMode.NONE  # what it does
    orientation: ControlOrientation = ControlOrientation.INHERIT  # what its axes rotate with
    # Orientation of its axes; it moves along x, in the plane of y and z, about x
    quat_wxyz: np.ndarray = field(default_factory=lambda: Pose().quat_wxyz)
    shapes: tuple[Shape, ...] = ()  # what is drawn for it, in the axes of the marker
    placed: tuple[Shape, ...] = ()  # what is drawn for it and was described in other frames
    attachment: Attachment | None = None  # how that is attached to the marker
    # Whether its server draws nothing for it, so that an arrow or a circle is drawn
    is_bare: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkerMenuEntry:
    """An entry of the menu of an interactive marker."""

    number: int  # its id
    title: str  # its title
    is_selectable: bool = True  # whether its selection is sent; the viewer runs no commands
    entries: tuple["MarkerMenuEntry", ...] = ()  # the entries below it


@dataclass(frozen=True, kw_only=True, slots=True)
class InteractiveMarkerInfo:
    """An interactive marker."""

    name: str  # its name
    description: str  # what it is, in the words of its server
    frame: str  # TF frame of its pose
    pose: Pose  # its pose in the frame
    # Its orientation when it was last described, for controls that are fixed
    initial_quat: np.ndarray
    scale: float = 1.0  # size of handles without shapes of their own [m]
    controls: tuple[MarkerControl, ...] = ()  # its controls
    menu: tuple[MarkerMenuEntry, ...] = ()  # the entries of its menu


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkerServerInfo:
    """A server of interactive markers."""

    markers: Mapping[str, InteractiveMarkerInfo]  # its markers by name
    problems: tuple[str, ...] = ()  # what is wrong with it, or with markers that it refused


class InteractiveMarkerClient(Protocol):
    """Interactive markers of the servers on the graph; any thread may call the methods."""

    known: Mapping[str, MarkerServerInfo]  # the servers by their namespace; replaced, never changed
    left_out: int  # number of servers that are too many, and not followed

    def drag(self, key: MarkerKey, control: str, pose: Pose) -> None:
        """Move a marker in its frame until `release`, or until some seconds after the last call."""

    def release(self) -> None:
        """End the motion."""

    def place(self, key: MarkerKey, control: str, pose: Pose) -> None:
        """Move a marker in its frame at once."""

    def click(self, key: MarkerKey, control: str) -> None:
        """Press a button."""

    def select(self, key: MarkerKey, control: str, entry: int) -> None:
        """Select an entry of the menu of a marker, by its id."""


_LABEL_HEIGHT = 1.2  # height of the description above the marker, as a share of its scale
_WHITE = (1.0, 1.0, 1.0, 1.0)
_SIDES = 16  # lines of a circle
_COLOURS = ((0.9, 0.25, 0.25, 0.9), (0.25, 0.7, 0.3, 0.9), (0.25, 0.45, 0.95, 0.9))
_LINES = {InteractionMode.MOVE_AXIS}
_CIRCLES = {InteractionMode.MOVE_PLANE, InteractionMode.ROTATE_AXIS, InteractionMode.MOVE_ROTATE}


def default_count(control: MarkerControl) -> int:
    """Return the number of arrows, or lines of a circle, that are drawn for a control."""
    if not control.is_bare:
        return 0
    return 2 if control.mode in _LINES else _SIDES if control.mode in _CIRCLES else 0


def interactive_marker_shapes(marker: InteractiveMarkerInfo) -> Iterator[Shape]:
    """Yield what its server describes, as if no control faced the camera, and its description."""
    for control in marker.controls:
        pose = _pose(marker, control)
        rotation = pose.matrix
        for shape in control.shapes:
            yield shape.turned(rotation, pose.position, marker.frame)
        if control.attachment is not None:
            carrier = Carrier(control.attachment, marker.frame, pose)
            for shape in control.placed:
                yield replace(shape, carrier=carrier)
    yield Shape(
        kind=ShapeKind.TEXT,
        frame=marker.frame,
        position=marker.pose.position + np.array([0.0, 0.0, _LABEL_HEIGHT * marker.scale]),
        colour=_WHITE,
        text=marker.description or marker.name,
    )


def default_shapes(marker: InteractiveMarkerInfo) -> Iterator[Shape]:
    """Yield what is drawn for the controls for which the server describes nothing."""
    for control in marker.controls:
        pose = _pose(marker, control)
        rotation = pose.matrix
        for shape in _default_shapes(control, marker.scale):
            yield shape.turned(rotation, pose.position, marker.frame)


def _pose(marker: InteractiveMarkerInfo, control: MarkerControl) -> Pose:
    if control.orientation is ControlOrientation.FIXED:
        return replace(marker.pose, quat_wxyz=marker.initial_quat)
    return marker.pose


def _default_shapes(control: MarkerControl, scale: float) -> Iterator[Shape]:
    """Yield arrows along the x axis of a control without shapes, or a circle about it."""
    if not default_count(control):
        return
    axes = Pose(quat_wxyz=control.quat_wxyz).matrix
    colour = _COLOURS[int(np.abs(axes[:, 0]).argmax())]
    if control.mode in _LINES:
        kind, width = ShapeKind.ARROW, 0.1 * scale
        x = scale * axes[:, 0]
        ends = [(0.5 * x, 0.9 * x), (-0.5 * x, -0.9 * x)]
    else:
        kind, width = ShapeKind.LINE, 0.05 * scale
        angles = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
        circle = np.stack([0.0 * angles, np.cos(angles), np.sin(angles)], axis=1)
        ends = list(pairwise(0.75 * scale * circle @ axes.T))
    for start, end in ends:
        yield Shape(kind=kind, frame="", position=start, end=end, width=width, colour=colour)
