"""Batches of topics, filled and published at the cost of a few array operations."""

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from rclpy.qos import QoSProfile

from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.sim.clock_epochs import epoch_label
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
    """A topic of fixed-layout messages.

    Attributes:
        name: Topic name, relative to the node's namespace unless it starts with a slash.
        rate: Name of the publish rate it follows.
        message: The message, with everything set that never changes.
        numbers: Path of each changing number, and its source.
        stamps: Paths of its time stamps.
        durations: Path of each changing duration, and where it is found in seconds.
        qos: Quality of service.
        robot: Index of the robot it belongs to, None for the scene.
    """

    name: str
    rate: str
    message: Any
    numbers: Mapping[str, NumberSource]
    stamps: tuple[str, ...]
    qos: QoSProfile
    robot: int | None = None
    durations: Mapping[str, NumberSource] = field(default_factory=dict)


class SerializedTopic:
    """A topic and the template of its message.

    Attributes:
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


class Batch:
    """Topics published together: one buffer, filled by a few array operations.

    Long runs of numbers are copied; the others are gathered, in one operation per source array.
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
        buffer = np.zeros(sum(sizes) + 8, dtype=np.uint8)
        self._parts: list[tuple[TopicPublisher, memoryview]] = []
        destinations: dict[str, list[int]] = {}
        sources: dict[str, list[int]] = {}
        negated: list[int] = []
        singles: list[tuple[NumberSource, int]] = []
        stamps: list[int] = []
        durations: list[tuple[int, NumberSource]] = []
        # Arrays that are the same object under several names are gathered together.
        first: dict[int, str] = {}
        for name, array in arrays.items():
            first.setdefault(id(array), name)
        self._labels: list[int] = []  # where the epochs begin
        label = epoch_label(0).encode()
        start = 0
        for (publisher, serialized), size in zip(topics.items(), sizes, strict=True):
            topic, template = serialized.topic, serialized.template
            end = start + len(template.data)
            buffer[start:end] = np.frombuffer(template.data, np.uint8)
            self._parts.append((publisher, memoryview(buffer.data)[start:end]))
            if serialized.is_labelled:
                self._labels.append(start + template.data.index(label))
            times = (start + template.times).tolist()
            stamps += times[: len(topic.stamps)]
            durations += zip(times[len(topic.stamps) :], topic.durations.values(), strict=True)
            for number, offset, is_single in zip(
                topic.numbers.values(), template.offsets, template.is_single, strict=True
            ):
                if is_single:
                    singles.append((number, int(start + offset) // 4))
                    continue
                name = first[id(arrays[number.array])]
                sources.setdefault(name, []).append(number.address)
                destinations.setdefault(name, []).append(int(start + offset) // 4)
                if number.sign < 0:
                    negated.append(int(start + offset) // 4)
            start += size
        # CDR aligns doubles to 4 bytes at worst, so a float64 view of stride 4 reaches all of them.
        self._floats = np.ndarray((len(buffer) // 4 - 1,), "<f8", buffer=buffer.data, strides=(4,))
        self._words, self._buffer = buffer.view("<u4"), buffer
        self._copies: list[tuple[np.ndarray, np.ndarray]] = []
        self._gathers: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for name in sources:
            self._plan(arrays[name].reshape(-1), np.array(sources[name]), destinations[name])
        self._negated = np.array(negated, dtype=np.intp)
        self._single_floats = buffer.view("<f4")
        self._singles = [
            (arrays[number.array].reshape(-1), number.address, number.sign, word)
            for number, word in singles
        ]
        self._seconds = np.array(stamps, dtype=np.intp) // 4
        self._nanoseconds = self._seconds + 1
        self._durations = [
            (
                arrays[source.array].reshape(-1),
                source.address,
                np.array([offset // 4 for offset, number in durations if number == source]),
            )
            for source in dict.fromkeys(number for _, number in durations)
        ]

    @property
    def has_subscriptions(self) -> bool:
        """Return whether any of the topics has a subscription."""
        return any(publisher.subscriptions for publisher, _ in self._parts)

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

    def label(self, epoch: int) -> None:
        """Name the epoch in the labelled messages."""
        text = np.frombuffer(epoch_label(epoch).encode(), np.uint8)
        for at in self._labels:
            self._buffer[at : at + len(text)] = text

    def publish(self, sec: int, nanosec: int) -> None:
        """Fill every message and publish those with a subscription."""
        self._fill(sec, nanosec)
        for publisher, view in self._parts:
            if publisher.subscriptions:
                publisher.send(view.tobytes())

    def repeat(self, sec: int, nanosec: int, publishers: Collection[TopicPublisher]) -> None:
        """Publish the same sample again with some of the publishers."""
        self._fill(sec, nanosec)
        for publisher, view in self._parts:
            if publisher in publishers:
                publisher.send(view.tobytes())

    def _fill(self, sec: int, nanosec: int) -> None:
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
