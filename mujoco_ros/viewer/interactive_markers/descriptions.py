"""Interactive markers as visualization_msgs describes them, and the interface of their client."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple, Protocol

import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.message_shapes import Attachment, Shape


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
    """An interactive marker.

    Attributes:
        server: Namespace of its server.
        name: Its name at the server.
    """

    server: str
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkerControl:
    """A control of an interactive marker.

    Attributes:
        name: Its name.
        description: What it does, in the words of its server.
        mode: What it does.
        orientation: What its axes rotate with.
        quat_wxyz: Orientation of its axes; it moves along x, in the plane of y and z, about x.
        shapes: What is drawn for it, in the axes of the marker.
        placed: What is drawn for it and was described in other frames.
        attachment: How that is attached to the marker.
        is_bare: Whether its server draws nothing for it, so that an arrow or a circle is drawn.
    """

    name: str
    description: str = ""
    mode: InteractionMode = InteractionMode.NONE
    orientation: ControlOrientation = ControlOrientation.INHERIT
    quat_wxyz: np.ndarray = field(default_factory=lambda: Pose().quat_wxyz)
    shapes: tuple[Shape, ...] = ()
    placed: tuple[Shape, ...] = ()
    attachment: Attachment | None = None
    is_bare: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkerMenuEntry:
    """An entry of the menu of an interactive marker.

    Attributes:
        number: Its id.
        title: Its title.
        is_selectable: Whether its selection is sent; the viewer runs no commands.
        entries: The entries below it.
    """

    number: int
    title: str
    is_selectable: bool = True
    entries: tuple["MarkerMenuEntry", ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class InteractiveMarkerInfo:
    """An interactive marker.

    Attributes:
        name: Its name.
        description: What it is, in the words of its server.
        frame: TF frame of its pose.
        pose: Its pose in the frame.
        initial_quat: Its orientation when it was last described, for controls that are fixed.
        scale: Size of handles without shapes of their own [m].
        controls: Its controls.
        menu: The entries of its menu.
    """

    name: str
    description: str
    frame: str
    pose: Pose
    initial_quat: np.ndarray
    scale: float = 1.0
    controls: tuple[MarkerControl, ...] = ()
    menu: tuple[MarkerMenuEntry, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkerServerInfo:
    """A server of interactive markers.

    Attributes:
        markers: Its markers by name.
        problems: What is wrong with it, or with markers that it refused.
    """

    markers: Mapping[str, InteractiveMarkerInfo]
    problems: tuple[str, ...] = ()


class InteractiveMarkerClient(Protocol):
    """Interactive markers of the servers on the graph; any thread may call the methods.

    Attributes:
        known: The servers by their namespace; replaced, never changed.
        left_out: Number of servers that are too many, and not followed.
    """

    known: Mapping[str, MarkerServerInfo]
    left_out: int

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
