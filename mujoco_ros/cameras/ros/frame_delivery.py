"""Frames on their way to their subscriptions: late, or lost."""

import math
import zlib
from collections import deque
from dataclasses import dataclass, field

import numpy as np
from rclpy.serialization import serialize_message

from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.model.realism_config import AT_ONCE, Delivery

LARGEST_BYTES = 256 << 20
"""Bytes of one source in flight; the frames that wait longest are lost beyond it."""


@dataclass(slots=True, eq=False)
class _Frame:
    """The messages of one frame.

    Attributes:
        time: Simulated time of its state [s].
        arrival: Simulated time from which on it is published [s].
        messages: Its serialized messages, with their publishers.
    """

    time: float
    arrival: float
    messages: list[tuple[TopicPublisher, bytes]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Number of bytes."""
        return sum(len(message) for _, message in self.messages)


class FrameDelivery:
    """Publishes the messages of frames when these arrive.

    Which frames are lost, and how late the others are, follows from the seed, the name and the
    simulated time alone, so it repeats after a reset.

    Attributes:
        settings: Delay, jitter and dropout.
        lost: Number of frames that were lost, overtaken by later ones included.
    """

    def __init__(self, name: str, seed: int, settings: Delivery) -> None:
        """Deliver the frames of the source `name`."""
        self._key = seed, zlib.crc32(name.encode())
        self.settings = settings
        self.lost = 0
        self._in_flight: deque[_Frame] = deque()
        self._open: _Frame | None = None

    @property
    def next_arrival(self) -> float:
        """Simulated time at which the next frame arrives [s]; inf if none is in flight."""
        return min((it.arrival for it in self._in_flight), default=math.inf)

    def begin(self, time: float, *, at_once: bool = False) -> bool:
        """Begin the frame of a simulated time [s]; return whether it will arrive.

        Args:
            time: The time.
            at_once: Whether it is neither late nor lost; it overtakes those in flight.
        """
        settings, self._open = self.settings, None
        if at_once or settings == AT_ONCE:
            self.discard()
            return True
        kept, late = np.random.default_rng((*self._key, round(time * 1e9))).random(2)
        if kept < settings.dropout:
            self.lost += 1
            return False
        delay = settings.delay + late * settings.jitter
        self._open = _Frame(time, time + delay)
        return True

    def send(self, publisher: TopicPublisher, message: object) -> None:
        """Publish a message of the frame that was begun last, when it arrives."""
        if self._open is None:
            publisher.send(message)
            return
        data = message if isinstance(message, bytes) else serialize_message(message)
        self._open.messages.append((publisher, data))

    def end(self) -> None:
        """Complete the frame that was begun last, which may arrive at the time of its state."""
        frame, self._open = self._open, None
        if frame is None or not frame.messages:
            return
        self._in_flight.append(frame)
        size = sum(it.size for it in self._in_flight)
        while size > LARGEST_BYTES:
            size -= self._in_flight.popleft().size
            self.lost += 1

    def deliver(self, time: float) -> None:
        """Publish the frames that have arrived at a simulated time [s].

        If the time was set back, the frames of the time before are discarded.
        """
        if not self._in_flight:
            return
        if self._in_flight[-1].time > time + _ROUNDING_S:
            self.discard()
            return
        arrived = [it for it in self._in_flight if it.arrival <= time + _ROUNDING_S]
        if not arrived:
            return
        latest, published = -math.inf, 0
        for frame in sorted(arrived, key=lambda it: it.arrival):
            if frame.time >= latest:
                latest, published = frame.time, published + 1
                for publisher, message in frame.messages:
                    publisher.send(message)
        remaining = deque(it for it in self._in_flight if it.time > latest)
        self.lost += len(self._in_flight) - len(remaining) - published
        self._in_flight = remaining

    def discard(self) -> None:
        """Lose the frames in flight."""
        self.lost += len(self._in_flight)
        self._in_flight.clear()


_ROUNDING_S = 1e-9
"""Tolerance: a sum of time steps may be slightly less than an arrival."""
