"""Summary section of an MCAP file.

mcap's writer builds its summary while it writes; `repair` needs one for existing data.
"""

import struct
import zlib
from collections.abc import Iterable, Mapping

from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
    Chunk,
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
    """Return the bytes of records."""
    builder = RecordBuilder()
    for record in records:
        record.write(builder)
    content: bytes = builder.end()  # type: ignore[no-untyped-call]
    return content


_DATA_END = encoded([DataEnd(data_section_crc=0)])
PROVISIONAL_END = (
    _DATA_END
    + encoded([Footer(summary_start=0, summary_offset_start=0, summary_crc=0)])
    + MCAP0_MAGIC
)
"""End of a valid file without summary; readers then scan the whole file."""


class McapSummary:
    """Index of the data section of a file.

    Attributes:
        schemas: Schemas by id.
        channels: Channels by id.
        chunks: Indexes of the chunks.
        metadata: Indexes of the metadata records.
        statistics: Counts and times.
    """

    def __init__(self) -> None:
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

    def add_chunk(
        self, chunk: Chunk, start: int, length: int, counts: Mapping[int, int]
    ) -> ChunkIndex:
        """Add a chunk whose record has this offset and length, with its messages by channel.

        Returns:
            Its index, to which message indexes are to be added.
        """
        index = ChunkIndex(
            chunk_length=length,
            chunk_start_offset=start,
            compression=chunk.compression,
            compressed_size=len(chunk.data),
            message_end_time=chunk.message_end_time,
            message_index_length=0,
            message_index_offsets={},
            message_start_time=chunk.message_start_time,
            uncompressed_size=chunk.uncompressed_size,
        )
        self.chunks.append(index)
        total, first = self.statistics, chunk.message_start_time
        earliest = min(total.message_start_time, first) if total.chunk_count else first
        total.message_start_time = earliest
        total.message_end_time = max(total.message_end_time, chunk.message_end_time)
        total.message_count += sum(counts.values())
        for channel, count in counts.items():
            previous = total.channel_message_counts.get(channel, 0)
            total.channel_message_counts[channel] = previous + count
        total.chunk_count += 1
        return index

    def end(self, at: int) -> bytes:
        """Return the end of the file after a data section that ends at offset `at`."""
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
