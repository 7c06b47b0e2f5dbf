"""The records a state log consists of.

A file is MAGIC, then records. A record is a head of 24 bytes (kind, CRC-32 of the content, length
of the content and zero, all little-endian), the content, and zeros up to a multiple of 8 bytes.

====  ============================================================================================
SEGM  A segment begins: length of a JSON text (8 bytes), the text, the model as MJB (zlib)
ROWS  Rows that follow those before: of each field that the JSON text names, its numbers in all of
      these rows as float64
====  ============================================================================================
"""

import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mujoco_ros.model.errors import UserInputError

MAGIC = b"MJRLOG\x01\n"
SEGMENT = b"SEGM"
ROWS = b"ROWS"
_HEAD = struct.Struct("<4sIQQ")
_ALIGNMENT = 8


class Record(NamedTuple):
    """Where a record's content is: its kind, offset and length."""

    kind: bytes
    offset: int
    length: int


def write_record(file: BinaryIO, kind: bytes, parts: Sequence[bytes | memoryview]) -> int:
    """Write a record whose content is made of `parts`; return its size.

    Raises:
        OSError: There is no space for it, or the disk fails.
    """
    length = crc = 0
    for part in parts:
        length += len(part)
        crc = zlib.crc32(part, crc)
    write_all(file, _HEAD.pack(kind, crc, length, 0))
    for part in parts:
        write_all(file, part)
    padding = -length % _ALIGNMENT
    write_all(file, bytes(padding))
    return _HEAD.size + length + padding


def write_all(file: BinaryIO, data: bytes | memoryview) -> None:
    """Write all of `data` to a file without a buffer, which may take a part of it only."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


class Found(NamedTuple):
    """The records of a file, and why it has no more (empty: it is whole)."""

    records: list[Record]
    problem: str


def find_records(path: Path, content: memoryview) -> Found:
    """Return the records of a log up to the first that is not whole.

    Raises:
        ModelError: It is no log.
    """
    if bytes(content[: len(MAGIC)]) != MAGIC:
        raise UserInputError(f"'{path}' is no state log")
    records: list[Record] = []
    for record, crc in _heads(content):
        end = record.offset + record.length
        where = f"after {record.offset - _HEAD.size} of {len(content)} bytes"
        if record.kind not in (SEGMENT, ROWS):
            return Found(records, f"it is broken {where}")
        if end > len(content):
            return Found(records, f"its last record is incomplete {where}")
        if zlib.crc32(content[record.offset : end]) != crc:
            return Found(records, f"it is broken {where}")
        records.append(record)
    return Found(records, "")


def _heads(content: memoryview) -> Iterator[tuple[Record, int]]:
    offset = len(MAGIC)
    while offset < len(content):
        head = bytes(content[offset : offset + _HEAD.size]).ljust(_HEAD.size, b"\xff")
        kind, crc, length, _ = _HEAD.unpack(head)
        if len(content) - offset < _HEAD.size:
            length = len(content)  # the head itself is incomplete
            kind = ROWS
        yield Record(kind, offset + _HEAD.size, length), crc
        offset += _HEAD.size + length + -length % _ALIGNMENT
