"""Putting in order a bag whose recording ended without warning."""

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

import yaml
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
    Chunk,
    ChunkIndex,
    Message,
    MessageIndex,
    MetadataIndex,
    Schema,
)
from mcap.records import (
    Metadata as MetadataRecord,
)
from mcap.stream_reader import get_chunk_data_stream
from mcap.writer import MCAP0_MAGIC

from mujoco_ros.bridge.distribution import ros_distribution
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.bag_file import write_at
from mujoco_ros.recording.index import Index, encoded
from mujoco_ros.recording.metadata import FILE, Metadata, RecordedTopic, Span


class Repaired(NamedTuple):
    """What a repair found: messages, seconds they cover, and bytes that belonged to no record."""

    messages: int
    duration: float
    discarded: int


def repair(folder: Path) -> Repaired:
    """Index the files of a bag and write its metadata.yaml anew.

    What was written to the end remains; the beginning of a record that was not is cut off.

    Raises:
        ModelError: There is no bag, or a file is none of a bag.
        OSError: A file cannot be read or written.
    """
    files = sorted(folder.glob("*.mcap"), key=lambda path: (len(path.name), path.name))
    if not files:
        raise UserInputError(f"'{folder}' is no bag: it has no .mcap file")
    metadata = Metadata(distribution=ros_distribution())
    _take_over(folder, metadata)
    discarded = 0
    for path in files:
        scan = _Scan(path)
        with path.open("r+b") as file:
            file.truncate(scan.end)
            write_at(file.fileno(), scan.finish(), scan.end)
            os.fsync(file.fileno())
        _add(metadata, path.name, scan.index)
        discarded += scan.discarded
    metadata.save(folder)
    total = metadata.total
    return Repaired(total.count, total.duration / 1e9, discarded)


class _Scan:
    """What is in a file.

    Attributes:
        index: The index of it.
        end: Where the data section ends.
        discarded: Bytes after that which are worthless.
    """

    def __init__(self, path: Path) -> None:
        """Look through a file up to the end, or to what is no whole record.

        Raises:
            ModelError: It is no MCAP file.
        """
        self.index = Index()
        self.end = len(MCAP0_MAGIC)
        self._entries: dict[int, list[tuple[int, int]]] = {}  # of the last chunk
        ended = False
        with path.open("rb") as file:
            if file.read(self.end) != MCAP0_MAGIC:
                raise UserInputError(f"'{path}' is no MCAP file")
            for offset, opcode, content in _records(file):
                ended = opcode in (Opcode.DATA_END, Opcode.FOOTER)
                try:
                    if ended or not self._note(offset, opcode, content):
                        break
                except (McapError, ValueError, EOFError):
                    break  # begun over what the last flush had left here
                self.end = offset + 9 + len(content)
        self.discarded = 0 if ended else path.stat().st_size - self.end

    def finish(self) -> bytes:
        """Return all that follows `end`: message indexes that are missing, and the index."""
        missing = b""
        if self.index.chunks:
            chunk = self.index.chunks[-1]
            for channel in self._entries.keys() - chunk.message_index_offsets.keys():
                chunk.message_index_offsets[channel] = self.end + len(missing)
                record = encoded([MessageIndex(channel, self._entries[channel])])
                missing += record
                chunk.message_index_length += len(record)
        return missing + self.index.end(self.end + len(missing))

    def _note(self, offset: int, opcode: int, content: bytes) -> bool:
        """Add a record of the data section to the index; return whether it belongs there."""
        length, stream = 9 + len(content), ReadDataStream(BytesIO(content))
        if opcode == Opcode.CHUNK:
            self._note_chunk(offset, length, Chunk.read(stream))
        elif opcode == Opcode.MESSAGE_INDEX:
            channel = MessageIndex.read(stream).channel_id
            if channel not in self._entries:
                return False
            self.index.chunks[-1].message_index_offsets[channel] = offset
            self.index.chunks[-1].message_index_length += length
        elif opcode == Opcode.METADATA:
            name = MetadataRecord.read(stream).name
            self.index.metadata.append(MetadataIndex(offset=offset, length=length, name=name))
        return True

    def _note_chunk(self, offset: int, length: int, chunk: Chunk) -> None:
        stream, size = get_chunk_data_stream(chunk, validate_crc=True)
        entries: dict[int, list[tuple[int, int]]] = {}
        while stream.count < size:
            at = stream.count
            opcode, content = stream.read1(), stream.read8()
            if opcode == Opcode.SCHEMA:
                schema = Schema.read(stream)
                self.index.schemas[schema.id] = schema
            elif opcode == Opcode.CHANNEL:
                channel = Channel.read(stream)
                self.index.channels[channel.id] = channel
            elif opcode == Opcode.MESSAGE:
                message = Message.read(stream, content)
                entries.setdefault(message.channel_id, []).append((message.log_time, at))
            else:
                stream.read(content)
        self._entries = entries
        index = ChunkIndex(
            chunk_length=length,
            chunk_start_offset=offset,
            compression=chunk.compression,
            compressed_size=len(chunk.data),
            message_end_time=chunk.message_end_time,
            message_index_length=0,
            message_index_offsets={},
            message_start_time=chunk.message_start_time,
            uncompressed_size=chunk.uncompressed_size,
        )
        counts = {channel: len(found) for channel, found in entries.items()}
        self.index.add_chunk(index, counts)


def _records(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Yield the offset, kind and content of each record that is whole."""
    size = os.fstat(file.fileno()).st_size
    while True:
        offset = file.tell()
        head = file.read(9)
        length = int.from_bytes(head[1:], "little")
        if len(head) < 9 or offset + 9 + length > size:
            return
        yield offset, head[0], file.read(length)


def _take_over(folder: Path, metadata: Metadata) -> None:
    """Take from metadata.yaml what the files do not tell: topics without a message."""
    try:
        content = yaml.safe_load((folder / FILE).read_text(encoding="utf-8"))
        found = content["rosbag2_bagfile_information"]
        metadata.distribution = found["ros_distro"]
        for entry in found["topics_with_message_count"]:
            told = entry["topic_metadata"]
            metadata.topics[told["name"]] = RecordedTopic(
                name=told["name"],
                kind=told["type"],
                type_hash=told["type_description_hash"],
                qos=told["offered_qos_profiles"],
            )
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        return  # the files tell what matters


def _add(metadata: Metadata, name: str, index: Index) -> None:
    """Count a file's messages."""
    statistics = index.statistics
    span = metadata.files[name] = Span()
    if statistics.message_count:
        span.count = statistics.message_count
        span.first, span.last = statistics.message_start_time, statistics.message_end_time
    for channel, count in statistics.channel_message_counts.items():
        found = index.channels[channel]
        topic = metadata.topics.setdefault(
            found.topic,
            RecordedTopic(
                name=found.topic,
                kind=index.schemas[found.schema_id].name,
                type_hash=found.metadata.get("topic_type_hash", ""),
                qos=yaml.safe_load(found.metadata.get("offered_qos_profiles", "")) or [],
            ),
        )
        topic.count += count
