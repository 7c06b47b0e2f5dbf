"""What the clients of a simulator report: requests, parameters, controllers, images and more."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np

PLAYING, PAUSED = "playing", "paused"
STALE_S = 0.5
"""Age from which on the page calls its image old [s]."""

Vector = tuple[float, float, float]
CameraKey = tuple[str, str]
"""Namespace of the robot and name of the camera."""


class ImageKind(StrEnum):
    """An image of a camera."""

    COLOUR = "colour"
    DEPTH = "depth"
    SEGMENTATION = "segmentation"


class ImageKey(NamedTuple):
    """A subscribed image."""

    camera: CameraKey
    kind: ImageKind  # the image of the camera
    max_width: int  # wider images are downsampled [px]


@dataclass(slots=True)
class Request:
    """A request to a node and its result, or a published message; panels read it as it changes."""

    name: str  # the request as it is displayed
    ok: bool | None = None  # none until the response arrives, then whether the request succeeded
    message: str = ""  # text of the response
    command: str = ""  # the command of a shell that does the same

    def complete(self, ok: bool, message: str = "") -> None:
        """Set the result."""
        self.message = message
        self.ok = ok  # set last, because another thread checks it first

    def fail(self, message: str) -> None:
        """Set the result of a failed request."""
        self.complete(False, message)

    @property
    def summary(self) -> str:
        """The request and its result in one line."""
        outcome = {None: "…", True: "done", False: "failed"}[self.ok]
        return f"{self.name}: {self.message or outcome}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ParameterInfo:
    """A parameter of the simulator."""

    value: Any  # bool, int, float, str, or a tuple of them
    low: float | None = None  # smallest value; None if unbounded
    high: float | None = None  # largest value; None if unbounded
    description: str = ""  # description from the descriptor
    choices: tuple[str, ...] = ()  # texts that it accepts; empty if these are not listed
    read_only: bool = False  # whether it cannot be set
    initial: Any = None  # its value when it was read first


@dataclass(frozen=True, slots=True)
class TransitionInfo:
    """A transition of a state machine."""

    label: str
    start: str
    goal: str
    reason: str = ""  # why it was made; empty without a reason


@dataclass(frozen=True, kw_only=True, slots=True)
class ControllerInfo:
    """A node with a state machine behind the lifecycle_msgs services."""

    name: str  # full name of the node
    state: str = ""  # active state; empty while unknown
    reason: str = ""  # why it is in that state; empty without a reason
    states: tuple[str, ...] = ()  # all states
    transitions: tuple[TransitionInfo, ...] = ()  # all transitions
    available: tuple[str, ...] = ()  # labels of the transitions from the active state
    # Recent transitions, oldest first, with times on the clock of the node [s]
    events: tuple[tuple[float, TransitionInfo], ...] = ()

    @property
    def is_stopped(self) -> bool:
        """Whether an error has stopped it."""
        return self.state == "error"


@dataclass(frozen=True, kw_only=True, slots=True)
class Thumbnail:
    """The newest image of a camera, downsampled."""

    # RGB; depth and segmentation in false colours.  # (height, width, 3) uint8
    pixels: np.ndarray
    time: float  # time stamp [s]
    number: int  # sequence number over all cameras
    # Distances [m], inf without a hit, or numbers of the visible objects; None for colour (height,
    # width)
    values: np.ndarray | None = None
    # Distances at the ends of the colour scale of depth, near and far [m]
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LogLine:
    """A message of /rosout."""

    number: int  # sequence number
    time: float  # time stamp on the clock of the node [s]
    level: int  # 10 debug, 20 info, 30 warn, 40 error, 50 fatal
    node: str  # name of the node
    text: str  # the message


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedModel:
    """A model that can be spawned, or a world that can be loaded."""

    uri: str  # its URI
    description: str  # what it is

    @property
    def file(self) -> str:
        """Name of its file."""
        return PurePosixPath(self.uri).name

    @property
    def name(self) -> str:
        """Name of its file without suffix."""
        return PurePosixPath(self.uri).stem


class FieldKey(NamedTuple):
    """A numeric field."""

    topic: str  # full name of the topic
    # Names from the message to the field, as ``pose.position.x``, ``data[2]`` or, of a message with
    # names of its elements, ``position[left_knee]``
    path: str


class FieldSample(NamedTuple):
    """Values of fields of one message."""

    topic: str  # full name of the topic
    time: float  # simulated time of the stamp, or of the reception of a message without one [s]
    values: dict[str, float]  # values by path; NaN for an element that the message does not have
