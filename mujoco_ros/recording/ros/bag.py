"""Bag of rosbag2: a folder with MCAP files and metadata.yaml."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from rclpy.duration import Duration
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)

from mujoco_ros.recording.bag_file import BagFile
from mujoco_ros.recording.folder_lock import locked
from mujoco_ros.recording.metadata import Definition, Metadata, RecordedTopic, Span


def as_rosbag2(profile: QoSProfile) -> dict[str, Any]:
    """Return a profile in the format of rosbag2 since metadata version 9."""
    return {
        "history": _policy(HistoryPolicy(profile.history)),
        "depth": profile.depth,
        "reliability": _policy(ReliabilityPolicy(profile.reliability)),
        "durability": _policy(DurabilityPolicy(profile.durability)),
        "deadline": _time(profile.deadline),
        "lifespan": _time(profile.lifespan),
        "liveliness": _policy(LivelinessPolicy(profile.liveliness)),
        "liveliness_lease_duration": _time(profile.liveliness_lease_duration),
        "avoid_ros_namespace_conventions": profile.avoid_ros_namespace_conventions,
    }


def as_text(profiles: Sequence[dict[str, Any]]) -> str:
    """Return profiles in the format of an MCAP channel's metadata."""
    return yaml.safe_dump(list(profiles), sort_keys=False)


def _policy(policy: Any) -> str:
    return str(policy.name).lower()


def _time(duration: Duration) -> dict[str, int]:
    seconds, nanoseconds = divmod(duration.nanoseconds, 1_000_000_000)
    return {"sec": seconds, "nsec": nanoseconds}


@dataclass(frozen=True, kw_only=True)
class BagLimits:
    """Limits after which a bag continues in another file; 0 is unlimited.

    Attributes:
        size: Size of a file [byte].
        duration: Duration of a file [s].
    """

    size: int = 0
    duration: float = 0.0


class TopicFile:
    """Writes a file of a bag: the messages of topics, each with its definition.

    Attributes:
        file: The file.
        span: Its messages.
    """

    def __init__(
        self, file: BagFile, metadata: Metadata, definitions: Mapping[str, Definition]
    ) -> None:
        """Add an empty file to the metadata of a bag, whose topics have these definitions."""
        self.file = file
        self.span = metadata.files[file.path.name] = Span()
        self._metadata, self._definitions = metadata, definitions
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}

    def write(
        self, topic: RecordedTopic, log_time: int, publish_time: int, sequence: int, data: bytes
    ) -> None:
        """Add a message; times in nanoseconds.

        Raises:
            OSError: The disk is full or fails; abandon the file.
        """
        channel = self._channels.get(topic.name)
        if channel is None:
            channel = self._channels[topic.name] = self._channel(topic)
        self.file.write(channel, log_time, publish_time, sequence, data)
        topic.count += 1
        self.span.add(log_time)

    def finish(self) -> None:
        """Write the buffered messages and the index, and close the file.

        Raises:
            OSError: The disk is full; messages flushed before remain readable.
        """
        self.file.finish({"rosbag2": {"serialized_metadata": self._metadata.text()}})

    def _channel(self, topic: RecordedTopic) -> int:
        writer = self.file.writer
        schema = self._schemas.get(topic.kind)
        if schema is None:
            encoding, text = self._definitions[topic.name]
            schema = writer.register_schema(topic.kind, encoding, text.encode())
            self._schemas[topic.kind] = schema
        metadata = {"offered_qos_profiles": as_text(topic.qos), "topic_type_hash": topic.type_hash}
        return writer.register_channel(topic.name, "cdr", schema, metadata)


class Bag:
    """Writes a bag; a crash of the process cannot lose flushed messages.

    Until its end, no other process repairs it.
    """

    def __init__(
        self,
        folder: Path,
        distribution: str,
        *,
        compression: str = "none",
        limits: BagLimits = BagLimits(),
    ) -> None:
        """Create the folder, for its user alone, and the first file.

        Args:
            folder: The folder.
            distribution: ROS distribution, for the metadata.
            compression: Compression of the chunks.
            limits: Limits of a file.

        Raises:
            OSError: The folder exists or cannot be written.
        """
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        self.folder = folder
        self.metadata = Metadata(distribution=distribution)
        self._lock = locked(folder)
        self._compression, self._limits = compression, limits
        self._limited = bool(limits.size or limits.duration)
        self._definitions: dict[str, Definition] = {}
        self._earlier = 0  # size of finished files
        self._pool = ThreadPoolExecutor(1, "bag")
        self._synchronizing: Future[None] | None = None
        self._current = self._open()
        self.metadata.save(folder)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return self._earlier + self._current.file.size

    def add(self, topic: RecordedTopic, definition: Definition) -> None:
        """Add a topic before its first message."""
        self.metadata.topics[topic.name] = topic
        self._definitions[topic.name] = definition

    def write(
        self, topic: RecordedTopic, log_time: int, publish_time: int, sequence: int, data: bytes
    ) -> None:
        """Add a message; times in nanoseconds.

        Raises:
            OSError: The disk is full or fails; `abandon` the bag.
        """
        if self._limited and self._is_full(log_time):
            self._close_file()
            self._earlier += self._current.file.size
            self._current = self._open()
        self._current.write(topic, log_time, publish_time, sequence, data)

    def flush(self) -> None:
        """Write the buffered messages and start to synchronize the disk.

        Raises:
            OSError: The disk is full or fails; `abandon` the bag.
        """
        self._current.file.flush()
        self.metadata.save(self.folder)
        if self._synchronizing is None or self._synchronizing.done():
            # Protects from power loss; in a thread, as a disk may take a second.
            self._synchronizing = self._pool.submit(os.fdatasync, self._current.file.descriptor)

    def finish(self) -> None:
        """Write the buffered messages, the summary and metadata.yaml, and close the file.

        Raises:
            OSError: The disk is full; messages flushed before remain readable.
        """
        self._close_file()
        self.metadata.save(self.folder)
        self._close()

    def abandon(self) -> None:
        """Close the file with the flushed messages, after an error."""
        try:
            self._current.file.abandon()
        finally:
            self._close()

    def _close(self) -> None:
        self._pool.shutdown()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _open(self) -> TopicFile:
        path = self.folder / f"{self.folder.name}_{len(self.metadata.files)}.mcap"
        return TopicFile(BagFile(path, self._compression), self.metadata, self._definitions)

    def _close_file(self) -> None:
        if self._synchronizing is not None:
            self._synchronizing.result()
        self._current.finish()

    def _is_full(self, time: int) -> bool:
        span = self._current.span
        if not span.count:
            return False
        size, duration = self._limits.size, self._limits.duration
        return bool(
            (size and self._current.file.size >= size)
            or (duration and time - span.first >= 1e9 * duration)
        )
