"""How an MCAP file ends: with an index of what is in it, or without."""

import struct
import zlib
from collections.abc import Iterable, Mapping

from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
    ChunkIndex,
    DataEnd,
    Footer,
    McapRecord,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)
from mcap.writer import MCAP0_MAGIC

_FOOTER = struct.Struct("<BQQQ")


def encoded(records: Iterable[McapRecord]) -> bytes:
    """Return records as they are in a file."""
    builder = RecordBuilder()
    for record in records:
        record.write(builder)
    content: bytes = builder.end()  # type: ignore[no-untyped-call]
    return content


_DATA_END = encoded([DataEnd(data_section_crc=0)])
# A file is valid without an index; readers then look through all of it.
PROVISIONAL_END = (
    _DATA_END
    + encoded([Footer(summary_start=0, summary_offset_start=0, summary_crc=0)])
    + MCAP0_MAGIC
)
"""The end of a file that has no index yet."""


class Index:
    """What is in the data section of a file.

    Attributes:
        schemas: Schemas by id.
        channels: Channels by id.
        chunks: Where the chunks are.
        metadata: Where the metadata records are.
        statistics: Counts and times.
    """

    def __init__(self) -> None:
        """Begin with an empty file."""
        self.schemas: dict[int, Schema] = {}
        self.channels: dict[int, Channel] = {}
        self.chunks: list[ChunkIndex] = []
        self.metadata: list[MetadataIndex] = []
        self.statistics = Statistics(
            attachment_count=0,
            channel_count=0,
            channel_message_counts={},
            chunk_count=0,
            message_count=0,
            message_end_time=0,
            message_start_time=0,
            metadata_count=0,
            schema_count=0,
        )

    def add_chunk(self, chunk: ChunkIndex, counts: Mapping[int, int]) -> None:
        """Note a chunk and how many messages of each channel it has."""
        self.chunks.append(chunk)
        total, first = self.statistics, chunk.message_start_time
        earliest = min(total.message_start_time, first) if total.chunk_count else first
        total.message_start_time = earliest
        total.message_end_time = max(total.message_end_time, chunk.message_end_time)
        total.message_count += sum(counts.values())
        for channel, count in counts.items():
            known = total.channel_message_counts.get(channel, 0)
            total.channel_message_counts[channel] = known + count
        total.chunk_count += 1

    def end(self, at: int) -> bytes:
        """Return all that follows the data section, which ends at `at`."""
        statistics = self.statistics
        statistics.schema_count = len(self.schemas)
        statistics.channel_count = len(self.channels)
        statistics.metadata_count = len(self.metadata)
        start = at + len(_DATA_END)
        groups: list[tuple[Opcode, Iterable[McapRecord]]] = [
            (Opcode.SCHEMA, self.schemas.values()),
            (Opcode.CHANNEL, self.channels.values()),
            (Opcode.STATISTICS, [statistics]),
            (Opcode.CHUNK_INDEX, self.chunks),
            (Opcode.METADATA_INDEX, self.metadata),
        ]
        summary = bytearray()
        offsets: list[SummaryOffset] = []
        for opcode, records in groups:
            group = encoded(records)
            if group:
                offset = start + len(summary)
                offsets.append(SummaryOffset(opcode, group_start=offset, group_length=len(group)))
                summary += group
        offsets_start = start + len(summary)
        summary += encoded(offsets)
        checked = bytes(summary) + _FOOTER.pack(Opcode.FOOTER, 20, start, offsets_start)
        footer = Footer(
            summary_start=start,
            summary_offset_start=offsets_start,
            summary_crc=zlib.crc32(checked),
        )
        return _DATA_END + bytes(summary) + encoded([footer]) + MCAP0_MAGIC
