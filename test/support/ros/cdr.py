"""Plain CDR, written out by hand: which bytes of a serialized message mean something."""

import struct
from typing import Any

from rosidl_parser.definition import AbstractSequence, AbstractString, Array, BasicType

_FORMATS = {"double": "d", "float": "f", "int32": "i", "uint32": "I", "uint8": "B", "boolean": "?"}


class _Writer:
    def __init__(self) -> None:
        self.data = bytearray()
        self.meant = bytearray()

    def number(self, code: str, value: Any) -> None:
        padding = -len(self.data) % struct.calcsize(code)
        encoded = struct.pack(f"<{code}", value)
        self.data += bytes(padding) + encoded
        self.meant += bytes(padding) + b"\1" * len(encoded)

    def text(self, value: str) -> None:
        encoded = value.encode() + b"\0"
        self.number("I", len(encoded))
        self.data += encoded
        self.meant += b"\1" * len(encoded)

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

    Alignment is filled with whatever lay in memory (little-endian plain CDR, XTypes 1.3, 7.4.1).
    """
    writer = _Writer()
    writer.message(message)
    header = 4
    assert len(data) >= header + len(writer.data)
    used = zip(data[header:], writer.meant, strict=False)
    return bytes(data[:2]) + bytes(byte for byte, meant in used if meant)


def encode(message: Any) -> bytes:
    """Return what `without_padding` must return for `message`."""
    writer = _Writer()
    writer.message(message)
    used = zip(writer.data, writer.meant, strict=True)
    return b"\0\1" + bytes(byte for byte, meant in used if meant)
