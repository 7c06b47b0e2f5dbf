"""Bag of rosbag2: a folder with MCAP files and metadata.yaml."""

import math
import os
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from errno import ENOENT
from pathlib import Path
from typing import Any

from rclpy.duration import Duration
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)

from mujoco_ros.model.output_files import locked
from mujoco_ros.recording.bag_file import TopicFile
from mujoco_ros.recording.metadata import Metadata, RecordedTopic


def as_rosbag2(profile: QoSProfile) -> dict[str, Any]:
    """Return a profile in the format of rosbag2 since metadata version 9."""
    return {
        "history": HistoryPolicy(profile.history).name.lower(),
        "depth": profile.depth,
        "reliability": ReliabilityPolicy(profile.reliability).name.lower(),
        "durability": DurabilityPolicy(profile.durability).name.lower(),
        "deadline": _time(profile.deadline),
        "lifespan": _time(profile.lifespan),
        "liveliness": LivelinessPolicy(profile.liveliness).name.lower(),
        "liveliness_lease_duration": _time(profile.liveliness_lease_duration),
        "avoid_ros_namespace_conventions": profile.avoid_ros_namespace_conventions,
    }


def _time(duration: Duration) -> dict[str, int]:
    return dict(zip(("sec", "nsec"), divmod(duration.nanoseconds, 1_000_000_000), strict=True))


class Bag:
    """Writes a bag, which nobody repairs meanwhile; a crash cannot lose flushed messages."""

    def __init__(
        self,
        folder: Path,
        distribution: str,
        *,
        compression: str = "none",
        max_bytes: int = 0,
        max_seconds: float = 0.0,
    ) -> None:
        """Create the folder, for its user alone, and the first file.

        Another file follows after `max_bytes`, or messages of `max_seconds`; 0 is unlimited.
        """
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        self.folder = folder
        self.metadata = Metadata(distribution=distribution)
        self._lock = locked(folder)
        self._created = folder.resolve()
        self._compression = compression
        self._max_bytes, self._max_duration = max_bytes or math.inf, 1e9 * max_seconds or math.inf
        self._earlier = 0  # size of finished files
        self._inodes: dict[str, os.stat_result] = {}  # of all files
        self._checked: dict[str, int] = {}  # messages of each file at the last check
        self._pool = ThreadPoolExecutor(1, "bag")
        self._synchronizing: Future[None] | None = None
        self._current = self._open()
        self.metadata.save(folder)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return self._earlier + self._current.size

    def add(self, topic: RecordedTopic) -> None:
        """Add a topic before its first message."""
        self.metadata.topics[topic.name] = topic

    def write(
        self, topic: RecordedTopic, log_time: int, publish_time: int, sequence: int, data: bytes
    ) -> None:
        """Add a message; times in nanoseconds. `abandon` the bag after an OSError."""
        file = self._current
        is_full = file.size >= self._max_bytes or log_time - file.span.first >= self._max_duration
        if is_full and file.span.count:
            self._close_file()
            self._earlier += file.size
            file = self._current = self._open()
        file.add(topic, log_time, publish_time, sequence, data)

    def flush(self) -> None:
        """Write the messages and start to sync; OSError if a file is not in its place any more."""
        self._current.flush()
        self.metadata.save(self.folder)
        if self._synchronizing is None or self._synchronizing.done():
            # Protects from power loss; in a thread, as a disk may take a second.
            self._synchronizing = self._pool.submit(os.fdatasync, self._current.descriptor)
        self._check_files()

    def finish(self) -> None:
        """Write messages, summary and metadata.yaml; flushed messages survive an OSError."""
        self._close_file()
        self.metadata.save(self.folder)
        self._check_files()
        self._close()

    def abandon(self) -> None:
        """Close the file with the flushed messages, after an error."""
        try:
            self._current.abandon()
        finally:
            self._close()

    def failure(self, problem: str) -> str:
        """Return the problem and where the messages are, however moved; before `abandon`."""
        found: Counter[Path] = Counter()
        lost: dict[str, int] = {}
        for name, count in self._checked.items():
            place = self._place(name)
            if place is None:
                lost[name] = count
            else:
                found[place] += count
        text = problem
        if lost:
            text += f"; {sum(lost.values())} messages are lost with {', '.join(lost)}"
            text += ", which was deleted" if len(lost) == 1 else ", which were deleted"
        for place, count in found.items():
            is_here = place == self._created
            folder = self.folder.absolute() if is_here else place
            text += (
                f"; the messages recorded before, at least {count}, are kept"
                f"{'' if is_here else f' in {folder}, to which they were moved'}; "
                f"'record --repair {folder}' indexes them"
            )
        return text

    def _check_files(self) -> None:
        for name, span in self.metadata.files.items():
            if not os.path.samestat(os.stat(self._created / name), self._inodes[name]):
                raise FileNotFoundError(ENOENT, "another file has its name", name)
            self._checked[name] = span.count

    def _place(self, name: str) -> Path | None:
        """Return the folder that a file is in now; None if the file was deleted."""
        with suppress(OSError):
            if os.path.samestat(os.stat(name, dir_fd=self._lock), self._inodes[name]):
                return Path(os.readlink(f"/proc/self/fd/{self._lock}"))
        with suppress(OSError):
            descriptor = self._current.descriptor
            if name == self._current.path.name and os.fstat(descriptor).st_nlink:
                return Path(os.readlink(f"/proc/self/fd/{descriptor}")).parent
        return None

    def _close(self) -> None:
        self._pool.shutdown()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _open(self) -> TopicFile:
        path = self.folder / f"{self.folder.name}_{len(self.metadata.files)}.mcap"
        file = TopicFile(path, self.metadata, self._compression)
        self._inodes[path.name] = os.fstat(file.descriptor)
        return file

    def _close_file(self) -> None:
        if self._synchronizing is not None:
            self._synchronizing.result()
        self._current.complete()
