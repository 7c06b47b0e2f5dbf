"""Input of the mouse and the keyboard that a page sends to Studio's panels."""

import struct

_HEADER = struct.Struct("<IB")  # size and kind of a command
_INPUT = 2
_MOUSE = struct.Struct("<2h")
_MOUSE_AT, _OUTSIDE = 12, (-1, -1)
_WHEEL = (16, 24)
_CHARACTERS = (24, 538)  # and their number
_PRESSED = (552, 616)  # masks of buttons and keys, and positions of sticks
# Source: struct CmdInput in NetImgui_CmdPackets.h of netImgui, version 18 of its protocol.


def is_input(message: bytes) -> bool:
    """Return whether a message of a page is its input."""
    size = _PRESSED[1]
    return len(message) == size and _HEADER.unpack_from(message) == (size, _INPUT)


def released(message: bytes) -> bytes:
    """Return an input without pressed buttons and keys, with the mouse outside the page."""
    parts = bytearray(message)
    for first, end in (_WHEEL, _CHARACTERS, _PRESSED):
        parts[first:end] = bytes(end - first)
    _MOUSE.pack_into(parts, _MOUSE_AT, *_OUTSIDE)
    return bytes(parts)
