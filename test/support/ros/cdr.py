"""An independent encoder of plain CDR that marks padding bytes."""

import struct
from typing import Any

from rosidl_parser.definition import AbstractSequence, AbstractString, Array, BasicType

_FORMATS = {
    "double": "d",
    "float": "f",
    "int32": "i",
    "uint32": "I",
    "uint64": "Q",
    "uint8": "B",
    "boolean": "?",
}


class _Writer:
    def __init__(self) -> None:
        self.data = bytearray()
        self.is_data = bytearray()

    def number(self, code: str, value: Any) -> None:
        padding = -len(self.data) % struct.calcsize(code)
        encoded = struct.pack(f"<{code}", value)
        self.data += bytes(padding) + encoded
        self.is_data += bytes(padding) + b"\1" * len(encoded)

    def text(self, value: str) -> None:
        encoded = value.encode() + b"\0"
        self.number("I", len(encoded))
        self.data += encoded
        self.is_data += b"\1" * len(encoded)

    def value(self, kind: Any, value: Any) -> None:
        if isinstance(kind, BasicType):
            self.number(_FORMATS[kind.typename], value)
        elif isinstance(kind, AbstractString):
            self.text(value)
        elif isinstance(kind, (AbstractSequence, Array)):
            if isinstance(kind, AbstractSequence):
                self.number("I", len(value))
            for element in value:
                self.value(kind.value_type, element)
        else:
            self.message(value)

    def message(self, message: Any) -> None:
        for name, kind in zip(
            message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True
        ):
            self.value(kind, getattr(message, name))


def without_padding(data: bytes, message: Any) -> bytes:
    """Return those bytes of `message` serialized as `data` that are not padding.

    Padding has undefined content (little-endian plain CDR, XTypes 1.3, 7.4.1).
    """
    writer = _Writer()
    writer.message(message)
    header = 4
    assert len(data) >= header + len(writer.data)
    used = zip(data[header:], writer.is_data, strict=False)
    return bytes(data[:2]) + bytes(byte for byte, is_data in used if is_data)


def encode(message: Any) -> bytes:
    """Return the expected result of `without_padding` for `message`."""
    writer = _Writer()
    writer.message(message)
    used = zip(writer.data, writer.is_data, strict=True)
    return b"\0\1" + bytes(byte for byte, is_data in used if is_data)
