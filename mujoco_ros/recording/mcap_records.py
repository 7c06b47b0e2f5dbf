"""Finds the sound records of an MCAP file or of a chunk, and their messages."""

import os
import re
import struct
import zlib
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import IO, Any, NamedTuple

import lz4.frame
import zstandard
from mcap import records
from mcap.data_stream import ReadDataStream, RecordBuilder
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import McapRecord

HEAD = struct.Struct("<BQ")
"""Opcode and length of a record."""
MESSAGE = struct.Struct("<HIQQ")
"""Channel, sequence number, log time and publish time [ns]; the data follow."""
CHUNK = struct.Struct("<QQQII")
"""First and last time, size, check sum, length of the name of the compression."""
DAMAGED = 0
"""Opcode of bytes that are no record."""
_TYPES: dict[int, type[McapRecord]] = {
    opcode: getattr(records, opcode.name.title().replace("_", ""))
    for opcode in Opcode
    if opcode not in (Opcode.MESSAGE, Opcode.CHUNK, Opcode.MESSAGE_INDEX)
}
"""Classes of the records that are parsed."""
_COMPRESSIONS = b"", b"zstd", b"lz4"
_CERTAIN = Opcode.CHUNK, Opcode.MESSAGE_INDEX  # records that have their length twice
_START = re.compile(rb"[\x01-\x0f][\s\S]{4}\0{4}")  # opcode, and a length below 4 GiB
_BLOCK = 1 << 20
_ZEROS = bytes(_BLOCK + HEAD.size)
"""What files have where nothing was written; the comparison takes a hundredth of a search."""
LARGEST = 1 << 30
"""Bytes of a record, and of a chunk without compression, which are read into memory at once."""
_LARGEST_PARSED = 1 << 26  # bytes of a record other than a chunk, a message and an attachment
_SMALL = 1 << 16  # bytes of a record that is parsed without a check of what follows it
_CHAIN = 3  # number of records that must follow each other after damaged bytes
_LATEST = 1 << 63
_SMALLEST = 13  # bytes of the smallest record
_COMPARED = 64  # number of messages with which the size of a message is compared


class McapRecords:
    """Yields opcode, offset and size of sound records; DAMAGED, offset and size of other bytes."""

    def __init__(
        self,
        read: Callable[[int, int], bytes],
        start: int,
        end: int,
        chunks: Mapping[int, int] | None = None,
        is_sound: Callable[[int], bool] = lambda _at: True,
    ) -> None:
        """Search from `start` to `end`; `read` returns bytes by offset and number.

        `chunks` are sizes of chunks by offset of an index, which count if they are sound.
        """
        self._read, self._start, self._end = read, start, end
        self._chunks, self._is_sound = chunks or {}, is_sound
        self._stops = [*sorted(self._chunks), end]
        self._sizes: defaultdict[bytes, deque[int]] = defaultdict(  # of messages by channel
            partial(deque, maxlen=_COMPARED)
        )

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        at = self._start
        opcode, size = self._find(at)
        while at < self._end:
            following = at + size
            after = self._find(following) if size else (DAMAGED, 0)
            if size and (after[1] or following == self._end):
                sizes = self._sizes[
                    self._read(at + HEAD.size, 2) if opcode == Opcode.MESSAGE else b""
                ]
                is_certain = opcode in _CERTAIN or (opcode == Opcode.MESSAGE and size in sizes)
                inner = 0 if is_certain else self._record_within(at, size)
                if not inner:
                    sizes.append(size)
                    yield opcode, at, size
                    at, (opcode, size) = following, after
                    continue
                found = inner
            else:
                found = self._search(following if size and opcode in _CERTAIN else at + 1)
                if size and found >= following and not self._is_short(opcode, at, size, found):
                    yield opcode, at, size  # the damage is after this record
                    at = following
            if found > at:
                yield DAMAGED, at, found - at
            at = found
            opcode, size = self._find(at)

    def _find(self, at: int, end: int = 0) -> tuple[int, int]:
        """Return the opcode and size of the record at an offset, up to `end`; size 0 if none is."""
        room = (end or self._end) - at
        head = self._read(at, min(HEAD.size + CHUNK.size + 12, room))
        if len(head) < HEAD.size:
            return DAMAGED, 0
        opcode, length = HEAD.unpack_from(head)
        size, chunk = HEAD.size + length, chunk_size(head)
        if 0 < chunk == size <= LARGEST:  # whatever the opcode
            return Opcode.CHUNK, min(size, room)  # a file may end in it
        if self._chunks.get(at, room + 1) <= room and self._is_sound(at):
            return Opcode.CHUNK, self._chunks[at]
        if opcode == Opcode.CHUNK:
            possible = (
                one
                for one in (size, chunk)
                if len(head) < one <= min(room, LARGEST) and self._may_start(at + one)
            )
            return opcode, next(possible, 0)
        return opcode, size if size <= min(room, LARGEST) and self._fits(opcode, at, head) else 0

    def _fits(self, opcode: int, at: int, head: bytes) -> bool:
        """Return whether the content of a record other than a chunk has the record's length."""
        length = HEAD.unpack_from(head)[1]
        if opcode == Opcode.MESSAGE:
            is_long = length >= MESSAGE.size
            return is_long and bool(max(MESSAGE.unpack_from(head, HEAD.size)[2:]) < _LATEST)
        if opcode == Opcode.MESSAGE_INDEX:
            entries = int.from_bytes(head[11:15], "little")
            return length == 6 + entries and entries % 16 == 0
        if length > _LARGEST_PARSED or opcode not in _TYPES:
            return opcode == Opcode.ATTACHMENT
        if length > _SMALL and not self._may_start(at + HEAD.size + length):
            return False
        return parsed(opcode, self._read(at + HEAD.size, length)) is not None

    def _may_start(self, at: int) -> bool:
        return at == self._end or _START.match(self._read(at, HEAD.size)) is not None

    def _is_short(self, opcode: int, at: int, size: int, end: int) -> bool:
        """Return whether a record seems to reach up to `end`: its length is damaged then."""
        if opcode != Opcode.MESSAGE or at + size == end:
            return False
        sizes = self._sizes[self._read(at + HEAD.size, 2)]
        leaves_no_record = end - at - size < _SMALLEST and end < self._end  # which may be cut
        return leaves_no_record or (size not in sizes and end - at in sizes)

    def _record_within(self, at: int, size: int) -> int:
        """Return where in a record other records fill it, as its length is damaged; 0 for none."""
        start = at + HEAD.size
        data, begin, end = self._read(start, size - HEAD.size), 0, at + size
        seen: set[int] = set()  # offsets from which records do not fill it
        while found := _START.search(data, begin):
            inner = start + found.start()
            while inner < end and inner not in seen and (step := self._find(inner, end)[1]):
                seen.add(inner)
                inner += step
            if inner == end:
                return start + found.start()
            begin = found.start() + 1
        return 0

    def _search(self, at: int) -> int:
        """Return the next offset from which records follow each other; `end` if there is none."""
        stop = bisect_left(self._stops, at)
        while self._stops[stop] < self._end and not self._is_sound(self._stops[stop]):
            del self._stops[stop]
        end = self._stops[stop]
        while at < end:
            block, begin = self._read(at, min(_BLOCK + HEAD.size, end - at)), 0
            is_empty = _ZEROS.startswith(block)
            while not is_empty and (found := _START.search(block, begin)):
                if self._is_chain(at + found.start()):
                    return at + found.start()
                begin = found.start() + 1
            at += _BLOCK
        return end

    def _is_chain(self, at: int) -> bool:
        for _ in range(_CHAIN):
            size = self._find(at)[1]
            if not size:
                return False
            at += size
            if at == self._end:
                break
        return True


def chunk_size(head: bytes) -> int:
    """Return the size of a chunk by the size of its data; 0 if it is no chunk."""
    if len(head) < HEAD.size + CHUNK.size + 8:
        return 0
    length: int = CHUNK.unpack_from(head, HEAD.size)[-1]
    start = HEAD.size + CHUNK.size
    if length > 4 or head[start : start + length] not in _COMPRESSIONS:
        return 0
    start += length
    return start + 8 + int.from_bytes(head[start : start + 8], "little")


def parsed(opcode: int, content: bytes) -> McapRecord | None:
    """Return a record if mcap would write the same bytes: its parsers accept damaged records."""
    builder = RecordBuilder()
    try:
        record: McapRecord = _TYPES[opcode].read(ReadDataStream(BytesIO(content)))  # type: ignore[attr-defined]
        record.write(builder)
    except (McapError, ValueError, struct.error, OverflowError, MemoryError):
        return None
    expected: bytes = builder.end()[HEAD.size :]  # type: ignore[no-untyped-call]
    if opcode == Opcode.ATTACHMENT and not any(content[-4:]):  # no check sum
        expected = expected[:-4]
    return record if content.startswith(expected) else None


def _split(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield opcodes, offsets and sizes of records in sound bytes, and DAMAGED for a wrong rest."""
    at = 0
    while at + HEAD.size <= len(content):
        opcode, length = HEAD.unpack_from(content, at)
        size = HEAD.size + length
        if at + size > len(content) or (opcode == Opcode.MESSAGE and length < MESSAGE.size):
            break
        yield opcode, at, size
        at += size
    if at < len(content):
        yield DAMAGED, at, len(content) - at


_OPEN: dict[str, Callable[[bytes], Any]] = {
    "zstd": lambda data: zstandard.ZstdDecompressor().stream_reader(data),
    "lz4": lambda data: lz4.frame.open(BytesIO(data)),
}
_MAGIC = {b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
_PART = 1 << 20
_SMALL_CHUNK = 1 << 27  # every chunk may expand to this size [bytes]
_GROWTH = 1000  # a larger chunk may expand by this factor; constant images reach some hundreds


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

    `begin`, `end` and `data` are offsets, `counts` numbers of messages by channel, and `first` and
    `last` times of messages [ns].
    """

    begin: int
    end: int
    data: int
    compression: str = ""
    is_checked: bool = False
    """Whether a check sum confirms the data."""
    is_whole: bool = False
    """Whether the data are records that follow each other, so that none is searched."""
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
        """Find the sound records of a chunk with a check sum, or 0; return what is wrong with it.

        `define` is called with the opcode and content of each schema and channel, and whether the
        check sum confirms them.
        """
        content, problem = self._content(file)
        if crc and zlib.crc32(content) != crc:
            return problem or "its check sum differs"
        self.is_checked = self.is_whole = crc != 0
        for opcode, at, size in self._records(content):
            if opcode == DAMAGED:
                problem = problem or "a record is damaged"
            elif opcode == Opcode.MESSAGE:
                channel, _, time, _ = MESSAGE.unpack_from(content, at + HEAD.size)
                self.count(channel, time)
            elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
                define(opcode, content[at + HEAD.size : at + size], self.is_checked)
        self.is_whole |= not problem
        return problem

    def messages(self, file: IO[bytes]) -> Iterator[McapMessage]:
        """Yield the messages."""
        content, _ = self._content(file)
        for opcode, at, size in self._records(content):
            if opcode == Opcode.MESSAGE:
                start = at + HEAD.size
                channel, sequence, log, publish = MESSAGE.unpack_from(content, start)
                data = content[start + MESSAGE.size : at + size]
                yield McapMessage(channel, log, publish, sequence, data)

    def _content(self, file: IO[bytes]) -> tuple[bytes, str]:
        data = os.pread(file.fileno(), self.end - self.data, self.data)
        return _decompressed(data, self.compression)

    def _records(self, content: bytes) -> Iterable[tuple[int, int, int]]:
        if self.is_whole:
            return _split(content)
        return McapRecords(lambda at, size: content[at : at + size], 0, len(content))


def _decompressed(data: bytes, compression: str) -> tuple[bytes, str]:
    """Return the content of a chunk up to the first error, and the error; empty without one."""
    if compression not in ("", *_OPEN):  # the name is damaged
        compression = _MAGIC.get(data[:4], "")
    if not compression:
        return data, ""
    content, problem = BytesIO(), ""  # gives its bytes without a copy
    largest = min(max(_SMALL_CHUNK, _GROWTH * len(data)), LARGEST)
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
