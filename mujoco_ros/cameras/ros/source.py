"""Frames: messages computed from a state, published at their own rate, late or lost."""

import logging
import math
import zlib
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from builtin_interfaces.msg import Time
from rclpy.serialization import serialize_message

from mujoco_ros.bridge.parameters.parameters import changed_settings
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.cameras.ros.frame_parameters import parameter_of
from mujoco_ros.model.realism_config import AT_ONCE, Delivery
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.process.heartbeat import FrameTimeout

LARGEST_BYTES = 256 << 20
"""Bytes of one source in flight; the frames that wait longest are lost beyond it."""


@dataclass(slots=True, eq=False)
class _Frame:
    """The messages of one frame."""

    time: float  # simulated time of its state [s]
    arrival: float  # simulated time from which on it is published [s]
    # Its serialized messages, with their publishers
    messages: list[tuple[TopicPublisher, bytes]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(len(message) for _, message in self.messages)


class FrameDelivery:
    """Publishes the messages of frames when these arrive.

    The seed, the name and the simulated time alone decide which are late and which are lost.
    """

    def __init__(self, name: str, seed: int, settings: Delivery) -> None:
        """Deliver the frames of the source `name`."""
        self._key = seed, zlib.crc32(name.encode())
        self.settings = settings  # delay, jitter and dropout
        self.lost = 0  # number of frames that were lost, overtaken by later ones included
        self._in_flight: deque[_Frame] = deque()
        self._open: _Frame | None = None

    @property
    def next_arrival(self) -> float:
        """Simulated time at which the next frame arrives [s]; inf if none is in flight."""
        return min((frame.arrival for frame in self._in_flight), default=math.inf)

    def begin(self, time: float, *, at_once: bool = False) -> bool:
        """Begin the frame of a simulated time [s]; return whether it will arrive.

        `at_once` it is neither late nor lost, and overtakes the frames in flight.
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
        size = sum(waiting.size for waiting in self._in_flight)
        while size > LARGEST_BYTES:
            size -= self._in_flight.popleft().size
            self.lost += 1

    def deliver(self, time: float) -> None:
        """Publish the frames that have arrived at a time [s]; a reset discards earlier ones."""
        if not self._in_flight:
            return
        if self._in_flight[-1].time > time + _ROUNDING_S:
            self.discard()
            return
        arrived = [frame for frame in self._in_flight if frame.arrival <= time + _ROUNDING_S]
        if not arrived:
            return
        latest, published = -math.inf, 0
        for frame in sorted(arrived, key=lambda frame: frame.arrival):
            if frame.time >= latest:
                latest, published = frame.time, published + 1
                for publisher, message in frame.messages:
                    publisher.send(message)
        remaining = deque(frame for frame in self._in_flight if frame.time > latest)
        self.lost += len(self._in_flight) - len(remaining) - published
        self._in_flight = remaining

    def discard(self) -> None:
        """Lose the frames in flight."""
        self.lost += len(self._in_flight)
        self._in_flight.clear()


_ROUNDING_S = 1e-9  # tolerance: a sum of time steps may be slightly less than an arrival


_LOG = logging.getLogger(__name__)


@dataclass
class FrameStatistics:
    """Statistics of the frames since the last report."""

    total: int = 0  # number of frames since the start
    _frames: int = 0
    _sum_s: float = 0.0
    _longest_s: float = 0.0

    def add(self, seconds: float) -> None:
        """Add a frame with the duration from its due time to its last message."""
        self.total += 1
        self._frames += 1
        self._sum_s += seconds
        self._longest_s = max(self._longest_s, seconds)

    def take_latest(self) -> tuple[int, float, float]:
        """Return number, mean and longest duration [s] since the last call."""
        frames, mean = self._frames, self._sum_s / self._frames if self._frames else 0.0
        longest = self._longest_s
        self._frames, self._sum_s, self._longest_s = 0, 0.0, 0.0
        return frames, mean, longest


_ROUNDING = 1e-6
"""Tolerance, in frames: a sum of time steps may be slightly less than a frame's due time."""


class FrameRate:
    """Frame k is due at the first state at or after k / rate, by the simulated time alone."""

    def __init__(self, rate: float) -> None:
        """Set the number of frames per simulated second; 0 is off."""
        self._rate = rate
        self._last: int | None = None

    @property
    def rate(self) -> float:
        """Frames per simulated second."""
        return self._rate

    @rate.setter
    def rate(self, rate: float) -> None:
        self._rate = rate
        self.restart()

    def is_due(self, time: float) -> bool:
        """Return whether a frame is due at a state of a simulated time [s]."""
        if self._rate <= 0:
            return False
        index = self._index(time)
        if self._last is None:
            is_late = time * self._rate - index > _ROUNDING
            self._last = index if is_late else index - 1
        return index != self._last

    def note(self, time: float) -> None:
        """Record that a frame shows the state at a simulated time [s]."""
        if self._rate > 0:
            self._last = self._index(time)

    def restart(self) -> None:
        """Continue with the next frame that is not late."""
        self._last = None

    def time_to_next(self, time: float) -> float:
        """Return the simulated time until the next frame [s]; inf if the rate is 0."""
        if self._rate <= 0:
            return math.inf
        return 0.0 if self.is_due(time) else (self._index(time) + 1) / self._rate - time

    def _index(self, time: float) -> int:
        return math.floor(time * self._rate + _ROUNDING)


@dataclass(frozen=True, kw_only=True, slots=True)
class StateSnapshot:
    """A state of the simulation."""

    model: mujoco.MjModel  # the model, in this process
    # The state with its poses computed; quantities derived from them are not valid
    data: mujoco.MjData
    layout: ModelLayout  # the robots and sensors of the model
    time: float  # simulated time [s]
    stamp: Time  # simulated time in messages


class FrameSource(ABC):
    """Computes frames of states of one model for subscriptions, e.g. the images of a camera."""

    products: tuple[str, ...] = ()  # names of what it computes and counts
    # When its frames arrive; None if they are neither late nor lost
    delivery: FrameDelivery | None = None

    def __init__(self, name: str, rate: float, publishers: Iterable[TopicPublisher]) -> None:
        """Publish `rate` frames per simulated second."""
        # Namespace of its topics, e.g. ``arm/camera/wrist``.
        self.name = name
        self.publishers = tuple(publishers)  # publishers of its frames
        self.untried = set(self.publishers)  # publishers without a message of this model so far
        self.schedule = FrameRate(rate)  # times of its frames
        self.counts: Counter[str] = Counter()  # number of computations of each product
        self.statistics = FrameStatistics()  # number and duration of its frames
        self.timeout = FrameTimeout()  # timeout of its next frame
        self.failure = ""  # reason why its last frame failed; empty if it succeeded
        self.triggered = False  # whether a frame was requested since the last frame

    @abstractmethod
    def publish(self, snapshot: StateSnapshot) -> None:
        """Compute and publish the topics with a subscription."""

    def publish_frame(self, snapshot: StateSnapshot, *, at_once: bool) -> None:
        """Compute and deliver a frame, unless it is lost; `at_once` without delay and loss."""
        delivery = self.delivery
        if delivery is not None and not delivery.begin(snapshot.time, at_once=at_once):
            return
        self.untried = {publisher for publisher in self.untried if not publisher.subscriptions}
        self.publish(snapshot)
        if delivery is not None:
            delivery.end()

    @property
    def subscriptions(self) -> int:
        """Return the number of subscriptions of its frames."""
        return sum(publisher.subscriptions for publisher in self.publishers)

    @property
    def joined(self) -> bool:
        """Return whether a subscription has matched since the last frame."""
        return any(publisher.joined and publisher.subscriptions for publisher in self.publishers)

    @property
    def is_new(self) -> bool:
        """Return whether the next frame has a topic without a message of this model so far."""
        return any(publisher.subscriptions for publisher in self.untried)

    @property
    def parameter(self) -> str:
        """Return the prefix of its parameters."""
        return parameter_of(self.name)

    def repeat(self) -> None:
        """Publish the current state again while the simulation is stopped."""
        for publisher in self.publishers:
            publisher.joined = True

    def note_failure(self, error: Exception) -> None:
        """Store why a frame failed, and log it unless the previous frame failed for that reason."""
        failure = f"{type(error).__name__}: {error}"
        if failure != self.failure:
            _LOG.error("%s: frame failed: %s", self.name, failure, exc_info=error)
        self.failure = failure

    @property
    def warning(self) -> str:
        """Return the reason why a subscribed topic is not published; empty if all are."""
        return ""

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set its parameters among `values`."""
        rate = values.get(f"{self.parameter}.rate")
        if rate is not None and rate != self.schedule.rate:
            self.schedule.rate = rate
        delivery, prefix = self.delivery, f"{self.parameter}.delivery"
        if delivery is not None:
            delivery.settings = changed_settings(prefix, delivery.settings, values)

    def send(self, publisher: TopicPublisher, message: Any) -> None:
        """Publish a message of the present frame, when that arrives."""
        if self.delivery is None:
            publisher.send(message)
        else:
            self.delivery.send(publisher, message)
