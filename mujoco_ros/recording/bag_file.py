"""One MCAP file of a bag, valid after every flush."""

import os
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from mcap.data_stream import RecordBuilder
from mcap.records import DataEnd, Footer
from mcap.writer import MCAP0_MAGIC, CompressionType, Writer

from mujoco_ros.recording.metadata import Metadata, RecordedTopic, Span, definition

COMPRESSIONS = {
    "none": CompressionType.NONE,
    "lz4": CompressionType.LZ4,
    "zstd": CompressionType.ZSTD,
}
_CHUNK_BYTES = 1 << 20
"""Readers hold whole chunks in memory, so a chunk of this size is written at once."""
_MESSAGE_BYTES = 31
"""Size of a message record without its data."""


def _provisional_end() -> bytes:
    builder = RecordBuilder()
    DataEnd(data_section_crc=0).write(builder)
    Footer(summary_start=0, summary_offset_start=0, summary_crc=0).write(builder)
    content: bytes = builder.end()  # type: ignore[no-untyped-call]
    return content + MCAP0_MAGIC


_PROVISIONAL_END = _provisional_end()
"""End of a valid file without a summary; readers then scan the whole file."""


class BagFile:
    """Writes an MCAP file chunk by chunk.

    Each flush writes the chunk and a provisional end in one call, and the next flush overwrites
    that end: whenever the process dies, all flushed messages are in a valid file. `finish` replaces
    the provisional end by the summary.

    Attributes:
        path: The file.
        writer: Writer of schemas, channels and everything else that is no message.
    """

    def __init__(
        self,
        path: Path,
        compression: str = "none",
        descriptor: int | None = None,
        profile: str = "ros2",
    ) -> None:
        """Create the file, which only its user can read.

        Args:
            path: The file.
            compression: One of COMPRESSIONS.
            descriptor: An open and empty file to write instead, which is closed at the end.
            profile: Profile in its header.

        Raises:
            OSError: The file exists or cannot be written.
        """
        self.path = path
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        self._stream = _Stream(os.open(path, flags, 0o600) if descriptor is None else descriptor)
        self.writer = Writer(self._stream, _CHUNK_BYTES, COMPRESSIONS[compression])
        self._buffered = 0  # bytes of messages in the writer's chunk
        self.writer.start(profile, library="mujoco_ros")
        self._stream.save()

    @property
    def size(self) -> int:
        """Bytes written and buffered."""
        return self._stream.tell() + self._buffered

    @property
    def descriptor(self) -> int:
        """File descriptor, for fdatasync."""
        return self._stream.descriptor

    def write(
        self, channel: int, log_time: int, publish_time: int, sequence: int, data: bytes
    ) -> None:
        """Add a message; times in nanoseconds.

        Raises:
            OSError: A full chunk could not be written; `abandon` the file.
        """
        self.writer.add_message(channel, log_time, data, publish_time, sequence)
        self._buffered += _MESSAGE_BYTES + len(data)
        if self._stream.pending:  # the chunk was full
            self._save()

    def flush(self) -> None:
        """Write the buffered messages; a later crash of this process cannot lose them.

        Raises:
            OSError: They could not be written; `abandon` the file.
        """
        self.writer.flush()  # type: ignore[no-untyped-call]
        self._save()

    def finish(self, metadata: Mapping[str, Mapping[str, str]]) -> None:
        """Write the buffered messages, metadata records and the summary, and close the file.

        Raises:
            OSError: The disk is full; messages flushed before remain readable.
        """
        try:
            self.flush()
            for name, values in metadata.items():
                self.writer.add_metadata(name, dict(values))
            self.writer.finish()  # type: ignore[no-untyped-call]
            self._stream.save(end=b"")
        except OSError:
            self.abandon()
            raise
        self._stream.close()

    def abandon(self) -> None:
        """Close the file with the flushed messages, after an error, unless it is already closed."""
        if not self._stream.closed:
            try:
                self._stream.discard()
            finally:
                self._stream.close()

    def _save(self) -> None:
        self._stream.save()
        self._buffered = 0


class TopicFile(BagFile):
    """Writes the messages of topics, each with its definition, as a file of a bag.

    Attributes:
        span: Number and times of its messages.
    """

    def __init__(
        self,
        path: Path,
        metadata: Metadata,
        compression: str = "none",
        descriptor: int | None = None,
    ) -> None:
        """Add an empty file to the metadata of a bag, as `BagFile` does."""
        super().__init__(path, compression, descriptor)
        self.span = metadata.files[path.name] = Span()
        self._metadata = metadata
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}

    def add(
        self, topic: RecordedTopic, log_time: int, publish_time: int, sequence: int, data: bytes
    ) -> None:
        """Add a message of a topic, and count it; else as `write`."""
        channel = self._channels.get(topic.name)
        if channel is None:
            channel = self._channels[topic.name] = self._channel(topic)
        self.write(channel, log_time, publish_time, sequence, data)
        topic.count += 1
        self.span.add(log_time)

    def complete(self) -> None:
        """`finish` with a copy of metadata.yaml."""
        self.finish({"rosbag2": {"serialized_metadata": self._metadata.text()}})

    def _channel(self, topic: RecordedTopic) -> int:
        schema = self._schemas.get(topic.kind)
        if schema is None:
            encoding, text = definition(topic.kind)
            schema = self.writer.register_schema(topic.kind, encoding, text.encode())
            self._schemas[topic.kind] = schema
        return self.writer.register_channel(topic.name, "cdr", schema, topic.channel_metadata)


class _Stream(BytesIO):
    """What mcap's writer writes into: a buffer that is saved, with an end, in one call.

    Attributes:
        descriptor: Descriptor of the file.
        pending: Number of bytes in the buffer.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.descriptor = descriptor
        self._saved = 0

    @property
    def pending(self) -> int:
        return 0 if self.closed else super().tell()

    def tell(self) -> int:
        """Return the offset in the file."""
        return self._saved + self.pending

    def save(self, end: bytes = _PROVISIONAL_END) -> None:
        """Write the buffer with an end, which is overwritten later."""
        if self.pending:
            data = self.getvalue()
            _write_at(self.descriptor, data + end, self._saved)
            self._saved += len(data)
            self.seek(0)
            self.truncate()

    def discard(self) -> None:
        """Cut the file after the saved bytes."""
        os.ftruncate(self.descriptor, self._saved)
        _write_at(self.descriptor, _PROVISIONAL_END, self._saved)

    def close(self) -> None:
        if not self.closed:
            super().close()
            os.close(self.descriptor)


def _write_at(file: int, data: bytes, offset: int) -> None:
    """Write all of `data` at `offset`."""
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, offset)
        view, offset = view[written:], offset + written
