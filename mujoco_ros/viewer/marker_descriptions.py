"""Interactive markers as visualization_msgs describes them, and their shapes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.colours import AXES, WHITE
from mujoco_ros.viewer.message_shapes import Attachment, Carrier, Shape, ShapeKind, arrow, line


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


@dataclass(frozen=True, kw_only=True, eq=False)
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

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """What its server describes, as if no control faced the camera, and its description."""
        return tuple(_described_shapes(self))

    @cached_property
    def default_shapes(self) -> tuple[Shape, ...]:
        """What is drawn for the controls for which the server describes nothing."""
        return tuple(_added_shapes(self))


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkerServerInfo:
    """A server of interactive markers."""

    markers: Mapping[str, InteractiveMarkerInfo]  # its markers by name
    problems: tuple[str, ...] = ()  # what is wrong with it, or with markers that it refused


_LABEL_HEIGHT = 1.2  # height of the description above the marker, as a share of its scale
_SIDES = 16  # lines of a circle
_LINES = {InteractionMode.MOVE_AXIS}
_CIRCLES = {InteractionMode.MOVE_PLANE, InteractionMode.ROTATE_AXIS, InteractionMode.MOVE_ROTATE}


def default_count(control: MarkerControl) -> int:
    """Return the number of arrows, or lines of a circle, that are drawn for a control."""
    if not control.is_bare:
        return 0
    return 2 if control.mode in _LINES else _SIDES if control.mode in _CIRCLES else 0


def _described_shapes(marker: InteractiveMarkerInfo) -> Iterator[Shape]:
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
        colour=WHITE,
        text=marker.description or marker.name,
    )


def _added_shapes(marker: InteractiveMarkerInfo) -> Iterator[Shape]:
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
    colour = AXES[int(np.abs(axes[:, 0]).argmax())]
    if control.mode in _LINES:
        for x in (scale * axes[:, 0], -scale * axes[:, 0]):
            yield from arrow("", 0.5 * x, 0.4 * x, 0.1 * scale, colour)
        return
    angles = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
    circle = np.stack([0.0 * angles, np.cos(angles), np.sin(angles)], axis=1)
    for start, end in pairwise(0.75 * scale * circle @ axes.T):
        yield from line("", start, end, 0.05 * scale, colour)
