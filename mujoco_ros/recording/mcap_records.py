"""Finds the sound records of an MCAP file, or of a chunk, between damaged bytes."""

import re
import struct
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO

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
"""Opcode of what is no record."""
_TYPES: dict[int, type[McapRecord]] = {
    Opcode.HEADER: records.Header,
    Opcode.FOOTER: records.Footer,
    Opcode.SCHEMA: records.Schema,
    Opcode.CHANNEL: records.Channel,
    Opcode.CHUNK_INDEX: records.ChunkIndex,
    Opcode.ATTACHMENT: records.Attachment,
    Opcode.ATTACHMENT_INDEX: records.AttachmentIndex,
    Opcode.STATISTICS: records.Statistics,
    Opcode.METADATA: records.Metadata,
    Opcode.METADATA_INDEX: records.MetadataIndex,
    Opcode.SUMMARY_OFFSET: records.SummaryOffset,
    Opcode.DATA_END: records.DataEnd,
}
_COMPRESSIONS = b"", b"zstd", b"lz4"
_CERTAIN = Opcode.CHUNK, Opcode.MESSAGE_INDEX
"""Records that have their length twice."""
_START = re.compile(rb"[\x01-\x0f][\s\S]{4}\0{4}")
"""Opcode, and a length below 4 GiB."""
_BLOCK = 1 << 20
_ZEROS = bytes(_BLOCK + HEAD.size)
"""What files have where nothing was written; the comparison takes a hundredth of a search."""
LARGEST = 1 << 30
"""Bytes of a record, and of a chunk without compression, which are read into memory at once."""
_LARGEST_PARSED = 1 << 26
"""Bytes of a record other than a chunk, a message and an attachment."""
_SMALL = 1 << 16
"""Bytes of a record that is parsed without a check of what follows it."""
_CHAIN = 3
"""Number of records that must follow each other after damaged bytes."""
_LATEST = 1 << 63
_SMALLEST = 13
"""Bytes of the smallest record."""
_COMPARED = 64
"""Number of messages with which the size of a message is compared."""


class McapRecords:
    """Sound records in `end` bytes.

    Iterating yields the opcode, offset and size of each record, and DAMAGED with the offset and
    size of bytes that are none.
    """

    def __init__(self, read: Callable[[int, int], bytes], start: int, end: int) -> None:
        """Search from `start` to `end`; `read` returns bytes by their offset and number."""
        self._read, self._start, self._end = read, start, end
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
        """Return the opcode and size of the record at an offset; size 0 if there is none.

        Args:
            at: The offset.
            end: Latest end of the record; 0 for the end of all.
        """
        room = (end or self._end) - at
        head = self._read(at, min(HEAD.size + CHUNK.size + 12, room))
        if len(head) < HEAD.size:
            return DAMAGED, 0
        opcode, length = HEAD.unpack_from(head)
        size = HEAD.size + length
        if 0 < (chunk := _chunk_size(head)) <= LARGEST:
            if chunk == size:  # whatever the opcode
                return Opcode.CHUNK, min(size, room)  # a file may end in it
            if opcode == Opcode.CHUNK:
                sizes = [
                    it
                    for it in (size, chunk)
                    if len(head) < it <= min(room, LARGEST) and self._may_start(at + it)
                ]
                return Opcode.CHUNK, sizes[0] if sizes else 0
        if size > min(room, LARGEST):
            return opcode, 0
        if opcode == Opcode.MESSAGE:
            if length < MESSAGE.size:
                return opcode, 0
            times = MESSAGE.unpack_from(head, HEAD.size)[2:]
            return opcode, size if max(times) < _LATEST else 0
        if opcode == Opcode.CHUNK:
            return opcode, size if size > len(head) and self._may_start(at + size) else 0
        if opcode == Opcode.MESSAGE_INDEX:
            entries = int.from_bytes(head[11:15], "little")
            return opcode, size if length == 6 + entries and entries % 16 == 0 else 0
        if opcode == Opcode.ATTACHMENT and length > _LARGEST_PARSED:
            return opcode, size
        if opcode not in _TYPES or length > _LARGEST_PARSED:
            return opcode, 0
        if length > _SMALL and not self._may_start(at + size):
            return opcode, 0
        content = self._read(at + HEAD.size, length)
        return opcode, size if parsed(opcode, content) is not None else 0

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
        """Return the offset in a record from which others fill it; 0 if there is none.

        Its length is damaged then: it seems to contain the records after it.
        """
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
        while at < self._end:
            block, begin = self._read(at, min(_BLOCK + HEAD.size, self._end - at)), 0
            while not _ZEROS.startswith(block) and (found := _START.search(block, begin)):
                if self._is_chain(at + found.start()):
                    return at + found.start()
                begin = found.start() + 1
            at += _BLOCK
        return self._end

    def _is_chain(self, at: int) -> bool:
        for _ in range(_CHAIN):
            size = self._find(at)[1]
            if not size:
                return False
            at += size
            if at == self._end:
                break
        return True


def _chunk_size(head: bytes) -> int:
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
    """Return a record from its content; None if it is damaged.

    mcap's parsers accept much of what is damaged, so it must be what mcap would write.
    """
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


def split(content: bytes, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the opcode, offset and size of consecutive records that a check sum confirms.

    DAMAGED is what follows a record of which the writer was wrong.
    """
    at = begin
    while at + HEAD.size <= end:
        opcode, length = HEAD.unpack_from(content, at)
        size = HEAD.size + length
        if at + size > end or (opcode == Opcode.MESSAGE and length < MESSAGE.size):
            break
        yield opcode, at, size
        at += size
    if at < end:
        yield DAMAGED, at, end - at
