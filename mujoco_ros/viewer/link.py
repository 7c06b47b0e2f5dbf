"""What the viewer knows and does beyond the shared state: panels see this, and no middleware."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

from mujoco_ros.sim.perturbation.pulls import Pull

Scope = str
"""What a reset resets: ``time``, ``state`` or ``spawned``."""


class ViewerRunState(StrEnum):
    """What the simulation does, as its services tell it."""

    UNKNOWN = "unknown"  # no simulator answers
    STOPPED = "stopped"
    PLAYING = "playing"
    PAUSED = "paused"
    QUITTING = "quitting"
    NO_WORLD = "no world"
    LOADING_WORLD = "loading world"


@dataclass(slots=True)
class Request:
    """Something that was asked for, and what became of it; looked at frame by frame.

    Attributes:
        what: What was asked for, for people to read.
        ok: None until there is an answer, then whether it was done.
        text: The answer: why not, or what was done.
        asked: When it was asked, on the monotonic clock [s].
    """

    what: str
    ok: bool | None = None
    text: str = ""
    asked: float = field(default_factory=time.monotonic)

    def settle(self, ok: bool, text: str = "") -> None:
        """Note the answer."""
        self.text = text
        self.ok = ok  # last, as another thread looks at it first

    @property
    def line(self) -> str:
        """The request and its answer in a line."""
        outcome = {None: "…", True: "done", False: "failed"}[self.ok]
        return f"{self.what}: {self.text or outcome}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ParameterInfo:
    """A parameter of the simulator: its value, and what it may be.

    Attributes:
        value: bool, int, float, str, or a tuple of them.
        low: Smallest value; None if unbounded.
        high: Largest value; None if unbounded.
        choices: All it may be; empty if that is not limited.
        description: What it is.
        read_only: Whether it cannot be set.
    """

    value: Any
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    description: str = ""
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition of a state machine."""

    label: str
    start: str
    goal: str


@dataclass(frozen=True, slots=True)
class Happened:
    """A transition that took place, at `time` [s of the controller's clock]."""

    time: float
    transition: str
    start: str
    goal: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ControllerInfo:
    """A node that offers the contract of state machines.

    Attributes:
        name: Full name of the node.
        state: Where it is; empty as long as that is not known.
        states: Where it can be at all.
        edges: Its transitions, from each state where they exist.
        available: Labels of transitions that can be taken now.
        events: What happened lately, oldest first.
    """

    name: str
    state: str = ""
    states: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    available: tuple[str, ...] = ()
    events: tuple[Happened, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Thumbnail:
    """The newest image of a camera.

    Attributes:
        pixels: Colours, small.  # (height, width, 3) uint8
        time: Simulated time of what it shows [s].
        number: Counts the images of all cameras; never the same for two.
    """

    pixels: np.ndarray
    time: float
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LogLine:
    """What some node had to say.

    Attributes:
        number: Counts the lines; never the same for two.
        time: When, on the clock of its node [s].
        level: 10 debug, 20 info, 30 warn, 40 error, 50 fatal.
        node: Who said it.
        text: What.
    """

    number: int
    time: float
    level: int
    node: str
    text: str


class SimulatorLink(Protocol):
    """The viewer's way to the simulator and to other nodes, seen from one thread.

    Every call returns at once. What is asked for becomes a `Request` that tells later what became
    of it; what is known is read anew in each frame and may be of a moment ago.
    """

    # -- What is known.

    @property
    def simulator(self) -> str:
        """Full name of the simulator's node."""

    @property
    def reachable(self) -> bool:
        """Whether the simulator answers."""

    @property
    def run_state(self) -> ViewerRunState:
        """What the simulation does."""

    @property
    def requests(self) -> Sequence[Request]:
        """What was asked for lately, oldest first."""

    @property
    def parameters(self) -> Mapping[str, ParameterInfo]:
        """The simulator's parameters by name; empty as long as it does not answer."""

    @property
    def controllers(self) -> Mapping[str, ControllerInfo]:
        """All state machines there are, by the full name of their node."""

    def log(self, after: int = 0) -> Sequence[LogLine]:
        """Return the kept log lines with numbers beyond `after`, oldest first."""

    # -- Running the simulation.

    def play(self) -> Request:
        """Let it run."""

    def pause(self) -> Request:
        """Let it stand still."""

    def step(self, steps: int = 1) -> Request:
        """Make so many steps while it is paused."""

    def reset(self, *scopes: Scope) -> Request:
        """Reset what is named: ``time``, ``state``, ``spawned``; everything if nothing is."""

    def save_keyframe(self, name: str) -> Request:
        """Keep the present state under a name."""

    def load_keyframe(self, name: str) -> Request:
        """Return to a state: of the model, or one that was saved."""

    def set_speed(self, factor: float) -> Request:
        """Run at so many simulated seconds per second; 0 is as fast as possible."""

    def set_parameters(self, values: Mapping[str, Any]) -> Request:
        """Set parameters of the simulator, all or none."""

    # -- Acting on what is simulated.

    def command_joints(self, namespace: str, positions: Mapping[str, float]) -> None:
        """Send references to joints of the robot with that namespace [rad or m]."""

    def pull(self, frame: str, pull: Pull) -> None:
        """Pull at a frame, by its name in TF, until `let_go`; that of before ends."""

    def let_go(self) -> None:
        """Pull at nothing any more."""

    def move_mocap(
        self, namespace: str, name: str, position: np.ndarray, quat_wxyz: np.ndarray
    ) -> None:
        """Put a mocap body somewhere in the world; names as `model.places.mocap_bodies` has them.

        Args:
            namespace: That of its robot, or empty.
            name: What topics call it.
            position: [m].  # (3,)
            quat_wxyz: Orientation.  # (4,)
        """

    def publish_target(self, name: str, position: np.ndarray, quat_wxyz: np.ndarray) -> None:
        """Tell everybody where a target frame is in the world; it is remembered for latecomers."""

    def remove_target(self, name: str) -> None:
        """Tell no more of a target frame."""

    # -- Controllers and cameras.

    def change_state(self, controller: str, transition: str) -> Request:
        """Have a controller, given by the full name of its node, take a transition."""

    def watch(self, namespace: str, camera: str) -> None:
        """Ask for images of a camera of the robot with that namespace."""

    def unwatch(self, namespace: str, camera: str) -> None:
        """Ask for no more images of it."""

    def picture(self, namespace: str, camera: str) -> Thumbnail | None:
        """Return its newest image; None as long as there is none."""


def is_replay(link: SimulatorLink) -> bool:
    """Return whether what is shown was logged, so that nothing can act on it."""
    return "at_end" in link.parameters


def wrench_sign(link: SimulatorLink) -> float:
    """Return 1 if wrenches are published as the engine has them, parent on child; else -1."""
    told = link.parameters.get("wrench_sign")
    return 1.0 if told is not None and told.value == "parent_on_child" else -1.0
