"""Moves a robot, a tool or a frame, or pushes a body, while something on a page is held."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mujoco_ros.viewer.clients import Request, Vector
from mujoco_ros.viewer.dragged_bodies import DraggedBodies
from mujoco_ros.viewer.frame_motion import SPEED_M_S, SPEED_RAD_S, FrameMotion
from mujoco_ros.viewer.ros.commands import VelocityPublisher


class Deflection(NamedTuple):
    """What full deflection commands."""

    value: float  # at first
    unit: str
    largest: float


SCALES = {
    "forwards": Deflection(0.3, "m/s", 10.0),
    "left": Deflection(0.1, "m/s", 10.0),
    "turn": Deflection(0.35, "rad/s", 10.0),
    "force": Deflection(10.0, "N", 1e4),
    "torque": Deflection(1.0, "Nm", 1e4),
}
"""Velocities of a robot, and the push of a body."""
SMALLEST = 0.01
"""Smallest value of a scale."""
_SILENT_S = 1.0  # what is held counts as released if its page has sent nothing for so long

BODY = "body "
"""Prefix of the name of the body that is selected in the scene."""
_TOOL, _TOPIC = "tool ", "/target_twist"
"""Prefix of the names of tools, and the end of their topics, which the names lack."""

Shares = tuple[Vector, Vector]
"""Linear and angular velocity: forwards, left and up, as shares of the largest ones in -1..1."""


class Driver:
    """What one page moves, and what of the page is held."""

    def __init__(
        self,
        velocities: VelocityPublisher,
        motion: FrameMotion,
        bodies: DraggedBodies,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Command by clients; `now` is monotonic [s]."""
        self.selected = ""  # what it moves, one of `names`; empty for nothing
        self.full = {name: scale.value for name, scale in SCALES.items()}  # at full deflection
        self.request: Request | None = None  # of the last motion
        self._velocities, self._motion, self._bodies, self._now = velocities, motion, bodies, now
        self._body = ""  # frame of the selected body, if forces can move it
        self._held: dict[str, tuple[Shares, float]] = {}  # since when, by the name of what is held

    @property
    def names(self) -> Sequence[str]:
        """What can be moved."""
        tools = map(_tool_name, self._velocities.tool_topics)
        body = [f"{BODY}{self._body}"] if self._body else []
        return [*self._velocities.topics, *tools, *self._motion.names, *body]

    @property
    def is_robot(self) -> bool:
        """Whether it moves a robot, which has no velocity upwards."""
        return self.selected.startswith("/")

    @property
    def is_body(self) -> bool:
        """Whether it pushes a body."""
        return self.selected.startswith(BODY)

    @property
    def commanded(self) -> Shares:
        """The commanded velocity [m/s, rad/s], or force and torque [N, Nm]."""
        full, value = np.array([[SPEED_M_S] * 3, [SPEED_RAD_S] * 3]), self.full
        if self.is_robot:
            full = np.array([[value["forwards"], value["left"], 0.0], [0.0, 0.0, value["turn"]]])
        elif self.is_body:
            full = np.array([[value["force"]] * 3, [value["torque"]] * 3])
        return _vectors(full * self._shares())

    @property
    def is_driving(self) -> bool:
        """Whether it moves or pushes something."""
        return bool(self._held)

    def select(self, name: str) -> None:
        """Move something else."""
        if name != self.selected:
            self.stop()
            self.selected = name

    def hold(self, name: str, shares: Shares | None) -> None:
        """Note how far something on the page is held; None releases it."""
        if shares is not None and self.selected:
            self._held[name] = shares, self._now()
            self._command()
        elif self._held.pop(name, None) is not None:
            self._command()

    def tick(self, body: int = 0) -> None:
        """Select something that can be moved; release what the page does not report any more.

        `body` is selected in the scene of the page; 0 is none.
        """
        self._body = self._bodies.frame_of(body)
        names = self.names
        if self.selected not in names:
            self.select(names[0] if names else "")
        late = self._now() - _SILENT_S
        silent = [name for name, (_, at) in self._held.items() if at < late]
        for name in silent:
            self.hold(name, None)

    def stop(self) -> None:
        """Release all."""
        if self._held:
            self._held.clear()
            self._command()

    def set_full(self, values: Mapping[str, object]) -> None:
        """Set the values at full deflection that are valid."""
        for name, scale in SCALES.items():
            value = values.get(name)
            if isinstance(value, float) and SMALLEST <= value <= scale.largest:
                self.full[name] = value

    def _shares(self) -> np.ndarray:
        """Return the sum of all that is held.  # (2, 3)"""
        held = (np.array(shares) for shares, _ in self._held.values())
        return np.clip(sum(held, np.zeros((2, 3))), -1.0, 1.0)

    def _command(self) -> None:
        topic = _velocity_topic(self.selected)
        if self.is_body:
            self.request = self._bodies.push(self.selected.removeprefix(BODY), *self.commanded)
        elif topic and self._held:
            self.request = self._velocities.command(topic, *self.commanded)
        elif topic:
            self._velocities.stop(topic)
        elif self._held:
            until = self._now() + _SILENT_S
            self._motion.command(self.selected, *_vectors(self._shares()), until)
        else:
            self._motion.stop()


def _tool_name(topic: str) -> str:
    """Return the name of the tool with a topic."""
    return f"{_TOOL}{topic.removesuffix(_TOPIC) or '/'}"


def _velocity_topic(name: str) -> str:
    """Return the topic of the velocity of a robot or tool; empty for a frame."""
    if name.startswith(_TOOL):
        return f"{name.removeprefix(_TOOL).rstrip('/')}{_TOPIC}"
    return name if name.startswith("/") else ""


def _vectors(values: np.ndarray) -> Shares:
    """Return two vectors without a negative zero."""
    (x, y, z), (roll, pitch, yaw) = (values + 0.0).tolist()
    return (x, y, z), (roll, pitch, yaw)
