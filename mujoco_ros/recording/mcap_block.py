"""Messages of an MCAP file that are read at once."""

import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import IO, Any, NamedTuple

import lz4.frame
import zstandard
from mcap.opcode import Opcode

from mujoco_ros.recording.mcap_records import DAMAGED, HEAD, LARGEST, MESSAGE, McapRecords, split

_OPEN: dict[str, Callable[[bytes], Any]] = {
    "zstd": lambda data: zstandard.ZstdDecompressor().stream_reader(data),
    "lz4": lambda data: lz4.frame.open(BytesIO(data)),
}
_MAGIC = {b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
_PART = 1 << 20
_SMALL = 1 << 27
"""Bytes to which every chunk may expand."""
_GROWTH = 1000
"""Times its size to which a larger one may; constant images reach some hundreds."""


class McapMessage(NamedTuple):
    """A message; times in nanoseconds."""

    channel: int
    log_time: int
    publish_time: int
    sequence: int
    data: bytes


@dataclass(kw_only=True)
class Block:
    """Sound messages: of a chunk, or consecutive ones outside of chunks.

    Attributes:
        begin: Offset of the chunk, or of the first message.
        end: End of the chunk, or of the last message.
        data: Offset of the data.
        compression: Name of the compression of the data; empty for none.
        parts: Begins and ends of sound records in the data without compression.
        is_checked: Whether a check sum confirms the data.
        counts: Number of messages by channel.
        first: Time of the earliest message [ns].
        last: Time of the latest message [ns].
    """

    begin: int
    end: int
    data: int
    compression: str = ""
    parts: list[tuple[int, int]] = field(default_factory=list)
    is_checked: bool = False
    counts: Counter[int] = field(default_factory=Counter)
    first: int = 1 << 64
    last: int = 0

    def count(self, channel: int, time: int) -> None:
        """Count a message."""
        self.counts[channel] += 1
        if time < self.first:
            self.first = time
        if time > self.last:
            self.last = time

    def fill(self, file: IO[bytes], crc: int, define: Callable[[int, bytes, bool], None]) -> str:
        """Find the sound records of a chunk; return what is wrong with it, or nothing.

        Args:
            file: The file.
            crc: Check sum; 0 if there is none.
            define: Called with the opcode and content of each schema and channel, and whether the
                check sum confirms them.
        """
        content, problem = _decompressed(self._read(file), self.compression)
        found: Iterable[tuple[int, int, int]]
        if crc:
            if zlib.crc32(content) != crc:
                return problem or "its check sum differs"
            self.is_checked = True
            found = split(content, 0, len(content))
        else:
            found = McapRecords(lambda at, size: content[at : at + size], 0, len(content))
        for opcode, at, size in found:
            if opcode == DAMAGED:
                problem = problem or "a record is damaged"
                continue
            if opcode == Opcode.MESSAGE:
                channel, _, time, _ = MESSAGE.unpack_from(content, at + HEAD.size)
                self.count(channel, time)
            elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
                define(opcode, content[at + HEAD.size : at + size], self.is_checked)
            if self.parts and self.parts[-1][1] == at:
                self.parts[-1] = self.parts[-1][0], at + size
            else:
                self.parts.append((at, at + size))
        return problem

    def messages(self, file: IO[bytes]) -> Iterator[McapMessage]:
        """Yield the messages."""
        content, _ = _decompressed(self._read(file), self.compression)
        for begin, end in self.parts:
            for opcode, at, size in split(content, begin, end):
                if opcode == Opcode.MESSAGE:
                    start = at + HEAD.size
                    channel, sequence, log, publish = MESSAGE.unpack_from(content, start)
                    data = content[start + MESSAGE.size : at + size]
                    yield McapMessage(channel, log, publish, sequence, data)

    def _read(self, file: IO[bytes]) -> bytes:
        return os.pread(file.fileno(), self.end - self.data, self.data)


def _decompressed(data: bytes, compression: str) -> tuple[bytes, str]:
    """Return the content of a chunk up to the first error, and the error; empty without one."""
    if compression not in ("", *_OPEN):  # the name is damaged
        compression = _MAGIC.get(data[:4], "")
    if not compression:
        return data, ""
    content, problem = BytesIO(), ""  # gives its bytes without a copy
    largest = min(max(_SMALL, _GROWTH * len(data)), LARGEST)
    try:
        stream = _OPEN[compression](data)
        while part := stream.read(_PART):
            content.write(part)
            if content.tell() > largest:
                problem = f"its {len(data)} bytes expand to more than {largest >> 20} MiB"
                break
    except (zstandard.ZstdError, RuntimeError, EOFError, OSError) as error:
        problem = str(error)
    return content.getvalue(), problem
