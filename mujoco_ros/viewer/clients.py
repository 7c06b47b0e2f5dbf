"""Interfaces of the clients that connect panels to the simulator and other nodes; no ROS."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

import numpy as np

from mujoco_ros.control.pull import Pull
from mujoco_ros.viewer.message_shapes import JointPath, Shape, TfFrame

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
    """A request to a node and its result, or a published message; panels read it in every frame."""

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


class SimulationClient(Protocol):
    """Services that play, pause, step and reset the simulation."""

    # ``playing``, ``paused``, ``no world`` …; empty while the simulator does not respond
    status: str

    def play(self) -> Request:
        """Start or continue the simulation."""

    def pause(self) -> Request:
        """Pause the simulation."""

    def step(self, steps: int = 1) -> Request:
        """Advance a paused simulation by `steps` steps."""

    def reset(self, *scopes: str) -> Request:
        """Reset ``time``, ``state`` or ``spawned``; everything without arguments."""

    def save_keyframe(self, name: str) -> Request:
        """Save the current state as a keyframe."""

    def load_keyframe(self, name: str) -> Request:
        """Load a keyframe of the model or a saved one."""

    def load_past(self, time: float) -> Request:
        """Pause in the last past state not later than `time` [s]."""

    def set_speed(self, factor: float) -> Request:
        """Set the real-time factor; 0 is as fast as possible."""


class ParameterClient(Protocol):
    """Parameters of the simulator."""

    simulator: str  # full name of the simulator's node
    # Parameters by name; empty while the simulator does not respond
    known: Mapping[str, ParameterInfo]

    def set(self, values: Mapping[str, Any]) -> Request:
        """Set parameters atomically."""


class CommandClient(Protocol):
    """Topics that command robots and move bodies; messages of one drag have the same request."""

    def command_joints(self, namespace: str, positions: Mapping[str, float]) -> Request:
        """Publish position references of joints of a robot [rad or m]."""

    def pull(self, frame: str, pull: Pull) -> None:
        """Pull at a TF frame until `release`; a pull at another frame ends."""

    def release(self) -> None:
        """End the pull."""

    def move_mocap(
        self, namespace: str, name: str, position: np.ndarray, quat_wxyz: np.ndarray
    ) -> Request:
        """Set the pose of a mocap body in the world; names as in `MocapBody`."""

    def set_joints(self, namespace: str, positions: Mapping[str, float]) -> None:
        """Set the positions of joints of a robot themselves [rad or m]."""

    def set_pose(self, frame: str, position: np.ndarray, quat_wxyz: np.ndarray) -> None:
        """Set the pose in the world of a free body, by its TF frame."""

    def publish_target(self, name: str, position: np.ndarray, quat_wxyz: np.ndarray) -> Request:
        """Publish the pose of a target frame in the world, latched."""

    def remove_target(self, name: str) -> None:
        """Close the topic of a target frame."""


class ControllerClient(Protocol):
    """State machines of controllers."""

    known: Mapping[str, ControllerInfo]  # controllers by the full name of their node

    def change_state(self, controller: str, transition: str) -> Request:
        """Request a transition of a controller."""


class ImageClient(Protocol):
    """Camera images."""

    @property
    def newest(self) -> Mapping[ImageKey, Thumbnail]:
        """The newest image of each subscription."""

    def subscribe(self, key: ImageKey) -> None:
        """Subscribe to images of a camera."""

    def unsubscribe(self, key: ImageKey) -> None:
        """End the subscription."""


class DrawingClient(Protocol):
    """Topics whose messages can be drawn."""

    topics: Mapping[str, str]  # types of the topics by name

    @property
    def frames(self) -> Mapping[str, TfFrame]:
        """TF frames by name: all of /tf_static, and of /tf what is needed."""

    def is_shown(self, topic: str) -> bool:
        """Return whether a topic is subscribed."""

    def show(self, topic: str, shown: bool) -> None:
        """Subscribe to a topic, now or when it appears, or end the subscription."""

    def shapes(self) -> Mapping[str, Sequence[Shape]]:
        """Return the newest shapes of each subscribed topic."""

    def joint_paths(self) -> Mapping[str, JointPath]:
        """Return the newest trajectory of each subscribed topic, until its end."""

    def need_frames(self, names: Collection[str] | None) -> None:
        """Set the names of the frames of /tf that shapes need; None for all."""


class VelocityClient(Protocol):
    """Topics of commanded velocities: of walking and driving robots, and of frames of robots."""

    topics: Sequence[str]  # the topics ``cmd_vel`` that something subscribes to
    tool_topics: Sequence[str]  # topics ``target_twist`` of Cartesian controllers

    def command(self, topic: str, linear: Vector, angular: Vector) -> Request:
        """Publish a velocity until `stop` or until a second after the last call, as one request.

        A robot moves forwards, left and up, a tool along the axes of ``world`` [m/s, rad/s].
        """

    def stop(self, topic: str) -> None:
        """Publish a velocity of zero, once, if another one is commanded on the topic."""


def run_status(simulation: SimulationClient, *, paused: bool) -> str:
    """Return the run state; the shared state reports a pause before the services."""
    present = PAUSED if paused else PLAYING
    return present if simulation.status in (PLAYING, PAUSED) else simulation.status


def is_replay(parameters: ParameterClient) -> bool:
    """Return whether the node replays a log, so that no command has an effect."""
    return "at_end" in parameters.known


def wrench_sign(parameters: ParameterClient) -> float:
    """Return 1 if wrenches are published as in MuJoCo, parent on child; else -1."""
    sign = parameters.known.get("wrench_sign")
    return 1.0 if sign is not None and sign.value == "parent_on_child" else -1.0
