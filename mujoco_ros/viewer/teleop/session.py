"""A connected page: its control, its requests, and its motion, which ends with it."""

import json
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.clients import ImageKey, ImageKind, Vector
from mujoco_ros.viewer.control_slot import ControlSlot
from mujoco_ros.viewer.teleop.frame_motion import SPEED_M_S, SPEED_RAD_S, FrameMotion
from mujoco_ros.viewer.teleop.status import PageStatus, is_tool, velocity_topic
from mujoco_ros.viewer.web.access import Role

IMAGE_WIDTH = 480
"""Largest width of the images [px]; no panel subscribes to this one."""
_LONGEST_MESSAGE = 2048
_MOTION_S, _SILENT_S = 0.5, 5.0
"""Times without a message after which a motion ends, and after which the page is gone [s]."""
_MOST_UNACKNOWLEDGED = 2
_ALWAYS_ALLOWED = ("alive", "camera", "drawn", "received")
_TWIST = ("linear", "angular")
Speeds = Mapping[str, float]


class TeleopSession:
    """Applies the messages of a page, each a JSON object with one request by its name."""

    def __init__(
        self,
        clients: Clients,
        motion: FrameMotion,
        speeds: Speeds,
        slot: ControlSlot,
        role: Role,
        status: PageStatus,
        now: Callable[[], float],
    ) -> None:
        """Begin without control, with a monotonic clock [s] and speeds as of `TeleopServer`."""
        self._clients, self._motion, self._speeds = clients, motion, speeds
        self.role = role  # what the page may do
        self._slot, self._status, self._now = slot, status, now
        self.camera = ""  # the selected camera by its name; empty if none
        self.wants_image = True  # whether the page has displayed the last image
        self.is_motion_commanded = False  # whether the page moves something
        self._moved = ""
        self._unacknowledged = 0
        self._acknowledged: tuple[float, float] | None = None  # page's clock [ms], arrival [s]
        self._commanded_at = self._received_at = now()
        self._actions: Mapping[str, Callable[[Any], object]] = {
            "alive": lambda _: None,
            "camera": self._select_camera,
            "drawn": self._note_drawn,
            "received": self._note_received,
            "control": self._change_control,
            "pause": lambda _: clients.simulation.pause(),
            "play": lambda _: clients.simulation.play(),
            "step": lambda _: clients.simulation.step(),
            "transition": self._request_transition,
            "move": self._move,
            "stop": lambda _: self.stop(),
        }

    @property
    def control(self) -> str:
        """What the page displays about control: ``yours``, ``taken``, ``free`` or ``watch``."""
        if self.role is Role.WATCH:
            return str(Role.WATCH)
        if self._slot.owner is self:
            return "yours"
        return "free" if self._slot.owner is None else "taken"

    @property
    def requests(self) -> int:
        """Number of pages that wait for the control of this one."""
        return len(self._slot.waiting) if self._slot.owner is self else 0

    @property
    def is_waiting(self) -> bool:
        """Whether this page waits for control."""
        return self in self._slot.waiting

    @property
    def is_silent(self) -> bool:
        """Whether the page has sent nothing for a while, and counts as gone."""
        return self._now() - self._received_at > _SILENT_S

    @property
    def takes_status(self) -> bool:
        """Whether a status is due; one that waits in the network would delay newer ones.

        A page that acknowledges them, by the time of its own clock [ms], has at most two
        unacknowledged.
        """
        return self._acknowledged is None or self._unacknowledged < _MOST_UNACKNOWLEDGED

    def note_sent(self) -> None:
        """Note that a status is being sent to the page."""
        self._unacknowledged += 1

    def mark(self, at: float) -> float | None:
        """Return a monotonic time [s] on the page's clock [ms], at the earliest; it may be None."""
        if self._acknowledged is None or not math.isfinite(at):
            return None
        value, arrival = self._acknowledged
        return value + 1e3 * (at - arrival)

    def receive(self, message: str | bytes) -> None:
        """Apply a message; an error says that it is invalid, or not allowed, and has no effect."""
        self._received_at = self._now()
        name, value = self._parse(message)
        if name not in _ALWAYS_ALLOWED and self.role is not Role.CONTROL:
            raise UserInputError("this page is read-only")
        # Every page may pause: it is the safe state.
        if name in ("play", "step", "transition", "move") and self._slot.owner is not self:
            raise UserInputError("another page has control" if self._slot.owner else "take control")
        self._actions[name](value)

    def check(self) -> None:
        """End the motion if the page has not commanded it for a while."""
        if self.is_motion_commanded and self._now() - self._commanded_at > _MOTION_S:
            self.stop()

    def stop(self) -> None:
        """End the motion that this page commands."""
        if self.is_motion_commanded:
            self.is_motion_commanded = False
            if topic := velocity_topic(self._moved):
                self._clients.velocities.stop(topic)
            else:
                self._motion.stop()

    def close(self) -> None:
        """End the motion, and release control."""
        self.stop()
        self._slot.release(self)
        self.camera = ""

    def image_key(self) -> ImageKey | None:
        """Return the image of the selected camera."""
        camera = self._status.cameras.get(self.camera)
        return None if camera is None else ImageKey(camera, ImageKind.COLOUR, IMAGE_WIDTH)

    def _parse(self, message: str | bytes) -> tuple[str, Any]:
        if len(message) > _LONGEST_MESSAGE:
            raise UserInputError(f"a message has more than {_LONGEST_MESSAGE} characters")
        try:
            parsed = json.loads(message)
        except (ValueError, RecursionError) as error:
            raise UserInputError(f"a message is no JSON: {error}") from error
        names = list(parsed) if isinstance(parsed, dict) else []
        if len(names) != 1 or names[0] not in self._actions:
            known = ", ".join(self._actions)
            raise UserInputError(f"a message must be an object with one of: {known}")
        return names[0], parsed[names[0]]

    def _known(self, kind: str, value: Any) -> str:
        """Return a name that is in a list of the status."""
        known = self._status.values.get(kind, ())
        if value not in known:
            raise UserInputError(f"{value!r:.100} is none of: {', '.join(known) or 'nothing'}")
        return str(value)

    def _select_camera(self, value: Any) -> None:
        self.camera = "" if value is None else self._known("cameras", value)
        self.wants_image = True

    def _note_drawn(self, _: Any) -> None:
        self.wants_image = True

    def _note_received(self, value: Any) -> None:
        if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
            raise UserInputError("a time of receipt is a finite number")
        self._unacknowledged = max(self._unacknowledged - 1, 0)
        self._acknowledged = float(value), self._received_at

    def _change_control(self, value: Any) -> None:
        actions = {
            "take": self._slot.take_control,
            "request": self._slot.request,
            "release": self._slot.release,
            "deny": self._slot.deny,
        }
        if not isinstance(value, str) or value not in actions:
            raise UserInputError(f"control is one of: {', '.join(actions)}")
        if value == "release":
            self.stop()
        actions[value](self)

    def _request_transition(self, value: Any) -> None:
        if not isinstance(value, list) or [type(entry) for entry in value] != [str, str]:
            raise UserInputError("a transition is a list of a controller and a label")
        self._clients.controllers.change_state(*value)

    def _move(self, value: Any) -> None:
        if not isinstance(value, dict) or set(value) != {"name", *_TWIST}:
            raise UserInputError("a motion has: name, linear, angular")
        name = self._known("movable", value["name"])
        linear, angular = (_deflections(key, value[key]) for key in _TWIST)
        if name != self._moved:
            self.stop()
        self._moved, self.is_motion_commanded = name, True
        self._commanded_at = self._now()
        if topic := velocity_topic(name):
            fastest, turning = self._fastest(name)
            self._clients.velocities.command(
                topic, _scaled(linear, fastest), _scaled(angular, turning)
            )
        else:
            self._motion.command(name, linear, angular, self._commanded_at + _MOTION_S)

    def _fastest(self, name: str) -> tuple[Vector, Vector]:
        if is_tool(name):
            return (SPEED_M_S,) * 3, (SPEED_RAD_S,) * 3
        speeds = self._speeds
        return (speeds["forwards"], speeds["left"], 0.0), (0.0, 0.0, speeds["turn"])


def _scaled(deflections: Vector, fastest: Vector) -> Vector:
    x, y, z = (share * speed for share, speed in zip(deflections, fastest, strict=True))
    return x, y, z


def _deflections(name: str, value: Any) -> Vector:
    if not isinstance(value, list) or not (
        len(value) == 3 and all(type(number) in (int, float) for number in value)
    ):
        raise UserInputError(f"{name} is a list of three numbers")
    if not all(-1 <= number <= 1 for number in value):  # false for NaN
        raise UserInputError(f"the numbers of {name} are from -1 to 1, got {value}")
    return float(value[0]), float(value[1]), float(value[2])
