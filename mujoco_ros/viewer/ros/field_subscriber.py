"""Subscriptions to numeric fields of any topic."""

import logging
import re
from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import inf, nan
from typing import Any

import numpy as np
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription

from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.viewer.clients import FieldKey, FieldSample
from mujoco_ros.wire.qos import message_class, subscription_qos

_LOG = logging.getLogger(__name__)

_PART = re.compile(r"\.?(\w+)(?:\[([^\]]*)\])?")
_MOST_ELEMENTS, _MOST_FIELDS = 100, 2000
"""Most elements of an array, and most fields of a message, in the list."""
_NAMES = "name"
"""Field with the names of the elements of the other arrays of a message, as in JointState."""
_LARGEST_LAG_S = 3600.0  # stamps further from the simulated time than this are on another clock


def numeric_paths(message: Any) -> tuple[str, ...]:
    """Return the paths of the numeric fields of a message, as in `FieldKey`."""
    return tuple(islice(_paths(message, ""), _MOST_FIELDS))


def reader(path: str) -> Callable[[Any], float]:
    """Return a function that reads a field of a message; it returns NaN without the element."""
    parts = [(match[1], match[2]) for match in _PART.finditer(path)]

    def read(message: Any) -> float:
        value = message
        try:
            for name, element in parts:
                owner, value = value, getattr(value, name)
                if element is not None:
                    value = value[_index(owner, element)]
            return float(value)
        except (AttributeError, LookupError, TypeError, ValueError):
            return nan

    return read


def message_time(message: Any, now: float) -> float:
    """Return the stamp of a message; the simulated time `now` if it has none of this clock [s]."""
    header = getattr(message, "header", message)
    stamp: Any = getattr(header, "stamp", None) or getattr(header, "clock", None)
    if not hasattr(stamp, "nanosec"):
        return now
    time = stamp.sec + 1e-9 * stamp.nanosec
    return time if abs(time - now) < _LARGEST_LAG_S and time else now


def _paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, bool | int | float | np.number):
        yield path
    elif hasattr(value, "get_fields_and_field_types"):
        names = getattr(value, _NAMES, None)
        for field in value.get_fields_and_field_types():
            inner = getattr(value, field)
            start = f"{path}.{field}" if path else field
            if _is_array(inner):
                for element, label in zip(inner, _labels(inner, names), strict=False):
                    yield from _paths(element, f"{start}[{label}]")
            else:
                yield from _paths(inner, start)


def _is_array(value: Any) -> bool:
    return isinstance(value, Sequence | array | np.ndarray) and not isinstance(value, str | bytes)


def _labels(values: Any, names: Any) -> list[str]:
    """Return what is written in brackets for the listed elements of an array."""
    count = min(len(values), _MOST_ELEMENTS)
    if isinstance(names, list) and len(names) == len(values) and names is not values:
        return [str(name) for name in names[:count]]
    return [str(index) for index in range(count)]


def _index(owner: Any, element: str) -> int:
    names = getattr(owner, _NAMES, None)
    if isinstance(names, list) and element in names:
        return names.index(element)
    return int(element)


_GRAPH_S = 1.0  # period in which topics are searched [s]
_INSPECTED_S = 2.0  # how long a topic is received after its fields were last asked for
_DEPTH = 1000  # messages of a topic that may wait: a second at 1 kHz
_MOST_SAMPLES = 50_000  # samples that wait for `take`; the oldest of more are dropped
_LARGEST = 1 << 20  # larger messages, as images and point clouds, are not read [bytes]

Read = Callable[[Any], float]


@dataclass(eq=False, slots=True)
class _Input:
    """A subscribed topic."""

    kind: str  # type of its messages
    message: type  # class of its messages
    subscription: Subscription
    # Functions that read the watched fields, by path
    reads: dict[str, Read] = field(default_factory=dict)


class FieldSubscriber:
    """Finds all topics, and receives watched fields; any thread may call all but `tick`."""

    def __init__(self, endpoints: Endpoints, now: Callable[[], float]) -> None:
        self.topics: Sequence[str] = ()  # topics that something publishes
        self._endpoints, self._now = endpoints, now
        self._kinds: Mapping[str, str] = {}
        self._watched: Mapping[str, Sequence[str]] = {}
        self._inspected: dict[str, float] = {}  # until when topics are inspected [s]
        self._paths: dict[str, Sequence[str]] = {}  # of inspected topics
        self._inputs: dict[str, _Input] = {}
        self._samples: deque[FieldSample] = deque(maxlen=_MOST_SAMPLES)
        self._search_at = -inf
        self._refused: set[str] = set()  # and logged

    def of_type(self, kind: str) -> Sequence[str]:
        """Return the topics with messages of a type, as ``sensor_msgs/msg/BatteryState``."""
        return [topic for topic in self.topics if self._kinds.get(topic) == kind]

    def inspect(self, topic: str, now: float) -> Sequence[str] | None:
        """Return the paths of the numeric fields of a topic; None until a message has arrived.

        The topic is subscribed for a while from now on, monotonic [s].
        """
        is_new = topic not in self._inspected
        self._inspected[topic] = now + _INSPECTED_S
        if is_new:
            later(self._endpoints.node, self._match)
        return self._paths.get(topic)

    def watch(self, keys: Collection[FieldKey]) -> None:
        """Receive all messages with these fields, and no others."""
        watched: dict[str, list[str]] = {}
        for key in keys:
            watched.setdefault(key.topic, []).append(key.path)
        self._watched = watched
        later(self._endpoints.node, self._match)

    def take_samples(self) -> Sequence[FieldSample]:
        """Return the samples since the last call, oldest first."""
        samples = self._samples
        return [samples.popleft() for _ in range(len(samples))]

    def tick(self, now: float) -> None:
        """Search topics when due, and inspect no longer than wanted; `now` is monotonic [s]."""
        ended = [topic for topic, end in list(self._inspected.items()) if end < now]
        for topic in ended:
            del self._inspected[topic]
            self._paths.pop(topic, None)
        if now >= self._search_at:
            self._search_at = now + _GRAPH_S
            self._search()
        elif ended:
            self._match()

    def _search(self) -> None:
        node = self._endpoints.node
        found = dict(sorted(node.get_topic_names_and_types()))
        self._kinds = {name: self._kind(name, kinds) for name, kinds in found.items()}
        self.topics = tuple(name for name in self._kinds if node.count_publishers(name))
        self._match()

    def _kind(self, topic: str, kinds: Sequence[str]) -> str:
        if len(kinds) > 1:
            offers = self._endpoints.node.get_publishers_info_by_topic(topic)
            kinds = sorted({offer.topic_type for offer in offers}) or kinds
        return kinds[0]

    def _match(self) -> None:
        wanted = {*self._watched, *self._inspected}
        for topic, known in list(self._inputs.items()):
            if topic not in wanted or self._kinds.get(topic) != known.kind:
                self._endpoints.close(self._inputs.pop(topic).subscription)
        for topic in sorted(wanted):
            if topic not in self._inputs and topic in self._kinds:
                self._open(topic, self._kinds[topic])
        for topic, known in self._inputs.items():
            paths = self._watched.get(topic, ())
            known.reads = {path: known.reads.get(path) or reader(path) for path in paths}

    def _open(self, topic: str, kind: str) -> None:
        message = message_class(kind)
        offers = self._endpoints.node.get_publishers_info_by_topic(topic)
        if message is None or not offers:
            return
        qos = subscription_qos([offer.qos_profile for offer in offers], _DEPTH)
        receive = partial(self._receive, topic)
        try:
            subscription = self._endpoints.subscription(message, topic, receive, qos, raw=True)
        except rclpy_implementation.RCLError as error:  # this process has it with another type
            if topic not in self._refused:
                self._refused.add(topic)
                _LOG.warning("'%s' cannot be plotted as %s: %s", topic, kind, error)
            return
        self._inputs[topic] = _Input(kind, message, subscription)

    def _receive(self, topic: str, serialized: bytes) -> None:
        known = self._inputs.get(topic)
        if known is None or len(serialized) > _LARGEST:
            return
        must_list = topic in self._inspected and topic not in self._paths
        if not known.reads and not must_list:
            return
        message = deserialize_message(serialized, known.message)
        if must_list:
            self._paths[topic] = numeric_paths(message)
        if known.reads:
            values = {path: read(message) for path, read in known.reads.items()}
            self._samples.append(FieldSample(topic, message_time(message, self._now()), values))
