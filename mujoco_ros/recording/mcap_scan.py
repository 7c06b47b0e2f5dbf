"""The sound contents of a damaged MCAP file; mcap's own readers end at the first error."""

import os
import zlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from mcap import records
from mcap.opcode import Opcode
from mcap.writer import MCAP0_MAGIC

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import open_file
from mujoco_ros.recording.mcap_records import (
    CHUNK,
    DAMAGED,
    HEAD,
    LARGEST,
    MESSAGE,
    Block,
    McapMessage,
    McapRecords,
    chunk_size,
    parsed,
)

_PART = 1 << 20
"""Bytes of a block of messages outside of chunks, and of a part that is read at once."""
_FOOTER = 20
"""Bytes of the content of a footer, of which the last four are the check sum of the summary."""
_Kind = TypeVar("_Kind", records.Channel, records.Schema)


@dataclass(kw_only=True)
class Damage:
    """Damaged bytes of a file."""

    offset: int
    size: int
    what: str
    reason: str = ""
    """How it shows; empty if it cannot be read at all."""
    span: tuple[int, int] | None = None
    """Times between which messages may be missing [ns]."""
    lost: Counter[int] = field(default_factory=Counter)
    """Number of missing messages by channel, as far as their index has them."""
    is_loss: bool = True
    """Whether messages may be missing or wrong."""


@dataclass
class _Definition:
    """A schema or a channel, and the offsets at which it is defined."""

    record: records.Schema | records.Channel
    size: int
    offsets: list[int] = field(default_factory=list)
    is_checked: bool = False

    @property
    def name(self) -> str:
        record = self.record
        return record.topic if isinstance(record, records.Channel) else record.name

    @property
    def meaning(self) -> tuple[object, ...]:
        """The parts that decide how messages are read."""
        return tuple(value for name, value in vars(self.record).items() if name != "metadata")


class McapScan:
    """Verified contents of a file, without chunks whose check sum differs.

    Messages without a check sum are taken if their records are sound.
    """

    def __init__(self, path: Path, topics: Collection[tuple[str, str]] = ()) -> None:
        """Read the file; expected `topics` with types decide between definitions that differ."""
        self.path = path
        self.profile = "ros2"
        self.blocks: list[Block] = []  # blocks of sound messages, in the order of the file
        self.damages: list[Damage] = []  # damaged bytes, in the order of the file
        self.attachments: list[records.Attachment] = []
        self.metadata: list[records.Metadata] = []
        # Numbers of messages when the file was written; None if they are damaged
        self.statistics: records.Statistics | None = None
        self._definitions: dict[tuple[int, bytes], _Definition] = {}  # by opcode and content
        self._run: Block | None = None  # of messages outside of chunks
        self._cut: tuple[Damage, Counter[int]] | None = None  # damaged chunk, its sound messages
        self._data_end: tuple[int, int] | None = None  # offset, check sum
        self._is_after_chunk = False
        self._is_doubtful = False  # a message without a check sum of its own is damaged
        with open(open_file(path, "bag"), "rb", buffering=0) as self._file:
            size, magic = os.fstat(self._file.fileno()).st_size, len(MCAP0_MAGIC)
            is_whole = size > magic and self._read(size - magic, magic) == MCAP0_MAGIC
            self._end = size - magic if is_whole else size
            self._index: dict[int, records.ChunkIndex] = {}  # of chunks by their offsets
            self._left = self._end  # bytes to which the index may lead: it may be wrong
            summary = self._read_summary() if is_whole else self._end
            self._scan(summary)
            data = self._check_data()
        # Number of sound messages by channel
        self.counts = sum((block.counts for block in self.blocks), Counter[int]())
        # Whether the file has an index, or no messages
        self.is_indexed = is_whole and bool(self._index or not self.counts)
        for known in self._definitions.values():
            known.is_checked |= min(known.offsets) < data or max(known.offsets) >= summary
        # Channels by id; a channel that has messages may be missing
        self.channels = self._chosen(records.Channel, {name for name, _ in topics})
        self.schemas = self._chosen(records.Schema, {kind for _, kind in topics})  # schemas by id
        self._correct()

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
        """Yield the messages of a block."""
        with self.path.open("rb") as file:
            yield from block.messages(file)

    def _read(self, offset: int, size: int) -> bytes:
        return os.pread(self._file.fileno(), size, offset)

    def _read_summary(self) -> int:
        """Read the index of chunks if its check sum is right; return where the search ends."""
        at = self._end - HEAD.size - _FOOTER
        head = self._read(max(at, 0), HEAD.size)
        footer = parsed(Opcode.FOOTER, self._read(at + HEAD.size, _FOOTER)) if at > 0 else None
        if head != HEAD.pack(Opcode.FOOTER, _FOOTER) or not isinstance(footer, records.Footer):
            return self._end
        begin, crc = min(footer.summary_start or at, at), footer.summary_crc
        is_checked = crc != 0 and self._crc(begin, self._end - 4) == crc
        if crc and not is_checked:
            self._add_damage(begin, at - begin, "index", "its check sum differs", is_loss=False)
        for opcode, offset, size in McapRecords(self._read, begin, at):
            if opcode == Opcode.CHUNK_INDEX:
                index = parsed(opcode, self._read(offset + HEAD.size, size - HEAD.size))
                assert isinstance(index, records.ChunkIndex)
                self._index[index.chunk_start_offset] = index
            elif is_checked and opcode in (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.STATISTICS):
                self._add_record(opcode, offset, size)
        return begin if is_checked else self._end

    def _scan(self, end: int) -> None:
        magic = len(MCAP0_MAGIC)
        is_mcap = self._read(0, magic) == MCAP0_MAGIC
        if not is_mcap:
            self._add_damage(0, min(magic, end), "begin", is_loss=False)
        chunks = {at: index.chunk_length for at, index in self._index.items() if at < end}
        is_sound = cache(self._is_sound)
        for opcode, at, size in McapRecords(self._read, min(magic, end), end, chunks, is_sound):
            is_mcap = is_mcap or opcode != DAMAGED
            if opcode != Opcode.MESSAGE:
                self._run = None
            if opcode == Opcode.MESSAGE and self._is_message_index(at, size):
                opcode = Opcode.MESSAGE_INDEX
            self._is_after_chunk = opcode in (Opcode.CHUNK, Opcode.MESSAGE_INDEX)
            if opcode == DAMAGED or (opcode == Opcode.MESSAGE and self._data_end is not None):
                self._add_damage(at, size, "record", is_loss=self._data_end is None)
            elif opcode == Opcode.MESSAGE:
                self._add_message(at, size)
            elif opcode == Opcode.CHUNK:
                self._add_chunk(at, size)
            elif opcode == Opcode.MESSAGE_INDEX:
                self._add_message_index(at)
            elif opcode != Opcode.CHUNK_INDEX:
                self._add_record(opcode, at, size)
        if not is_mcap:
            raise UserInputError(f"'{self.path}' cannot be read: it is not an MCAP file")

    def _is_sound(self, at: int) -> bool:
        """Return whether a chunk of the index has sound messages."""
        index, head = self._index[at], self._read(at, HEAD.size + CHUNK.size)
        size, data = index.chunk_length, at + index.chunk_length - index.compressed_size
        if data < at or len(head) < HEAD.size + CHUNK.size or size > min(LARGEST, self._end - at):
            return False
        self._left -= size
        crc = CHUNK.unpack_from(head, HEAD.size)[3]
        block = Block(begin=at, end=at + size, data=data, compression=index.compression)
        problem = self._left < 0 or block.fill(self._file, crc, lambda *_: None)
        # Nothing but the index leads to messages in compressed data.
        return not problem or bool(index.compression and block.counts)

    def _add_damage(
        self, at: int, size: int, what: str, reason: str = "", *, is_loss: bool = True
    ) -> Damage:
        self._cut = None
        self.damages.append(Damage(offset=at, size=size, what=what, reason=reason, is_loss=is_loss))
        return self.damages[-1]

    def _add_message(self, at: int, size: int) -> None:
        run = self._run
        if run is None or run.end - run.begin > _PART:
            run = self._run = Block(begin=at, end=at, data=at, is_whole=True)
            self.blocks.append(run)
        channel, _, time, _ = MESSAGE.unpack(self._read(at + HEAD.size, MESSAGE.size))
        run.count(channel, time)
        run.end = at + size

    def _add_chunk(self, at: int, size: int) -> None:
        head = self._read(at, min(HEAD.size + CHUNK.size + 12, size))
        first, last, _, crc, letters = CHUNK.unpack_from(head, HEAD.size)
        start = HEAD.size + CHUNK.size
        name = head[start : start + letters].decode("latin-1")
        start = min(start + letters + 8, size)
        is_cut = HEAD.size + HEAD.unpack_from(head)[1] > size and not self._read(at + size, 1)
        index = self._index.get(at)
        if index is not None and index.chunk_length == size != chunk_size(head):
            name, start = index.compression, size - index.compressed_size
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
            record = parsed(opcode, content)
            if not isinstance(record, records.Channel | records.Schema):
                return
            known = _Definition(record, HEAD.size + len(content))
            self._definitions[opcode, content] = known
        known.offsets.append(at)
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

    def _add_record(self, opcode: int, at: int, size: int) -> None:
        content = self._read(at + HEAD.size, size - HEAD.size)
        record = parsed(opcode, content)
        if isinstance(record, records.Schema | records.Channel):
            self._define(at, opcode, content, is_checked=False)
        elif isinstance(record, records.Header):
            self.profile = record.profile
        elif isinstance(record, records.Metadata):
            self.metadata.append(record)
        elif isinstance(record, records.Attachment):
            self.attachments.append(record)
        elif isinstance(record, records.DataEnd):
            self._data_end = at, record.data_section_crc
        elif record is None:
            self._add_damage(at, size, "attachment", "its check sum differs")
        elif (
            isinstance(record, records.Statistics)
            and sum(record.channel_message_counts.values()) == record.message_count
        ):
            self.statistics = record

    def _check_data(self) -> int:
        """Return the end of the data if their check sum confirms them, else 0."""
        end, crc = self._data_end or (0, 0)
        if not crc:
            return 0
        if self._crc(0, end) == crc:
            for block in self.blocks:
                block.is_checked = True
            return end
        doubts = self._is_doubtful = self.unchecked > 0
        self._add_damage(0, end, "data section", "its check sum differs", is_loss=doubts)
        return 0

    def _crc(self, begin: int, end: int) -> int:
        crc = 0
        for at in range(begin, end, _PART):
            crc = zlib.crc32(self._read(at, min(_PART, end - at)), crc)
        return crc

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
                key=lambda known: (known.is_checked, known.name in expected, len(known.offsets)),
            )
            # Damaged bytes rarely repeat; a writer that uses a number twice does.
            rivals = [
                known
                for known in definitions
                if known.is_checked or (not best.is_checked and len(known.offsets) > 1)
            ]
            if all(known.meaning == rivals[0].meaning for known in rivals):
                chosen[number] = best.record
                continue
            self._is_doubtful = True
            reason = f"there are others with the number {number}"
            for rival in rivals:
                self._add_damage(rival.offsets[0], rival.size, kind.__name__.lower(), reason)
        return chosen
