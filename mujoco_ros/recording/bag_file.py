"""One MCAP file of a bag, valid after every flush.

Only the records are mcap's: its writer takes four times as long for a message.
"""

import os
import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

import lz4.frame
import zstandard
from mcap import records
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.writer import MCAP0_MAGIC

from mujoco_ros.recording.metadata import Metadata, RecordedTopic, Span, definition

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "lz4": lz4.frame.compress,
    "zstd": zstandard.compress,
}
_CHUNK_BYTES = 1 << 20
"""Readers hold whole chunks in memory, so a chunk of this size is written at once."""
_MESSAGE = struct.Struct("<BQHIQQ")
_MESSAGE_FIELDS = 22  # bytes of a message record between its length and its data
_INDEX = struct.Struct("<BQHI")
_FOOTER_FIELDS = struct.Struct("<BQQQ")
"""The part of the footer that the check sum of the summary includes."""
_SUMMARY = (
    *(Opcode.SCHEMA, Opcode.CHANNEL, Opcode.STATISTICS),
    *(Opcode.CHUNK_INDEX, Opcode.ATTACHMENT_INDEX, Opcode.METADATA_INDEX),
)
"""Records of the summary, in their order."""


def encoded(*several: records.McapRecord) -> bytes:
    """Return records as mcap writes them."""
    builder = RecordBuilder()
    for record in several:
        record.write(builder)
    content: bytes = builder.end()  # type: ignore[no-untyped-call]
    return content


_PROVISIONAL_END = encoded(records.DataEnd(0), records.Footer(0, 0, 0)) + MCAP0_MAGIC
"""End of a valid file without a summary; readers then scan the whole file."""


class BagFile:
    """Writes an MCAP file chunk by chunk.

    Each flush writes a chunk and a provisional end in one call, which the next flush overwrites:
    whenever the process dies, the file is valid and has all flushed messages.
    """

    def __init__(
        self,
        path: Path,
        compression: str = "none",
        descriptor: int | None = None,
        profile: str = "ros2",
    ) -> None:
        """Create the file, which only its user can read, or write into an open descriptor."""
        self.path, self._compression = path, compression
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        # Its descriptor; -1 when it is closed
        self.descriptor = os.open(path, flags, 0o600) if descriptor is None else descriptor
        self._saved = self._buffered = 0  # bytes of the file, and of the chunk
        self._parts: list[bytes] = []  # of the chunk
        self._entries: defaultdict[int, list[int]] = defaultdict(list)  # time, offset, time, …
        self._summary: dict[Opcode, list[records.McapRecord]] = {opcode: [] for opcode in _SUMMARY}
        self._times = (1 << 64) - 1, 0  # of the first and last message
        self._counts: Counter[int] = Counter()  # messages by channel
        self._save(MCAP0_MAGIC + encoded(records.Header(profile, "mujoco_ros")))

    @property
    def size(self) -> int:
        """Bytes written and buffered."""
        return self._saved + self._buffered

    def add_schema(self, name: str, encoding: str, data: bytes) -> int:
        """Add the definition of a type; return its number."""
        number = len(self._summary[Opcode.SCHEMA]) + 1
        self._define(Opcode.SCHEMA, records.Schema(number, data, encoding, name))
        return number

    def add_channel(
        self, topic: str, encoding: str, schema: int, metadata: Mapping[str, str]
    ) -> int:
        """Add a topic whose type is a schema, or 0; return its number."""
        number = len(self._summary[Opcode.CHANNEL]) + 1
        channel = records.Channel(number, topic, encoding, dict(metadata), schema)
        self._define(Opcode.CHANNEL, channel)
        return number

    def add_attachment(self, attachment: records.Attachment) -> None:
        """Write an attachment."""
        content, own = encoded(attachment), dict(vars(attachment))
        own["data_size"] = len(own.pop("data"))
        index = records.AttachmentIndex(self._saved, len(content), **own)
        self._summary[Opcode.ATTACHMENT_INDEX].append(index)
        self._save(content)

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Write a record of metadata."""
        content = encoded(records.Metadata(name, dict(values)))
        index = records.MetadataIndex(self._saved, len(content), name)
        self._summary[Opcode.METADATA_INDEX].append(index)
        self._save(content)

    def write(
        self, channel: int, log_time: int, publish_time: int, sequence: int, data: bytes
    ) -> None:
        """Add a message; times in nanoseconds. `abandon` the file after an OSError."""
        length = _MESSAGE_FIELDS + len(data)
        head = _MESSAGE.pack(Opcode.MESSAGE, length, channel, sequence, log_time, publish_time)
        self._entries[channel] += (log_time, self._buffered)
        self._parts += (head, data)
        self._buffered += 9 + length
        if self._buffered > _CHUNK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the buffered messages; a later crash of this process cannot lose them."""
        if not self._entries:
            return
        content = b"".join(self._parts)
        data = COMPRESSIONS[self._compression](content)
        name = "" if self._compression == "none" else self._compression
        times = [time for entries in self._entries.values() for time in entries[::2]]
        first, last = min(times), max(times)
        self._times = min(first, self._times[0]), max(last, self._times[1])
        chunk = encoded(records.Chunk(name, data, last, first, zlib.crc32(content), len(content)))
        index, offsets = b"", {}
        for channel, entries in self._entries.items():
            offsets[channel] = self._saved + len(chunk) + len(index)
            self._counts[channel] += len(entries) // 2
            packed = struct.pack(f"<{len(entries)}Q", *entries)
            index += _INDEX.pack(Opcode.MESSAGE_INDEX, 6 + len(packed), channel, len(packed))
            index += packed
        self._summary[Opcode.CHUNK_INDEX].append(
            records.ChunkIndex(
                chunk_length=len(chunk),
                chunk_start_offset=self._saved,
                compression=name,
                compressed_size=len(data),
                message_end_time=last,
                message_index_length=len(index),
                message_index_offsets=offsets,
                message_start_time=first,
                uncompressed_size=len(content),
            )
        )
        self._parts.clear()
        self._entries.clear()
        self._buffered = 0
        self._save(chunk + index)

    def finish(self, metadata: Mapping[str, Mapping[str, str]]) -> None:
        """Write the buffered messages, metadata records and the summary, and close the file."""
        try:
            self.flush()
            for name, values in metadata.items():
                self.add_metadata(name, values)
            self._save(self._end(), end=b"")
        except OSError:
            self.abandon()
            raise
        self._close()

    def abandon(self) -> None:
        """Close the file with the flushed messages, after an error, unless it is already closed."""
        if self.descriptor >= 0:
            try:
                os.ftruncate(self.descriptor, self._saved)
                _write_at(self.descriptor, _PROVISIONAL_END, self._saved)
            finally:
                self._close()

    def _define(self, opcode: Opcode, record: records.McapRecord) -> None:
        self._summary[opcode].append(record)
        self._parts.append(encoded(record))
        self._buffered += len(self._parts[-1])

    def _save(self, data: bytes, end: bytes = _PROVISIONAL_END) -> None:
        """Write data with an end, which is overwritten later."""
        _write_at(self.descriptor, data + end, self._saved)
        self._saved += len(data)

    def _end(self) -> bytes:
        """Return what follows the data."""
        groups = self._summary
        chunks = groups[Opcode.CHUNK_INDEX]
        groups[Opcode.STATISTICS] = [
            records.Statistics(
                attachment_count=len(groups[Opcode.ATTACHMENT_INDEX]),
                channel_count=len(groups[Opcode.CHANNEL]),
                channel_message_counts=self._counts,
                chunk_count=len(chunks),
                message_count=self._counts.total(),
                message_end_time=self._times[1] if chunks else 0,
                message_start_time=self._times[0] if chunks else 0,
                metadata_count=len(groups[Opcode.METADATA_INDEX]),
                schema_count=len(groups[Opcode.SCHEMA]),
            )
        ]
        end, content, offsets = encoded(records.DataEnd(0)), b"", []
        start = self._saved + len(end)
        for opcode, group in groups.items():
            part = encoded(*group)
            offsets.append(records.SummaryOffset(opcode, start + len(content), len(part)))
            content += part
        offset_start = start + len(content)
        content += encoded(*offsets)
        head = _FOOTER_FIELDS.pack(Opcode.FOOTER, 20, start, offset_start)
        footer = records.Footer(start, offset_start, zlib.crc32(content + head))
        return end + content + encoded(footer) + MCAP0_MAGIC

    def _close(self) -> None:
        os.close(self.descriptor)
        self.descriptor = -1


class TopicFile(BagFile):
    """Writes the messages of topics, each with its definition, as a file of a bag."""

    def __init__(
        self,
        path: Path,
        metadata: Metadata,
        compression: str = "none",
        descriptor: int | None = None,
    ) -> None:
        """Add an empty file to the metadata of a bag, as `BagFile` does."""
        super().__init__(path, compression, descriptor)
        self.span = metadata.files[path.name] = Span()  # number and times of its messages
        self._metadata = metadata
        self._numbers: dict[str, int] = {}  # of types and of topics

    def add(
        self, topic: RecordedTopic, log_time: int, publish_time: int, sequence: int, data: bytes
    ) -> None:
        """Add a message of a topic, and count it; else as `write`."""
        channel = self._numbers.get(topic.name) or self._channel(topic)
        self.write(channel, log_time, publish_time, sequence, data)
        topic.count += 1
        self.span.add(log_time)

    def complete(self) -> None:
        """`finish` with a copy of metadata.yaml."""
        self.finish({"rosbag2": {"serialized_metadata": self._metadata.text()}})

    def _channel(self, topic: RecordedTopic) -> int:
        kind = topic.kind
        if kind not in self._numbers:
            encoding, text = definition(kind)
            self._numbers[kind] = self.add_schema(kind, encoding, text.encode())
        number = self.add_channel(topic.name, "cdr", self._numbers[kind], topic.channel_metadata)
        self._numbers[topic.name] = number
        return number


def _write_at(file: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, offset)
        view, offset = view[written:], offset + written
