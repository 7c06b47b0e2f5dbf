"""Recording of selected topics into a bag, at simulated times."""

import logging
import math
import re
import time
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any, Protocol

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rosgraph_msgs.msg import Clock

from mujoco_ros.rclpy_ext.endpoints import losses
from mujoco_ros.recording.metadata import RecordedTopic, listed
from mujoco_ros.recording.ros.bag import as_rosbag2
from mujoco_ros.wire.conversions import nanoseconds
from mujoco_ros.wire.qos import message_class, subscription_qos

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Selected topics; without `topics` and `regex`, all."""

    topics: frozenset[str] = frozenset()
    regex: re.Pattern[str] | None = None  # of whole names to record
    exclude: re.Pattern[str] | None = None  # of whole names not to record
    hidden: bool = False  # whether to record hidden topics, such as the topics of actions

    def includes(self, name: str) -> bool:
        """Return whether a topic is recorded."""
        if self.exclude is not None and self.exclude.fullmatch(name):
            return False
        if name in self.topics:
            return True
        if not self.hidden and any(part.startswith("_") for part in name.split("/")):
            return False
        if self.regex is not None:
            return self.regex.fullmatch(name) is not None
        return not self.topics


_DEPTH = 1000  # queue length of a subscription: one second of a topic at 1 kHz
_CAPACITY = 4000  # ticks kept: four seconds of a clock at 1 kHz; messages are taken every 50 ms


class SimClock:
    """Recent ticks of /clock with their reception times."""

    def __init__(self, node: Node) -> None:
        """Subscribe to /clock; `update` takes its messages."""
        qos = QoSProfile(depth=_DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._subscription = _subscribe(node, Clock, "/clock", qos)
        self._is_warned = False
        self._received: deque[int] = deque(maxlen=_CAPACITY)
        self._simulated: deque[int] = deque(maxlen=_CAPACITY)

    @property
    def started(self) -> bool:
        """Whether any tick was received."""
        return bool(self._received)

    def update(self) -> None:
        """Take the received ticks."""
        for data, info in _take(self._subscription, Clock):
            try:
                simulated = nanoseconds(deserialize_message(data, Clock).clock)
            except Exception:  # the middleware raises its own kinds
                self._warn("messages of /clock that have no time are ignored")
                continue
            if simulated >= 0:
                self.add(info["received_timestamp"] or time.time_ns(), simulated)
            else:
                self._warn(f"negative times of /clock are ignored: {simulated} ns")

    def _warn(self, text: str) -> None:
        if not self._is_warned:
            self._is_warned = True
            _LOG.warning("%s", text)

    def add(self, received: int, simulated: int) -> None:
        """Add a tick: reception time and simulated time [ns]."""
        self._received.append(received)
        self._simulated.append(simulated)

    def time_at(self, received: int) -> int:
        """Return the simulated time at a reception time [ns]."""
        index = bisect_right(self._received, received)
        return self._simulated[max(0, index - 1)]


def _subscribe(node: Node, message: type, topic: str, qos: QoSProfile) -> Any:
    """Return a subscription whose serialized messages are taken by `_take`."""
    return node.create_subscription(
        message,
        topic,
        lambda _message: None,
        qos,
        raw=True,
        event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
    )


def _take(subscription: Any, message: type) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield received messages and times, at most a queue's, as publishers may be faster."""
    return islice(iter(partial(subscription.handle.take_message, message, True), None), _DEPTH)


_DISCOVERY_S = 0.2
_SEQUENCES = 1 << 32
_MARGIN_NS = 2_000_000  # longest time from a message's reception stamp until it can be taken
_NEVER = 1 << 63

# Reception time and source time [ns], sequence number, topic, data.
_Received = tuple[int, int, int, RecordedTopic, bytes]
_TIME: Callable[[_Received], int] = itemgetter(0)


class MessageSink(Protocol):
    """What recorded messages are written into, such as a `Bag`."""

    def add(self, topic: RecordedTopic) -> None:
        """Add a topic before its first message."""

    def write(
        self, topic: RecordedTopic, log: int, publish: int, number: int, data: bytes, /
    ) -> None:
        """Add a message with its times [ns] and its sequence number."""


class Recorder:
    """Records selected topics, including those that appear later.

    No executor is needed: messages are taken from each subscription in turn, with the reception
    time of the middleware, which costs a fraction of a callback per message.
    """

    def __init__(
        self, node: Node, bag: MessageSink, selection: Selection, clock: SimClock | None = None
    ) -> None:
        """Start without a topic, with simulated time if there is a `clock`; `node` is not spun."""
        self._node, self._bag, self._selection, self._clock = node, bag, selection, clock
        self._inputs: dict[str, _TopicInput] = {}
        self._rejected: set[str] = set()
        self._received: list[_Received] = []
        self._discover_at = 0.0  # monotonic time [s]

    @property
    def topics(self) -> int:
        """Number of recorded topics."""
        return len(self._inputs)

    @property
    def problems(self) -> Iterator[str]:
        """What is or may be missing, as sentences."""
        inputs = self._inputs.items()
        if lost := Counter({name: count for name, source in inputs if (count := source.lost)}):
            yield f"lost on the way to the recorder: {listed(lost)}"
        if overruns := [name for name, source in inputs if source.has_overrun]:
            topics = ", ".join(map(repr, overruns))
            yield f"more messages than the queue holds, so some may be lost: {topics}"
        seen = {name for name, source in inputs if source.topic.qos} | self._rejected
        if absent := sorted(filter(self._selection.includes, self._selection.topics - seen)):
            yield f"not recorded, as nothing published them: {', '.join(map(repr, absent))}"

    def _discover(self) -> None:
        """Subscribe to new topics, and again to those whose publishers offer other QoS."""
        for name, kinds in self._node.get_topic_names_and_types():
            if name in self._rejected or not self._selection.includes(name):
                continue
            offers = self._node.get_publishers_info_by_topic(name)
            known = self._inputs.get(name)
            if known is None:
                self._add(name, kinds, offers)
            elif known.update_qos(offers):
                known.take(self._received)
                known.resubscribe()

    def update(self) -> None:
        """Write received messages into the bag in the order of reception; look for new topics."""
        if (now := time.monotonic()) >= self._discover_at:
            self._discover()
            self._discover_at = now + _DISCOVERY_S
        # The latest wait: an earlier message of another topic may not be available yet.
        self._write(until=time.time_ns() - _MARGIN_NS)

    def close(self, deadline: float = math.inf) -> bool:
        """Write the remaining messages; False if some were left at a monotonic time [s]."""
        is_complete = self._write(until=_NEVER, deadline=deadline)
        for known in self._inputs.values():
            known.close()
        return is_complete

    def _write(self, until: int, deadline: float = math.inf) -> bool:
        is_complete = True
        for known in self._inputs.values():
            if time.monotonic() > deadline:
                is_complete = False
                break
            known.take(self._received)
        if self._clock is not None:
            self._clock.update()
        messages, bag, clock = self._received, self._bag, self._clock
        messages.sort(key=_TIME)
        count = bisect_right(messages, until, key=_TIME)
        for received, sent, sequence, topic, data in messages[:count]:
            if clock is None:
                bag.write(topic, received, sent, sequence, data)
            else:
                simulated = clock.time_at(received)
                bag.write(topic, simulated, simulated, sequence, data)
        del messages[:count]
        return is_complete

    def _add(self, name: str, kinds: list[str], offers: list[TopicEndpointInfo]) -> None:
        kind = kinds[0]
        message = message_class(kind)
        if len(kinds) > 1:
            self._reject(name, f"it has several types: {', '.join(kinds)}")
        elif message is None:
            self._reject(name, f"the package of its type {kind} is not installed")
        else:
            try:
                known = _TopicInput(self._node, name, kind, message, offers)
            except Exception as error:  # rclpy has no narrower type
                self._reject(name, f"{type(error).__name__}: {error}")
                return
            self._bag.add(known.topic)
            self._inputs[name] = known
            _LOG.info("recording '%s' (%s)", name, kind)

    def _reject(self, name: str, reason: str) -> None:
        self._rejected.add(name)
        _LOG.warning("'%s' is not recorded: %s", name, reason)


class _TopicInput:
    """Subscription to a recorded topic."""

    def __init__(
        self, node: Node, name: str, kind: str, message: type, offers: list[TopicEndpointInfo]
    ) -> None:
        self._node, self._message = node, message
        self.topic = RecordedTopic(name=name, kind=kind, type_hash="", qos=[])
        self._qos = subscription_qos([], _DEPTH)
        self._newest = self._repeated_until = self._lost_before = 0
        self._losses: Any = None
        self.has_overrun = False
        self.update_qos(offers)
        self._subscription = self._subscribe()

    @property
    def lost(self) -> int:
        """Number of messages lost on the way to this subscription and the ones before."""
        event = self._losses and self._losses.take_event()
        return self._lost_before + (event.total_count if event else 0)

    def update_qos(self, offers: list[TopicEndpointInfo]) -> bool:
        """Note the offers of publishers; return whether they need another subscription."""
        for offer in offers:
            profile = as_rosbag2(offer.qos_profile)
            if profile not in self.topic.qos:
                self.topic.qos.append(profile)
            # rclpy before Jazzy has no hashes.
            type_hash = str(getattr(offer, "topic_type_hash", ""))
            self.topic.type_hash = self.topic.type_hash or type_hash
        if not offers:
            return False
        qos = subscription_qos([offer.qos_profile for offer in offers], _DEPTH)
        changed = bool(qos != self._qos)
        self._qos = qos
        return changed

    def take(self, messages: list[_Received]) -> None:
        topic, count = self.topic, 0
        for data, info in _take(self._subscription, self._message):
            count += 1
            # Fields that a middleware leaves out are zero or None, and a sender may set any time.
            received = info["received_timestamp"] or time.time_ns()
            sent = info["source_timestamp"] or received
            sent = sent if sent > 0 else received
            if sent <= self._repeated_until:
                continue
            if sent > self._newest:
                self._newest = sent
            number = (info["publication_sequence_number"] or 0) % _SEQUENCES
            messages.append((received, sent, number, topic, data))
        self.has_overrun |= count == _DEPTH

    def resubscribe(self) -> None:
        self.close()
        # The new subscription receives transient-local messages again.
        self._repeated_until = self._newest
        self._subscription = self._subscribe()

    def close(self) -> None:
        self._lost_before, self._losses = self.lost, None
        self._node.destroy_subscription(self._subscription)

    def _subscribe(self) -> Any:
        subscription = _subscribe(self._node, self._message, self.topic.name, self._qos)
        self._losses = losses(subscription)
        return subscription
