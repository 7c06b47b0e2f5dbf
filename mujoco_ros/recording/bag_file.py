"""One MCAP file of a bag, valid after every flush."""

import os
import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import lz4.frame
import zstandard
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, Header, Metadata, MetadataIndex, Schema
from mcap.writer import MCAP0_MAGIC

from mujoco_ros.recording.mcap_summary import PROVISIONAL_END, McapSummary, encoded

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "lz4": lz4.frame.compress,
    "zstd": zstandard.compress,
}
_CHUNK_BYTES = 1 << 20
"""Readers hold whole chunks in memory, so a chunk of this size is written at once."""
_MESSAGE = struct.Struct("<BQHIQQ")
_MESSAGE_FIELDS = 22  # bytes of a message record before its data
_MESSAGE_INDEX = struct.Struct("<BQHI")


class BagFile:
    """Writes an MCAP file chunk by chunk.

    Each flush writes the chunk and a provisional end in one call, and the next flush overwrites
    that end: whenever the process dies, all flushed messages are in a valid file. `finish` replaces
    the provisional end by the summary. The writer of the package mcap (1.6.0) is not used because
    a message of 100 bytes costs it 6.7 µs instead of 1.7 µs, and because its summary is private:
    it cannot index the file of a killed process in place (`recording.ros.repair`).
    """

    def __init__(
        self, path: Path, compression: str = "none", descriptor: int | None = None
    ) -> None:
        """Create the file, which only its user can read.

        Args:
            path: The file.
            compression: One of COMPRESSIONS.
            descriptor: An open and empty file to write instead, which is closed at the end.

        Raises:
            OSError: The file exists or cannot be written.
        """
        self.path = path
        self._compression = "" if compression == "none" else compression
        self._compress = COMPRESSIONS[compression]
        self._summary = McapSummary()
        self._start_chunk()
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        self._file = os.open(path, flags, 0o600) if descriptor is None else descriptor
        self._closed = False
        self._written = 0
        header = Header(profile="ros2", library="mujoco_ros")
        self._append(MCAP0_MAGIC + encoded([header]))

    @property
    def size(self) -> int:
        """Bytes written and buffered."""
        return self._written + self._buffered

    @property
    def descriptor(self) -> int:
        """File descriptor, for fdatasync."""
        return self._file

    def add_schema(self, name: str, encoding: str, data: bytes) -> int:
        """Return the id of a new schema."""
        schemas = self._summary.schemas
        schema = Schema(id=len(schemas) + 1, name=name, encoding=encoding, data=data)
        schemas[schema.id] = schema
        self._buffer(encoded([schema]))
        return schema.id

    def add_channel(self, topic: str, schema: int, metadata: Mapping[str, str]) -> int:
        """Return the id of a new channel for CDR messages."""
        channels = self._summary.channels
        channel = Channel(
            id=len(channels) + 1,
            topic=topic,
            message_encoding="cdr",
            schema_id=schema,
            metadata=dict(metadata),
        )
        channels[channel.id] = channel
        self._buffer(encoded([channel]))
        return channel.id

    def write(
        self, channel: int, log_time: int, publish_time: int, sequence: int, data: bytes
    ) -> None:
        """Add a message; times in nanoseconds.

        Raises:
            OSError: A full chunk could not be written; `abandon` the file.
        """
        entries = self._entries.get(channel)
        if entries is None:
            entries = self._entries[channel] = []
        entries.append(log_time)
        entries.append(self._buffered)
        length = _MESSAGE_FIELDS + len(data)
        self._parts.append(
            _MESSAGE.pack(Opcode.MESSAGE, length, channel, sequence, log_time, publish_time)
        )
        self._parts.append(data)
        self._buffered += 9 + length
        if self._buffered >= _CHUNK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the buffered messages; a later crash of this process cannot lose them.

        Raises:
            OSError: They could not be written; `abandon` the file.
        """
        if not self._entries:
            return  # readers fail on a chunk without messages, which has no times
        data = b"".join(self._parts)
        times = [time for entries in self._entries.values() for time in entries[::2]]
        chunk = Chunk(
            compression=self._compression,
            data=self._compress(data),
            message_start_time=min(times),
            message_end_time=max(times),
            uncompressed_crc=zlib.crc32(data),
            uncompressed_size=len(data),
        )
        record = encoded([chunk])
        start, indexes_start = self._written, self._written + len(record)
        written = [record]
        at, offsets = indexes_start, {}
        for channel, entries in self._entries.items():
            packed = struct.pack(f"<{len(entries)}Q", *entries)
            written.append(
                _MESSAGE_INDEX.pack(Opcode.MESSAGE_INDEX, 6 + len(packed), channel, len(packed))
            )
            written.append(packed)
            offsets[channel] = at
            at += _MESSAGE_INDEX.size + len(packed)
        self._append(b"".join(written))
        counts = {channel: len(entries) // 2 for channel, entries in self._entries.items()}
        index = self._summary.add_chunk(chunk, start, len(record), counts)
        index.message_index_offsets = offsets
        index.message_index_length = at - indexes_start
        self._start_chunk()

    def finish(self, metadata: Mapping[str, Mapping[str, str]]) -> None:
        """Write the buffered messages, metadata records and the summary, and close the file.

        Raises:
            OSError: The disk is full; messages flushed before remain readable.
        """
        try:
            self.flush()
            for name, values in metadata.items():
                record = encoded([Metadata(name=name, metadata=dict(values))])
                index = MetadataIndex(offset=self._written, length=len(record), name=name)
                self._append(record)
                self._summary.metadata.append(index)
            write_at(self._file, self._summary.end(self._written), self._written)
        except OSError:
            self.abandon()
            raise
        self._close()

    def abandon(self) -> None:
        """Close the file with the flushed messages, after an error, unless it is already closed."""
        if self._closed:
            return
        try:
            os.ftruncate(self._file, self._written)
            write_at(self._file, PROVISIONAL_END, self._written)
        finally:
            self._close()

    def _close(self) -> None:
        os.close(self._file)
        self._closed = True

    def _start_chunk(self) -> None:
        self._parts: list[bytes] = []
        self._entries: dict[int, list[int]] = {}  # by channel: time, offset, time, offset, …
        self._buffered = 0

    def _buffer(self, data: bytes) -> None:
        self._parts.append(data)
        self._buffered += len(data)

    def _append(self, data: bytes) -> None:
        write_at(self._file, data + PROVISIONAL_END, self._written)
        self._written += len(data)


def write_at(file: int, data: bytes, offset: int) -> None:
    """Write all of `data` at `offset`."""
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, offset)
        view, offset = view[written:], offset + written
