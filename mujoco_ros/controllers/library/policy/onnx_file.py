"""ONNX files: read whole, and only without references to other files.

The numbers of the fields are those of onnx.proto3 of ONNX 1.23. onnxruntime reads weights in other
files when it loads a model, so a model is searched for such references first.
"""

from collections.abc import Iterator
from pathlib import Path

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import SizeLimit, read_file

LARGEST_POLICY = SizeLimit(1 << 28, of_client=1 << 26)
"""Largest ONNX file that is read [byte]."""
_MAX_DEPTH = 32
_Message = dict[int, str]
_MESSAGES: dict[str, _Message] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse tensor"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {
        5: "tensor",
        6: "graph",
        10: "tensor",
        11: "graph",
        22: "sparse tensor",
        23: "sparse tensor",
    },
    "sparse tensor": {1: "tensor", 2: "tensor"},
    "tensor": {},
}
"""The messages inside each message that can contain tensors, by the number of the field."""
_NAME, _EXTERNAL_DATA, _DATA_LOCATION = 8, 13, 14
"""Fields of a tensor."""
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
"""Types of fields in the protobuf encoding."""


def read_onnx(path: Path) -> bytes:
    """Read an ONNX file.

    Raises:
        UserInputError: As `read_file`, or it is not an ONNX file, or it has weights in other files.
    """
    content = read_file(path, "policy", largest=LARGEST_POLICY)
    try:
        _check(memoryview(content), "model", 0)
    except _ExternalDataError as error:
        raise UserInputError(
            f"policy '{path}' has its tensor '{error}' in another file, which is not read; export "
            "it as one file"
        ) from None
    except (IndexError, UnicodeDecodeError):
        raise UserInputError(f"policy '{path}' is not an ONNX file") from None
    return content


class _ExternalDataError(Exception):
    """A tensor is in another file; the message is its name."""


def _check(message: memoryview, kind: str, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise IndexError
    inner = _MESSAGES[kind]
    name, is_external = "", False
    for number, value in _fields(message):
        if number in inner and isinstance(value, memoryview):
            _check(value, inner[number], depth + 1)
        elif kind == "tensor":
            if number == _NAME and isinstance(value, memoryview):
                name = str(value, "utf-8")
            is_external |= number == _EXTERNAL_DATA or (number == _DATA_LOCATION and value != 0)
    if is_external:
        raise _ExternalDataError(name)


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview | int]]:
    """Yield number and value of each field; IndexError if the encoding is invalid."""
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at)
        if key >> 32:  # protobuf would take the lower bits only
            raise IndexError
        kind, value = key & 7, memoryview(b"")
        if kind == _VARINT:
            number, at = _varint(message, at)
            yield key >> 3, number
            continue
        if kind == _LENGTH:
            size, at = _varint(message, at)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            raise IndexError
        if at + size > end:
            raise IndexError
        value, at = message[at : at + size], at + size
        yield key >> 3, value


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Return an integer at a position, and the position behind it."""
    value = 0
    for shift in range(0, 70, 7):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise IndexError
