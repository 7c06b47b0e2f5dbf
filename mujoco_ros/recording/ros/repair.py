"""Repair of a bag whose recording was interrupted: files without summary, incomplete records."""

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

import yaml
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, Message, MessageIndex, MetadataIndex, Schema
from mcap.records import Metadata as MetadataRecord
from mcap.stream_reader import get_chunk_data_stream
from mcap.writer import MCAP0_MAGIC

from mujoco_ros.bridge.distribution import ros_distribution
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.bag_file import write_at
from mujoco_ros.recording.mcap_summary import McapSummary, encoded
from mujoco_ros.recording.metadata import FILE, Metadata, RecordedTopic, Span

_HEAD_BYTES = 9  # opcode and length of a record


class RepairResult(NamedTuple):
    """Messages, their duration [s], and the discarded bytes of incomplete records."""

    messages: int
    duration: float
    discarded: int


def repair(folder: Path) -> RepairResult:
    """Write the summaries of a bag's files in place, and its metadata.yaml.

    Complete records remain; an incomplete one at the end of a file is discarded.

    Raises:
        UserInputError: The folder has no bag, or a file is not MCAP.
        OSError: A file cannot be read or written.
    """
    files = sorted(folder.glob("*.mcap"), key=lambda path: (len(path.name), path.name))
    if not files:
        raise UserInputError(f"'{folder}' is not a bag: it has no .mcap file")
    metadata = _read_metadata(folder)
    discarded = 0
    for path in files:
        scan = _Scan(path)
        with path.open("r+b") as file:
            file.truncate(scan.end)
            write_at(file.fileno(), scan.missing_end(), scan.end)
            os.fsync(file.fileno())
        _add_file(metadata, path.name, scan.summary)
        discarded += scan.discarded
    metadata.save(folder)
    total = metadata.total
    return RepairResult(total.count, total.duration / 1e9, discarded)


class _Scan:
    """Contents of a file's data section, up to its end or to the first incomplete record.

    mcap's own readers raise at an incomplete record and do not return offsets.

    Attributes:
        summary: Index of the complete records.
        end: Offset of the end of the last complete record.
        discarded: Number of bytes after it.
    """

    def __init__(self, path: Path) -> None:
        self.summary = McapSummary()
        self.end = len(MCAP0_MAGIC)
        self._entries: dict[int, list[tuple[int, int]]] = {}  # of the last chunk
        is_complete = False
        with path.open("rb") as file:
            if file.read(self.end) != MCAP0_MAGIC:
                raise UserInputError(f"'{path}' is not an MCAP file")
            for offset, opcode, content in _records(file):
                is_complete = opcode in (Opcode.DATA_END, Opcode.FOOTER)
                try:
                    if is_complete or not self._add(offset, opcode, content):
                        break
                except (McapError, ValueError, EOFError):
                    break  # partly overwritten by an incomplete record
                self.end = offset + _HEAD_BYTES + len(content)
        self.discarded = 0 if is_complete else path.stat().st_size - self.end

    def missing_end(self) -> bytes:
        """Return the contents of the file after `end`: missing message indexes and the summary."""
        missing = b""
        if self.summary.chunks:
            chunk = self.summary.chunks[-1]
            for channel in self._entries.keys() - chunk.message_index_offsets.keys():
                chunk.message_index_offsets[channel] = self.end + len(missing)
                record = encoded([MessageIndex(channel, self._entries[channel])])
                missing += record
                chunk.message_index_length += len(record)
        return missing + self.summary.end(self.end + len(missing))

    def _add(self, offset: int, opcode: int, content: bytes) -> bool:
        """Add a record to the summary; return whether it belongs to the data section."""
        length, stream = _HEAD_BYTES + len(content), ReadDataStream(BytesIO(content))
        if opcode == Opcode.CHUNK:
            self._add_chunk(offset, length, Chunk.read(stream))
        elif opcode == Opcode.MESSAGE_INDEX:
            channel = MessageIndex.read(stream).channel_id
            if channel not in self._entries:
                return False
            self.summary.chunks[-1].message_index_offsets[channel] = offset
            self.summary.chunks[-1].message_index_length += length
        elif opcode == Opcode.METADATA:
            name = MetadataRecord.read(stream).name
            self.summary.metadata.append(MetadataIndex(offset=offset, length=length, name=name))
        return True

    def _add_chunk(self, offset: int, length: int, chunk: Chunk) -> None:
        stream, size = get_chunk_data_stream(chunk, validate_crc=True)
        entries: dict[int, list[tuple[int, int]]] = {}
        while stream.count < size:
            at = stream.count
            opcode, content = stream.read1(), stream.read8()
            if opcode == Opcode.SCHEMA:
                schema = Schema.read(stream)
                self.summary.schemas[schema.id] = schema
            elif opcode == Opcode.CHANNEL:
                channel = Channel.read(stream)
                self.summary.channels[channel.id] = channel
            elif opcode == Opcode.MESSAGE:
                message = Message.read(stream, content)
                entries.setdefault(message.channel_id, []).append((message.log_time, at))
            else:
                stream.read(content)
        self._entries = entries
        counts = {channel: len(times) for channel, times in entries.items()}
        self.summary.add_chunk(chunk, offset, length, counts)


def _records(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Yield the offset, opcode and content of each complete record."""
    size = os.fstat(file.fileno()).st_size
    while True:
        offset = file.tell()
        head = file.read(_HEAD_BYTES)
        length = int.from_bytes(head[1:], "little")
        if len(head) < _HEAD_BYTES or offset + _HEAD_BYTES + length > size:
            return
        yield offset, head[0], file.read(length)


def _read_metadata(folder: Path) -> Metadata:
    """Return the data that only metadata.yaml has: ROS distribution, topics without messages."""
    metadata = Metadata(distribution=ros_distribution())
    try:
        content = yaml.safe_load((folder / FILE).read_text(encoding="utf-8"))
        bag = content["rosbag2_bagfile_information"]
        metadata.distribution = bag["ros_distro"]
        for entry in bag["topics_with_message_count"]:
            topic = entry["topic_metadata"]
            metadata.topics[topic["name"]] = RecordedTopic(
                name=topic["name"],
                kind=topic["type"],
                type_hash=topic["type_description_hash"],
                qos=topic["offered_qos_profiles"],
            )
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        pass  # the bag files contain all messages
    return metadata


def _add_file(metadata: Metadata, name: str, summary: McapSummary) -> None:
    """Add the messages of a file."""
    statistics = summary.statistics
    span = metadata.files[name] = Span()
    if statistics.message_count:
        span.count = statistics.message_count
        span.first, span.last = statistics.message_start_time, statistics.message_end_time
    for number, count in statistics.channel_message_counts.items():
        channel = summary.channels[number]
        topic = metadata.topics.setdefault(
            channel.topic,
            RecordedTopic(
                name=channel.topic,
                kind=summary.schemas[channel.schema_id].name,
                type_hash=channel.metadata.get("topic_type_hash", ""),
                qos=yaml.safe_load(channel.metadata.get("offered_qos_profiles", "")) or [],
            ),
        )
        topic.count += count
