"""One MCAP file of a bag, valid after every flush, and what became of a bag's files."""

import os
import struct
from collections import defaultdict
from collections.abc import Mapping
from errno import ENOENT
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import DataEnd, Footer, MessageIndex
from mcap.writer import MCAP0_MAGIC, CompressionType, Writer

from mujoco_ros.recording.metadata import Span

COMPRESSIONS = {
    "none": CompressionType.NONE,
    "lz4": CompressionType.LZ4,
    "zstd": CompressionType.ZSTD,
}
_CHUNK_BYTES = 1 << 20
"""Readers hold whole chunks in memory, so a chunk of this size is written at once."""
_MESSAGE = struct.Struct("<BQHIQQ")
_MESSAGE_FIELDS = 22
"""Bytes of a message record between its length and its data."""


def _provisional_end() -> bytes:
    builder = RecordBuilder()
    DataEnd(data_section_crc=0).write(builder)
    Footer(summary_start=0, summary_offset_start=0, summary_crc=0).write(builder)
    content: bytes = builder.end()  # type: ignore[no-untyped-call]
    return content + MCAP0_MAGIC


_PROVISIONAL_END = _provisional_end()
"""End of a valid file without summary; readers then scan the whole file."""


class BagFile:
    """Writes an MCAP file chunk by chunk.

    Each flush writes the chunk and a provisional end in one call, and the next flush overwrites
    that end: whenever the process dies, all flushed messages are in a valid file. `finish` replaces
    the provisional end by the summary. Messages go into the chunk of mcap's writer all at once,
    by its private attributes: its `add_message` takes four times as long.

    Attributes:
        path: The file.
        writer: Writer of schemas, channels and what else is no message.
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
        self.writer = Writer(self._stream, compression=COMPRESSIONS[compression])
        self._chunk = self.writer._Writer__chunk_builder  # type: ignore[attr-defined]
        self._statistics = self.writer._Writer__statistics  # type: ignore[attr-defined]
        self._buffered = 0  # bytes of messages that are not in the writer
        self._parts: list[bytes] = []  # of these messages
        # By channel: time, offset, time, offset, …
        self._entries: defaultdict[int, list[int]] = defaultdict(list)
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
        length = _MESSAGE_FIELDS + len(data)
        head = _MESSAGE.pack(Opcode.MESSAGE, length, channel, sequence, log_time, publish_time)
        self._parts += (head, data)
        self._entries[channel] += (log_time, self._buffered)
        self._buffered += 9 + length
        if self._buffered >= _CHUNK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the buffered messages; a later crash of this process cannot lose them.

        Raises:
            OSError: They could not be written; `abandon` the file.
        """
        if self._entries:
            self._fill_chunk()
        self.writer.flush()  # type: ignore[no-untyped-call]
        self._stream.save()

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

    def _fill_chunk(self) -> None:
        """Hand the messages to mcap's writer, whose chunk has definitions alone so far."""
        chunk, total, begin = self._chunk, self._statistics, self._chunk.count
        firsts, lasts = [], []
        for channel, entries in self._entries.items():
            index = np.array(entries, dtype="<u8")
            index[1::2] += np.uint64(begin)
            chunk.message_indices[channel] = _PackedIndex(channel, index)  # type: ignore[arg-type]
            firsts.append(int(index[::2].min()))
            lasts.append(int(index[::2].max()))
            chunk.num_messages += len(index) // 2
            total.channel_message_counts[channel] += len(index) // 2
        chunk.record_writer.write(b"".join(self._parts))
        chunk.message_start_time, chunk.message_end_time = min(firsts), max(lasts)
        if total.message_count:
            firsts.append(total.message_start_time)
            lasts.append(total.message_end_time)
        total.message_start_time, total.message_end_time = min(firsts), max(lasts)
        total.message_count += chunk.num_messages
        self._buffered = 0
        self._parts.clear()
        self._entries.clear()


class _PackedIndex(MessageIndex):
    """Times and offsets of the messages of a channel in a chunk, as one array."""

    def write(self, stream: RecordBuilder) -> None:
        """Write the record in one call instead of two for each message."""
        content = np.asarray(self.records).tobytes()
        stream.start_record(Opcode.MESSAGE_INDEX)
        stream.write2(self.channel_id)
        stream.write4(len(content))
        stream.write(content)
        stream.finish_record()  # type: ignore[no-untyped-call]


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
        """End the file after what was saved."""
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


_DESCRIPTORS = Path("/proc/self/fd")


class _Flushed(NamedTuple):
    """Device and inode of a file, and the number of messages that were written into it."""

    device: int
    inode: int
    messages: int


class BagFiles:
    """Detects files that are deleted, moved or replaced while a bag is written.

    An open file can be written after it was deleted: only its name is missing.
    """

    def __init__(self, folder: Path, spans: Mapping[str, Span]) -> None:
        """Check the files in a folder, whose names and messages are in `spans`."""
        self._folder, self._spans = folder.absolute(), spans
        self._flushed: dict[str, _Flushed] = {}

    def check(self) -> None:
        """Register that all messages so far are written.

        Raises:
            OSError: A file has been deleted, moved or replaced.
        """
        for name, span in self._spans.items():
            status = os.stat(self._folder / name)
            known = self._flushed.setdefault(name, _Flushed(status.st_dev, status.st_ino, 0))
            if known[:2] != (status.st_dev, status.st_ino):
                raise FileNotFoundError(ENOENT, "another file has its name", name)
            self._flushed[name] = known._replace(messages=span.count)

    def report(self, problem: str) -> str:
        """Return the problem that ended the recording, and where its messages are.

        The numbers are of the last `check`; more messages may have been written since.
        """
        found: dict[Path, int] = {}
        lost: dict[str, int] = {}
        for name, file in self._flushed.items():
            place = self._place(name, file)
            if place is None:
                lost[name] = file.messages
            else:
                found[place.parent] = found.get(place.parent, 0) + file.messages
        text = problem
        if lost:
            text += f"; {sum(lost.values())} messages are lost with {', '.join(lost)}"
            text += ", which was deleted" if len(lost) == 1 else ", which were deleted"
        for folder, count in found.items():
            text += (
                f"; the messages recorded before, at least {count}, are kept"
                f"{'' if folder == self._folder else f' in {folder}, to which they were moved'}; "
                f"'record --repair {folder}' indexes them"
            )
        return text

    def _place(self, name: str, file: _Flushed) -> Path | None:
        """Return where a file is, as far as it can be found; None if it was deleted."""
        try:
            status = os.stat(self._folder / name)
            if (status.st_dev, status.st_ino) == file[:2]:
                return self._folder / name
        except OSError:
            pass
        for descriptor in _DESCRIPTORS.iterdir():
            try:
                status = descriptor.stat()
                if (status.st_dev, status.st_ino) == file[:2] and status.st_nlink:
                    return descriptor.readlink()
            except OSError:
                continue
        return None
