"""One MCAP file of a bag, whole after every flush."""

import os
import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import lz4.frame
import zstandard
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, ChunkIndex, Header, Metadata, MetadataIndex, Schema
from mcap.writer import MCAP0_MAGIC

from mujoco_ros.recording.index import PROVISIONAL_END, Index, encoded

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "lz4": lz4.frame.compress,
    "zstd": zstandard.compress,
}
_CHUNK_BYTES = 1 << 20
"""A chunk this long is written at once: readers hold whole chunks in memory."""
_MESSAGE = struct.Struct("<BQHIQQ")
_MESSAGE_FIELDS = 22  # bytes of a message record before its data
_MESSAGE_INDEX = struct.Struct("<BQHI")


class BagFile:
    """Writes an MCAP file chunk by chunk.

    Each flush writes the chunk and a provisional end in one call, and the next one overwrites that
    end. So whatever happens to this process, what was flushed is a valid file. `finish` puts the
    index in the place of the provisional end. mcap's own writer ends a file only once, and takes
    several times as long for a message.
    """

    def __init__(self, path: Path, compression: str = "none") -> None:
        """Create the file; `compression` is one of COMPRESSIONS.

        Raises:
            OSError: It cannot be written, or exists.
        """
        self.path = path
        self._compression = "" if compression == "none" else compression
        self._compress = COMPRESSIONS[compression]
        self._index = Index()
        self._start_chunk()
        self._file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        self._closed = False
        self._size = 0
        header = Header(profile="ros2", library="mujoco_ros")
        self._append(MCAP0_MAGIC + encoded([header]))

    @property
    def size(self) -> int:
        """Bytes written and waiting."""
        return self._size + self._waiting

    @property
    def descriptor(self) -> int:
        """Its file descriptor, to have it synchronized."""
        return self._file

    def add_schema(self, name: str, encoding: str, data: bytes) -> int:
        """Return the id of a new schema."""
        schemas = self._index.schemas
        schema = Schema(id=len(schemas) + 1, name=name, encoding=encoding, data=data)
        schemas[schema.id] = schema
        self._put(encoded([schema]))
        return schema.id

    def add_channel(self, topic: str, schema: int, metadata: Mapping[str, str]) -> int:
        """Return the id of a new channel for CDR messages."""
        channels = self._index.channels
        channel = Channel(
            id=len(channels) + 1,
            topic=topic,
            message_encoding="cdr",
            schema_id=schema,
            metadata=dict(metadata),
        )
        channels[channel.id] = channel
        self._put(encoded([channel]))
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
        entries.append(self._waiting)
        length = _MESSAGE_FIELDS + len(data)
        self._parts.append(
            _MESSAGE.pack(Opcode.MESSAGE, length, channel, sequence, log_time, publish_time)
        )
        self._parts.append(data)
        self._waiting += 9 + length
        if self._waiting >= _CHUNK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what waits; after that it is safe from a sudden end of this process.

        Raises:
            OSError: It could not be written; `abandon` the file.
        """
        if not self._entries:
            return  # a chunk without messages has no times, which readers stumble over
        data = b"".join(self._parts)
        compressed = self._compress(data)
        times = [time for entries in self._entries.values() for time in entries[::2]]
        chunk = Chunk(
            compression=self._compression,
            data=compressed,
            message_start_time=min(times),
            message_end_time=max(times),
            uncompressed_crc=zlib.crc32(data),
            uncompressed_size=len(data),
        )
        record = encoded([chunk])
        at = self._size + len(record)
        offsets: dict[int, int] = {}
        written = [record]
        for channel, entries in self._entries.items():
            packed = struct.pack(f"<{len(entries)}Q", *entries)
            written.append(
                _MESSAGE_INDEX.pack(Opcode.MESSAGE_INDEX, 6 + len(packed), channel, len(packed))
            )
            written.append(packed)
            offsets[channel] = at
            at += _MESSAGE_INDEX.size + len(packed)
        index = ChunkIndex(
            chunk_length=len(record),
            chunk_start_offset=self._size,
            compression=chunk.compression,
            compressed_size=len(compressed),
            message_end_time=chunk.message_end_time,
            message_index_length=at - self._size - len(record),
            message_index_offsets=offsets,
            message_start_time=chunk.message_start_time,
            uncompressed_size=len(data),
        )
        self._append(b"".join(written))
        counts = {channel: len(entries) // 2 for channel, entries in self._entries.items()}
        self._index.add_chunk(index, counts)
        self._start_chunk()

    def finish(self, metadata: Mapping[str, Mapping[str, str]]) -> None:
        """Write what waits, metadata records and the index, and close the file.

        Raises:
            OSError: There is no space for it; what was flushed before stays readable.
        """
        try:
            self.flush()
            for name, values in metadata.items():
                record = encoded([Metadata(name=name, metadata=dict(values))])
                where = MetadataIndex(offset=self._size, length=len(record), name=name)
                self._append(record)
                self._index.metadata.append(where)
            write_at(self._file, self._index.end(self._size), self._size)
        except OSError:
            self.abandon()
            raise
        self._close()

    def abandon(self) -> None:
        """Close the file with what was flushed, after an error, if it is not closed yet."""
        if self._closed:
            return
        try:
            os.ftruncate(self._file, self._size)
            write_at(self._file, PROVISIONAL_END, self._size)
        finally:
            self._close()

    def _close(self) -> None:
        os.close(self._file)
        self._closed = True

    def _start_chunk(self) -> None:
        self._parts: list[bytes] = []
        self._entries: dict[int, list[int]] = {}  # by channel: time, offset, time, offset, …
        self._waiting = 0

    def _put(self, data: bytes) -> None:
        self._parts.append(data)
        self._waiting += len(data)

    def _append(self, data: bytes) -> None:
        write_at(self._file, data + PROVISIONAL_END, self._size)
        self._size += len(data)


def write_at(file: int, data: bytes, offset: int) -> None:
    """Write all of `data` at `offset`."""
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, offset)
        view, offset = view[written:], offset + written
