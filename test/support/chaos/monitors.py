"""Checks of everything that a simulator publishes, while it is under attack."""

from collections import Counter
from collections.abc import Iterator
from math import isfinite, isnan
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus, GoalStatusArray
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from simulators import DEEP, Listener, Recording
from std_msgs.msg import Header

from mujoco_ros.wire.qos import message_class

_CHECKED = 40
"""Messages of a topic that are decoded at a time: the newest ones, since decoding is slow."""
_WITHOUT_STATE = ("/rosout", "/parameter_events")
_WITHOUT_POSITION = "joint_references"
"""Topic whose positions are NaN while a joint follows a velocity or an effort alone."""
_ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)
_RELIABLE = QoSProfile(depth=DEEP, reliability=ReliabilityPolicy.RELIABLE)
_LATCHED = QoSProfile(
    depth=DEEP,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


class Monitors:
    """Subscribes to the topics of a simulator and collects what must not happen.

    Attributes:
        problems: What happened, in words.
        clock: Newest time of /clock [ns].
    """

    def __init__(self, listener: Listener, topics: dict[str, str], actions: list[str]) -> None:
        """Subscribe to `topics` (types by name) and to the status of `actions`."""
        self.problems: list[str] = []
        self.clock = -1
        self._jumps_back = self._resets = 0
        self._listener = listener
        self._clock = listener.record(Clock, "/clock", qos=_RELIABLE)
        self._events = listener.record(Header, "/mujoco/reset_event", qos=_RELIABLE)
        self._statuses = [
            listener.record(GoalStatusArray, f"{action}/_action/status", qos=_LATCHED)
            for action in actions
        ]
        self._ended: dict[bytes, int] = {}
        self._topics: dict[str, Recording] = {}
        for name, kind in topics.items():
            found = message_class(kind)
            if found is not None and name not in (*_WITHOUT_STATE, "/clock"):
                self._topics[name] = listener.record(found, name)

    def expect_reset(self) -> None:
        """Allow the clock to jump back once more: another world was requested."""
        self._resets += 1

    def update(self) -> None:
        """Check the messages that were received since the last call."""
        self._resets += len(self._events.raw)
        self._events.raw.clear()
        for message in self._clock.messages:
            now = message.clock.sec * 1_000_000_000 + message.clock.nanosec
            self._jumps_back += now < self.clock
            self.clock = now
        self._clock.raw.clear()
        for name, recording in self._topics.items():
            del recording.raw[:-_CHECKED]
            for message in recording.messages:
                if name.endswith(f"/{_WITHOUT_POSITION}"):
                    message.position = [0.0 if isnan(p) else p for p in message.position]
                if field := _not_finite(message):
                    self.problems.append(f"{name} has a number that is not finite: {field}")
            recording.raw.clear()
        for recording in self._statuses:
            for message in recording.messages:
                self._check_goals(message)
            recording.raw.clear()

    def finish(self) -> None:
        """Check what only holds at the end, when all messages have arrived."""
        self.update()
        if self._jumps_back > self._resets:
            self.problems.append(
                f"the clock jumped back {self._jumps_back} times at {self._resets} resets"
            )

    def _check_goals(self, message: GoalStatusArray) -> None:
        for goal in message.status_list:
            number = bytes(goal.goal_info.goal_id.uuid)
            ended = self._ended.get(number)
            if ended is not None and goal.status != ended:
                self.problems.append(f"an ended goal changed from status {ended} to {goal.status}")
            if goal.status in _ENDED:
                self._ended[number] = goal.status
        counts = Counter(bytes(goal.goal_info.goal_id.uuid) for goal in message.status_list)
        if twice := [number.hex() for number, count in counts.items() if count > 1]:
            self.problems.append(f"a goal is listed twice: {twice[0]}")


def _not_finite(message: Any) -> str:
    """Return the name and value of a number of a message that is not finite, if there is one."""
    return next(
        (f"{name} = {value}" for name, value in _numbers(message) if not isfinite(value)), ""
    )


def _numbers(message: Any, name: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(message, float):
        yield name, message
    elif hasattr(message, "get_fields_and_field_types"):
        for field in message.get_fields_and_field_types():
            yield from _numbers(getattr(message, field), f"{name}.{field}".lstrip("."))
    elif isinstance(message, np.ndarray) or getattr(message, "typecode", "") in ("f", "d"):
        values = np.asarray(message, dtype=float).ravel()
        for i in np.flatnonzero(~np.isfinite(values)):
            yield f"{name}[{i}]", float(values[i])
    elif isinstance(message, list | tuple):
        for i, part in enumerate(message):
            yield from _numbers(part, f"{name}[{i}]")
