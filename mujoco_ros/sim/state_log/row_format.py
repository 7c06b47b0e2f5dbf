"""Rows of states: their fields, the ring that keeps them in memory, and the file of a log.

A file is MAGIC, then records. A record is a header of 24 bytes (kind, CRC-32 and length of the
content, zero; all little-endian), the content, and zeros up to a multiple of 8 bytes.

====  ============================================================================================
SEGM  Header of a segment: length of a JSON text (8 bytes), the text, the model as MJB (zlib)
ROWS  Next rows of the segment: for each field of the JSON text, its numbers in all of these rows
      (float64)
====  ============================================================================================
"""

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.state.state_vector import Field, StateField

STATE = "state"
"""Key of the state vector among the arrays of a row; a field of the log is one of its fields."""
DERIVED = ("sensordata", "qacc", "qfrc_actuator")
"""Arrays of MjData that are computed from the state."""


def row_fields(arrays: Mapping[str, np.ndarray], state: Sequence[StateField]) -> list[Field]:
    """Return the fields of the arrays of a row; the fields of the state come first."""
    others = [Field(name, array.shape) for name, array in arrays.items() if name != STATE]
    return [*state, *others]


def columns(rows: np.ndarray, fields: Sequence[Field]) -> dict[str, np.ndarray]:
    """Return the fields of an array that has one row after the other.  # (n, …) each"""
    found, first = {}, 0
    for field in fields:
        found[field.name] = rows[:, first : first + field.size].reshape(len(rows), *field.shape)
        first += field.size
    return found


class RowRing:
    """A ring of rows: one thread adds rows, others read them without locks.

    Only the counter and the rows are shared: a word is read and written atomically.
    """

    def __init__(self, rows: np.ndarray, counter: "memoryview[int]") -> None:
        """Wrap rows (capacity, words) and the number (1,) of rows that were ever added."""
        self.rows, self._counter = rows, counter
        self._bytes = memoryview(rows.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
        self._stride = 8 * rows.shape[1]
        self.capacity = len(rows)  # largest number of rows

    @property
    def added(self) -> int:
        """Number of rows that were ever added."""
        return self._counter[0]

    def add(self, row: memoryview) -> None:
        """Add a row, in place of the oldest one if all are in use."""
        added = self._counter[0]
        first = added % self.capacity * self._stride
        self._bytes[first : first + self._stride] = row
        self._counter[0] = added + 1


def split_rows(numbers: np.ndarray, fields: Sequence[Field]) -> dict[str, np.ndarray]:
    """Return the fields of a record, which has all rows of one field, then of the next."""
    width = sum(field.size for field in fields)
    count = len(numbers) // width
    rows: dict[str, np.ndarray] = {}
    first = 0
    for field in fields:
        last = first + count * field.size
        rows[field.name] = numbers[first:last].reshape(count, *field.shape)
        first = last
    return rows


def to_json(fields: Sequence[Field]) -> list[dict[str, Any]]:
    """Return fields as in a segment header."""
    return [{"name": field.name, "shape": list(field.shape)} for field in fields]


MAGIC = b"MJRLOG\x01\n"
SEGMENT = b"SEGM"
ROWS = b"ROWS"
_HEADER = struct.Struct("<4sIQQ")
_ALIGNMENT = 8


class Record(NamedTuple):
    """Kind, offset and length of a record's content."""

    kind: bytes
    offset: int
    length: int


def write_record(file: BinaryIO, kind: bytes, parts: Sequence[bytes | memoryview]) -> int:
    """Write a record with the concatenation of `parts`; return its size."""
    length = crc = 0
    for part in parts:
        length += len(part)
        crc = zlib.crc32(part, crc)
    write_all(file, _HEADER.pack(kind, crc, length, 0))
    for part in parts:
        write_all(file, part)
    padding = -length % _ALIGNMENT
    write_all(file, bytes(padding))
    return _HEADER.size + length + padding


def write_rows(file: BinaryIO, rows: Mapping[str, np.ndarray]) -> int:
    """Write rows by field, as `write_record`."""
    numbers = (np.ascontiguousarray(column) for column in rows.values() if column.size)
    return write_record(file, ROWS, [column.data.cast("B") for column in numbers])


def write_all(file: BinaryIO, data: bytes | memoryview) -> None:
    """Write all of `data` to an unbuffered file, whose `write` may write a part only."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def find_records(path: Path, content: memoryview) -> tuple[list[Record], str]:
    """Return the records of a log up to the first problem, which is empty for an intact file."""
    if bytes(content[: len(MAGIC)]) != MAGIC:
        raise UserInputError(f"'{path}' is no state log")
    records: list[Record] = []
    for record, crc in _headers(content):
        end = record.offset + record.length
        where = f"after {record.offset - _HEADER.size} of {len(content)} bytes"
        if record.kind not in (SEGMENT, ROWS):
            return records, f"it is corrupt {where}"
        if end > len(content):
            return records, f"its last record is incomplete {where}"
        if zlib.crc32(content[record.offset : end]) != crc:
            return records, f"it is corrupt {where}"
        records.append(record)
    return records, ""


def _headers(content: memoryview) -> Iterator[tuple[Record, int]]:
    offset = len(MAGIC)
    while offset < len(content):
        header = bytes(content[offset : offset + _HEADER.size]).ljust(_HEADER.size, b"\xff")
        kind, crc, length, _ = _HEADER.unpack(header)
        if len(content) - offset < _HEADER.size:
            length = len(content)  # the header itself is incomplete
            kind = ROWS
        yield Record(kind, offset + _HEADER.size, length), crc
        offset += _HEADER.size + length + -length % _ALIGNMENT
