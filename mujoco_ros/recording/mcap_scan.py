"""The sound contents of a damaged MCAP file; mcap's own readers end at the first error."""

import os
import zlib
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from mcap.opcode import Opcode
from mcap.records import (
    Attachment,
    Channel,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Metadata,
    Schema,
    Statistics,
)
from mcap.writer import MCAP0_MAGIC

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import open_file
from mujoco_ros.recording.mcap_records import (
    CHUNK,
    DAMAGED,
    HEAD,
    MESSAGE,
    Block,
    McapMessage,
    McapRecords,
    parsed,
)

_PART = 1 << 20
"""Bytes of a block of messages outside of chunks, and of a part that is read at once."""
_CRC_AT = HEAD.size + 24
"""Offset of the check sum in a chunk."""
_Kind = TypeVar("_Kind", Channel, Schema)


@dataclass(kw_only=True)
class Damage:
    """Damaged bytes of a file.

    Attributes:
        offset: Offset of the first byte.
        size: Number of bytes.
        what: What is damaged.
        reason: How it shows; empty if it cannot be read at all.
        span: Times between which messages may be missing [ns]; None if unknown.
        lost: Number of missing messages by channel, as far as their index has them.
        is_loss: Whether messages may be missing or wrong.
    """

    offset: int
    size: int
    what: str
    reason: str = ""
    span: tuple[int, int] | None = None
    lost: Counter[int] = field(default_factory=Counter)
    is_loss: bool = True


@dataclass
class _Definition:
    """A schema or a channel; `meaning` has only the parts that decide how messages are read."""

    record: Schema | Channel
    name: str
    meaning: Schema | Channel
    size: int
    first: int
    last: int = 0
    copies: int = 0
    is_checked: bool = False


class McapScan:
    """Verified contents of a file.

    A chunk whose check sum differs is left out. Messages without a check sum are taken if their
    records are sound.

    Attributes:
        path: The file.
        profile: Profile of the file, such as ``ros2``.
        schemas: Schemas by id.
        channels: Channels by id; a channel that has messages may be missing.
        blocks: Blocks of sound messages, in the order of the file.
        counts: Number of sound messages by channel.
        damages: Damaged bytes, in the order of the file.
        attachments: Attachments.
        metadata: Records of metadata.
        statistics: Numbers of messages when the file was written; None if they are damaged.
    """

    def __init__(self, path: Path, topics: Collection[tuple[str, str]] = ()) -> None:
        """Read the whole file.

        Args:
            path: The file.
            topics: Expected names and types of topics; they decide between definitions that differ.

        Raises:
            UserInputError: It is no MCAP file.
            OSError: It cannot be read.
        """
        self.path = path
        self.profile = "ros2"
        self.blocks: list[Block] = []
        self.damages: list[Damage] = []
        self.attachments: list[Attachment] = []
        self.metadata: list[Metadata] = []
        self.statistics: Statistics | None = None
        self._definitions: dict[tuple[int, bytes], _Definition] = {}  # by opcode and content
        self._indexes: list[ChunkIndex] = []
        self._run: Block | None = None  # of messages outside of chunks
        self._cut: tuple[Damage, Counter[int]] | None = None  # damaged chunk, its sound messages
        self._data_end: tuple[int, int] | None = None  # offset, check sum
        self._footer: tuple[int, Footer] | None = None
        self._is_after_chunk = False
        self._is_doubtful = False  # a message without a check sum of its own is damaged
        with open(open_file(path, "bag"), "rb", buffering=0) as self._file:
            self._scan()
            summary = self._check_summary()
            self._follow_indexes(is_sound=summary is not None)
            data = self._check_data()
        self.counts = sum((block.counts for block in self.blocks), Counter[int]())
        for known in self._definitions.values():
            known.is_checked |= known.first < data
            known.is_checked |= summary is not None and known.last >= summary
        self.channels = self._chosen(Channel, {name for name, _ in topics})
        self.schemas = self._chosen(Schema, {kind for _, kind in topics})
        self._correct()

    @property
    def is_indexed(self) -> bool:
        """Whether the file has an index, or no messages."""
        return self._footer is not None and bool(self._indexes or not self.counts)

    @property
    def unchecked(self) -> int:
        """Number of sound messages that no check sum confirms."""
        return sum(block.counts.total() for block in self.blocks if not block.is_checked)

    @property
    def lost(self) -> Counter[int]:
        """Number of missing messages by channel, as far as it is known."""
        if self.statistics is not None:
            return Counter(self.statistics.channel_message_counts) - self.counts
        return sum((damage.lost for damage in self.damages), Counter[int]())

    @property
    def is_lossy(self) -> bool:
        """Whether something is missing, or may be wrong."""
        total = self.statistics
        if total is None:
            return any(damage.is_loss for damage in self.damages)
        return (
            self._is_doubtful
            or bool(self.lost)
            or total.attachment_count > len(self.attachments)
            or total.metadata_count > len(self.metadata)
        )

    def messages(self, block: Block) -> Iterator[McapMessage]:
        """Yield the messages of a block.

        Raises:
            OSError: The file cannot be read.
        """
        with self.path.open("rb") as file:
            yield from block.messages(file)

    def _read(self, offset: int, size: int) -> bytes:
        return os.pread(self._file.fileno(), size, offset)

    def _scan(self) -> None:
        size, magic = os.fstat(self._file.fileno()).st_size, len(MCAP0_MAGIC)
        is_whole = size > magic and self._read(size - magic, magic) == MCAP0_MAGIC
        end = self._end = size - magic if is_whole else size
        is_mcap = self._read(0, magic) == MCAP0_MAGIC
        if not is_mcap:
            self._add_damage(0, min(magic, size), "begin", is_loss=False)
        for opcode, at, length in McapRecords(self._read, min(magic, end), end):
            is_mcap = is_mcap or opcode != DAMAGED
            if opcode != Opcode.MESSAGE:
                self._run = None
            if opcode == Opcode.MESSAGE and self._is_message_index(at, length):
                opcode = Opcode.MESSAGE_INDEX
            self._is_after_chunk = opcode in (Opcode.CHUNK, Opcode.MESSAGE_INDEX)
            if opcode == DAMAGED or (opcode == Opcode.MESSAGE and self._data_end is not None):
                self._add_damage(at, length, "record", is_loss=self._data_end is None)
            elif opcode == Opcode.MESSAGE:
                self._add_message(at, length)
            elif opcode == Opcode.CHUNK:
                self._add_chunk(at, length)
            elif opcode == Opcode.MESSAGE_INDEX:
                self._add_message_index(at)
            elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
                content = self._read(at + HEAD.size, length - HEAD.size)
                self._define(at, opcode, content, is_checked=False)
            elif (record := parsed(opcode, self._read(at + HEAD.size, length - HEAD.size))) is None:
                self._add_damage(at, length, "attachment", "its check sum differs")
            else:
                self._add_record(at, record)
        if not is_mcap:
            raise UserInputError(f"'{self.path}' cannot be read: it is not an MCAP file")

    def _add_damage(
        self, at: int, size: int, what: str, reason: str = "", *, is_loss: bool = True
    ) -> Damage:
        self._cut = None
        self.damages.append(Damage(offset=at, size=size, what=what, reason=reason, is_loss=is_loss))
        return self.damages[-1]

    def _add_message(self, at: int, size: int) -> None:
        run = self._run
        if run is None or run.end - run.begin > _PART:
            run = self._run = Block(begin=at, end=at, data=at)
            self.blocks.append(run)
        channel, _, time, _ = MESSAGE.unpack(self._read(at + HEAD.size, MESSAGE.size))
        run.count(channel, time)
        run.end = at + size
        run.parts = [(0, run.end - run.begin)]

    def _add_chunk(self, at: int, size: int) -> None:
        head = self._read(at, min(HEAD.size + CHUNK.size + 4, size))
        _, length = HEAD.unpack_from(head)
        first, last, _, crc, letters = CHUNK.unpack_from(head, HEAD.size)
        start = HEAD.size + CHUNK.size
        name = head[start : start + letters].decode("latin-1")
        start = min(start + letters + 8, size)
        is_cut = HEAD.size + length > size and self._read(at + size, 1) == b""
        block = Block(begin=at, end=at + size, data=at + start, compression=name)
        problem = block.fill(self._file, 0 if is_cut else crc, partial(self._define, at))
        problem = problem or ("it ends early" if is_cut else "")
        self._cut = None
        if problem:
            damage = self._add_damage(at, size, "chunk", problem)
            damage.span = first, last
            self._cut = damage, block.counts
        if block.counts or not problem:
            self.blocks.append(block)

    def _define(self, at: int, opcode: int, content: bytes, is_checked: bool) -> None:
        known = self._definitions.get((opcode, content))
        if known is None:
            record, size = parsed(opcode, content), HEAD.size + len(content)
            if isinstance(record, Channel):
                meaning = replace(record, metadata={})
                known = _Definition(record, record.topic, meaning, size, first=at)
            elif isinstance(record, Schema):
                known = _Definition(record, record.name, record, size, first=at)
            else:
                return
            self._definitions[opcode, content] = known
        known.last = at
        known.copies += 1
        known.is_checked |= is_checked

    def _is_message_index(self, at: int, size: int) -> bool:
        """Return whether the opcode of a message index was damaged."""
        entries = int.from_bytes(self._read(at + HEAD.size + 2, 4), "little")
        return self._is_after_chunk and entries % 16 == 0 and size == HEAD.size + 6 + entries

    def _add_message_index(self, at: int) -> None:
        if self._cut is not None:
            damage, sound = self._cut
            content = self._read(at + HEAD.size, 6)
            channel, size = int.from_bytes(content[:2], "little"), content[2:]
            missing = int.from_bytes(size, "little") // 16 - sound[channel]
            if missing > 0:
                damage.lost[channel] = missing

    def _add_record(self, at: int, record: McapRecord) -> None:
        if isinstance(record, Header):
            self.profile = record.profile
        elif isinstance(record, Metadata):
            self.metadata.append(record)
        elif isinstance(record, Attachment):
            self.attachments.append(record)
        elif isinstance(record, ChunkIndex):
            self._indexes.append(record)
        elif isinstance(record, DataEnd):
            self._data_end = at, record.data_section_crc
        elif isinstance(record, Footer):
            self._footer = at, record
        elif (
            isinstance(record, Statistics)
            and sum(record.channel_message_counts.values()) == record.message_count
        ):
            self.statistics = record

    def _check_summary(self) -> int | None:
        """Return the offset of the summary if its check sum confirms it."""
        if self._footer is None or not self._footer[1].summary_crc:
            return None
        at, footer = self._footer
        begin = footer.summary_start
        if begin <= at and self._crc(begin, at + HEAD.size + 16) == footer.summary_crc:
            return begin
        self._add_damage(begin, at - begin, "index", "its check sum differs", is_loss=False)
        return None

    def _check_data(self) -> int:
        """Return the end of the data if their check sum confirms them, else 0."""
        end, crc = self._data_end or (0, 0)
        if not crc:
            return 0
        if self._crc(0, end) == crc:
            for block in self.blocks:
                block.is_checked = True
            return end
        self._is_doubtful = self.unchecked > 0
        reason = "its check sum differs"
        self._add_damage(0, end, "data section", reason, is_loss=self._is_doubtful)
        return 0

    def _crc(self, begin: int, end: int) -> int:
        crc = 0
        for at in range(begin, end, _PART):
            crc = zlib.crc32(self._read(at, min(_PART, end - at)), crc)
        return crc

    def _follow_indexes(self, *, is_sound: bool) -> None:
        """Find the chunks whose own lengths are damaged."""
        found, left = {block.begin for block in self.blocks}, self._end
        for index in self._indexes:
            begin, size = index.chunk_start_offset, index.chunk_length
            end, length = begin + size, index.compressed_size
            if begin in found or length > size or end > self._end:
                continue  # a sound chunk, or a damaged index
            left -= size
            first = bisect_right(self.blocks, begin, key=lambda damage: damage.end)
            last = bisect_left(self.blocks, end, key=lambda damage: damage.begin)
            over = self.blocks[first:last]
            if left < 0 or any(block.is_checked for block in over):
                continue  # a damaged index
            block = Block(begin=begin, end=end, data=end - length, compression=index.compression)
            crc = int.from_bytes(self._read(begin + _CRC_AT, 4), "little")
            problem = block.fill(self._file, crc, partial(self._define, begin))
            inside = [damage for damage in self.damages if begin <= damage.offset < end]
            if problem and not (is_sound or any(other.offset == begin for other in inside)):
                continue
            if block.counts.total() < sum(other.counts.total() for other in over):
                continue  # a wrong index
            self.damages = [damage for damage in self.damages if damage not in inside]
            self.blocks[first:last] = [block] if block.counts or not problem else []
            if problem:
                damage = self._add_damage(begin, size, "chunk", problem)
                damage.span = index.message_start_time, index.message_end_time
                damage.lost = sum((other.lost for other in inside), Counter())

    def _correct(self) -> None:
        """Drop wrong statistics; replace wrong times of damaged bytes by the neighbours' times."""
        if self.statistics is not None and self.statistics.message_count < self.counts.total():
            self.statistics = None  # more messages were found
        self.damages.sort(key=lambda damage: damage.offset)
        for damage in self.damages:
            at = bisect_left(self.blocks, damage.offset, key=lambda damage: damage.begin)
            before = self.blocks[at - 1] if at else None
            after = self.blocks[at] if at < len(self.blocks) else None
            earliest, latest = before.first if before else 0, after.last if after else 1 << 63
            first, last = damage.span or (1, 0)
            if damage.is_loss and not earliest <= first <= last <= latest:
                damage.span = (before.last, after.first) if before and after else None

    def _chosen(self, kind: type[_Kind], expected: Collection[str]) -> dict[int, _Kind]:
        """Return the most credible definitions by id; of credible ones that differ, none."""
        found: defaultdict[int, list[_Definition]] = defaultdict(list)
        for known in self._definitions.values():
            if isinstance(known.record, kind):
                found[known.record.id].append(known)
        chosen: dict[int, Any] = {}
        for number, definitions in found.items():
            best = max(
                definitions,
                key=lambda topic: (topic.is_checked, topic.name in expected, topic.copies),
            )
            # Damaged bytes rarely repeat; a writer that uses a number twice does.
            rivals = [known for known in definitions if known.is_checked == best.is_checked]
            rivals = [known for known in rivals if known.is_checked or known.copies > 1]
            if all(known.meaning == rivals[0].meaning for known in rivals):
                chosen[number] = best.record
                continue
            self._is_doubtful = True
            reason = f"there are others with the number {number}"
            for rival in rivals:
                self._add_damage(rival.first, rival.size, kind.__name__.lower(), reason)
        return chosen
