"""Batches of topics, filled and published at the cost of a few array operations."""

import copy
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
from rclpy.qos import QoSProfile

from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.native import Sending, flush, library
from mujoco_ros.native.messages import CompiledMessages
from mujoco_ros.native.plan import Plan
from mujoco_ros.rclpy_ext.raw_publishing import publish_functions
from mujoco_ros.sim.command_queue import epoch_label
from mujoco_ros.wire.conversions import split
from mujoco_ros.wire.message_template import MessageTemplate

_LONG_RUN = 8  # numbers; below, gathering them is quicker


class NumberSource(NamedTuple):
    """Where a number of a message comes from: an array by name, the address in it, and its sign."""

    array: str
    address: int
    sign: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A topic of fixed-layout messages."""

    name: str  # topic name, relative to the node's namespace unless it starts with a slash
    rate: str  # name of the publish rate it follows
    message: Any  # the message, with everything set that never changes
    numbers: Mapping[str, NumberSource]  # path of each changing number, and its source
    stamps: tuple[str, ...]  # paths of its time stamps
    qos: QoSProfile  # quality of service
    robot: int | None = None  # index of the robot it belongs to, None for the scene
    # Path of each changing duration, and where it is found in seconds
    durations: Mapping[str, NumberSource] = field(default_factory=dict)


class SerializedTopic:
    """A topic and the template of its message.

    Attributes:
        topic: The topic.
        is_labelled: Whether ``header.frame_id`` of its message names the epoch.
    """

    def __init__(self, topic: Topic) -> None:
        """Serialize the message of `topic`."""
        self.topic, self.is_labelled = topic, False
        times = [*topic.stamps, *topic.durations]
        self.template = MessageTemplate(topic.message, list(topic.numbers), times)

    def labelled(self) -> "SerializedTopic":
        """Return the same topic, with the epoch as ``header.frame_id``."""
        message = copy.deepcopy(self.topic.message)
        message.header.frame_id = epoch_label(0)
        result = SerializedTopic(replace(self.topic, message=message))
        result.is_labelled = True
        return result


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """The messages of a batch in one buffer; all offsets are in bytes."""

    buffer: np.ndarray  # the serialized messages, each at a multiple of eight
    messages: list[tuple[int, int]] = field(default_factory=list)  # start and end of each message
    # Changing numbers, where they are written, and whether as float32
    numbers: list[tuple[NumberSource, int, bool]] = field(default_factory=list)
    stamps: list[int] = field(default_factory=list)  # offsets of the time stamps
    # Changing durations, and where they are written
    durations: list[tuple[NumberSource, int]] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)  # where the epochs begin

    def add(self, serialized: SerializedTopic, start: int) -> None:
        """Add the message of a topic at an offset."""
        topic, template = serialized.topic, serialized.template
        end = start + len(template.data)
        self.buffer[start:end] = np.frombuffer(template.data, np.uint8)
        self.messages.append((start, end))
        if serialized.is_labelled:
            self.labels.append(start + template.data.index(epoch_label(0).encode()))
        times = (start + template.times).tolist()
        self.stamps.extend(times[: len(topic.stamps)])
        self.durations.extend(
            zip(topic.durations.values(), times[len(topic.stamps) :], strict=True)
        )
        offsets, is_single = (start + template.offsets).tolist(), template.is_single
        self.numbers.extend(zip(topic.numbers.values(), offsets, is_single, strict=True))


class _ArrayOperations:
    """Fills the messages by a few operations on arrays.

    Long runs of numbers are copied; the others are gathered, in one operation per source array.
    """

    def __init__(self, layout: _Layout, arrays: Mapping[str, np.ndarray]) -> None:
        destinations: dict[str, list[int]] = {}
        sources: dict[str, list[int]] = {}
        # Arrays that are the same object under several names are gathered together.
        first: dict[int, str] = {}
        for name, array in arrays.items():
            first.setdefault(id(array), name)
        for number, offset, is_single in layout.numbers:
            if not is_single:
                name = first[id(arrays[number.array])]
                sources.setdefault(name, []).append(number.address)
                destinations.setdefault(name, []).append(offset // 4)
        buffer = layout.buffer
        # CDR aligns doubles to 4 bytes at worst, so a float64 view of stride 4 reaches all of them.
        self._floats = np.ndarray((len(buffer) // 4 - 1,), "<f8", buffer=buffer.data, strides=(4,))
        self._words, self._single_floats = buffer.view("<u4"), buffer.view("<f4")
        self._copies: list[tuple[np.ndarray, np.ndarray]] = []
        self._gathers: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for name in sources:
            self._plan(arrays[name].reshape(-1), np.array(sources[name]), destinations[name])
        doubles = [(number, at) for number, at, is_single in layout.numbers if not is_single]
        self._negated = np.array(
            [at // 4 for number, at in doubles if number.sign < 0], dtype=np.intp
        )
        self._singles = [
            (arrays[number.array].reshape(-1), number.address, number.sign, offset // 4)
            for number, offset, is_single in layout.numbers
            if is_single
        ]
        self._seconds = np.array(layout.stamps, dtype=np.intp) // 4
        self._nanoseconds = self._seconds + 1
        self._durations = [
            (
                arrays[source.array].reshape(-1),
                source.address,
                np.array([at // 4 for number, at in layout.durations if number == source]),
            )
            for source in dict.fromkeys(number for number, _ in layout.durations)
        ]

    def _plan(self, array: np.ndarray, source: np.ndarray, words: list[int]) -> None:
        """Plan the copies of the numbers at `source` in an array to their `words`."""
        destination = np.array(words)
        breaks = np.flatnonzero((np.diff(source) != 1) | (np.diff(destination) != 2)) + 1
        single = np.ones(len(source), dtype=bool)
        for run in np.split(np.arange(len(source)), breaks):
            if len(run) >= _LONG_RUN:
                first, last = run[0], run[-1]
                into = self._floats[destination[first] : destination[last] + 1 : 2]
                self._copies.append((into, array[source[first] : source[last] + 1]))
                single[run] = False
        if single.any():
            self._gathers.append((array, source[single], destination[single]))

    def fill(self, sec: int, nanosec: int) -> None:
        """Write the numbers, the stamp and the durations of all messages."""
        floats = self._floats
        for into, values in self._copies:
            into[...] = values
        for array, source, destination in self._gathers:
            floats[destination] = array[source]
        if len(self._negated):
            floats[self._negated] = -floats[self._negated]
        for array, address, sign, word in self._singles:
            self._single_floats[word] = sign * array[address]
        self._words[self._seconds] = sec
        self._words[self._nanoseconds] = nanosec
        for array, address, words in self._durations:
            self._words[words], self._words[words + 1] = split(array.item(address))


class Batch:
    """Topics published together, from one buffer.

    With the compiled part of the package, all messages are filled and passed to the middleware by
    two calls; otherwise they are filled by operations on arrays, and passed one by one.
    """

    def __init__(
        self, topics: Mapping[TopicPublisher, SerializedTopic], arrays: Mapping[str, np.ndarray]
    ) -> None:
        """Lay out the messages.

        Args:
            topics: Topics by their publishers.
            arrays: Source arrays by name, whose content changes in place.
        """
        sizes = [(len(serialized.template.data) + 7) // 8 * 8 for serialized in topics.values()]
        self._layout = layout = _Layout(buffer=np.zeros(sum(sizes) + 8, dtype=np.uint8))
        for serialized, end, size in zip(topics.values(), np.cumsum(sizes), sizes, strict=True):
            layout.add(serialized, int(end - size))
        data = layout.buffer.data
        views = [memoryview(data)[start:end] for start, end in layout.messages]
        self._parts = list(zip(topics, views, strict=True))
        self.compiled = _compiled(layout, arrays, list(topics), self)
        """The messages for compiled code; None where nothing is compiled."""
        self._fill = (self.compiled or _ArrayOperations(layout, arrays)).fill

    @property
    def has_subscriptions(self) -> bool:
        """Return whether any of the topics has a subscription."""
        return any(publisher.subscriptions for publisher, _ in self._parts)

    def label(self, epoch: int) -> None:
        """Name the epoch in the labelled messages."""
        text = np.frombuffer(epoch_label(epoch).encode(), np.uint8)
        for at in self._layout.labels:
            self._layout.buffer[at : at + len(text)] = text

    def publish(self, sec: int, nanosec: int, sending: Sending = Sending.WAITING) -> None:
        """Fill every message, and publish it if its topic has a subscription."""
        compiled = self.compiled
        if compiled is not None:
            compiled.publish(sec, nanosec, sending)
        else:
            self._fill(sec, nanosec)
        for publisher, view in self._parts:
            if publisher.subscriptions and (compiled is None or publisher.handle is None):
                publisher.send(view.tobytes())

    def repeat(self, sec: int, nanosec: int, publishers: Collection[TopicPublisher]) -> None:
        """Publish the same sample again with some of the publishers."""
        self._fill(sec, nanosec)
        for publisher, view in self._parts:
            if publisher in publishers:
                publisher.send(view.tobytes())


def _compiled(
    layout: _Layout,
    arrays: Mapping[str, np.ndarray],
    publishers: Sequence[TopicPublisher],
    owner: Batch,
) -> CompiledMessages | None:
    """Return the compiled form of a layout, if any; its publishers stay open as long as `owner`."""
    native, functions = library(), publish_functions()
    if native is None or functions is None:
        return None
    handles = [publisher.handle for publisher in publishers]
    opened = ExitStack()
    for handle in filter(None, handles):
        opened.enter_context(handle)
    opened.callback(flush)  # before they may be closed
    finalize(owner, opened.close)
    plan, buffer = Plan(), layout.buffer

    def source(number: NumberSource) -> int:
        return plan.address(arrays[number.array], number.address)

    def target(offset: int, size: int = 8) -> int:
        return plan.address(buffer, offset, size, np.uint8)

    return CompiledMessages(
        native,
        plan,
        numbers=(
            (source(number), target(at, 4 if is_single else 8), 2 * is_single + (number.sign < 0))
            for number, at, is_single in layout.numbers
        ),
        stamps=((target(at),) for at in layout.stamps),
        durations=((source(number), target(at)) for number, at in layout.durations),
        messages=(
            (
                0 if handle is None else handle.pointer,
                plan.address(publisher.sent_by_compiled, kind=np.int64),
                plan.address(publisher.lost_by_compiled, kind=np.int64),
                target(start, end - start),
                end - start,
            )
            for publisher, handle, (start, end) in zip(
                publishers, handles, layout.messages, strict=True
            )
        ),
        functions=functions,
    )
