"""Commands the velocity of a robot, a tool or a frame, while something on a page is held."""

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mujoco_ros.viewer.clients import Request, Vector
from mujoco_ros.viewer.frame_motion import SPEED_M_S, SPEED_RAD_S, FrameMotion
from mujoco_ros.viewer.ros.commands import VelocityPublisher

FASTEST = {"forwards": 0.3, "left": 0.1, "turn": 0.35}
"""Velocities of a robot at full deflection, at first [m/s, m/s, rad/s]."""
LARGEST, SMALLEST = 10.0, 0.01
"""Bounds of these velocities."""
_SILENT_S = 1.0  # what is held counts as released if its page has sent nothing for so long

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
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Command by clients; `now` is monotonic [s]."""
        self.selected = ""  # what it moves, one of `names`; empty for nothing
        self.fastest = dict(FASTEST)  # see FASTEST
        self.request: Request | None = None  # of the last motion
        self._velocities, self._motion, self._now = velocities, motion, now
        self._held: dict[str, tuple[Shares, float]] = {}  # since when, by the name of what is held

    @property
    def names(self) -> Sequence[str]:
        """What can be moved."""
        tools = map(_tool_name, self._velocities.tool_topics)
        return [*self._velocities.topics, *tools, *self._motion.names]

    @property
    def is_robot(self) -> bool:
        """Whether it moves a robot, which has no velocity upwards."""
        return self.selected.startswith("/")

    @property
    def velocity(self) -> Shares:
        """The commanded velocity [m/s, rad/s]."""
        fastest = np.array([[SPEED_M_S] * 3, [SPEED_RAD_S] * 3])
        if self.is_robot:
            forwards, left, turn = (self.fastest[name] for name in FASTEST)
            fastest = np.array([[forwards, left, 0.0], [0.0, 0.0, turn]])
        return _vectors(fastest * self._shares())

    @property
    def is_driving(self) -> bool:
        """Whether it commands a velocity."""
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

    def tick(self) -> None:
        """Select something that can be moved; release what the page does not report any more."""
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

    def set_fastest(self, values: Mapping[str, object]) -> None:
        """Set the velocities at full deflection that are valid."""
        for name in FASTEST:
            value = values.get(name)
            if isinstance(value, float) and SMALLEST <= value <= LARGEST:
                self.fastest[name] = value

    def _shares(self) -> np.ndarray:
        """Return the sum of all that is held.  # (2, 3)"""
        held = (np.array(shares) for shares, _ in self._held.values())
        return np.clip(sum(held, np.zeros((2, 3))), -1.0, 1.0)

    def _command(self) -> None:
        topic = _velocity_topic(self.selected)
        if topic and self._held:
            self.request = self._velocities.command(topic, *self.velocity)
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
