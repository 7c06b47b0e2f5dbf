"""Input of a page, as Studio's page sends it."""

import struct

from mujoco_ros.viewer.web.marked_connection import is_input, released

SIZE = 616
FIELDS = struct.Struct("<IB3x 2H 2h 2f 256H H 2? 2f 4x 4Q 8f")
"""Size and kind; size of the page, place of the mouse, wheel, characters and their number,
compression, scale and rate; masks of buttons and keys, positions of sticks."""


def test_an_input_is_released_outside_the_page():
    page = (SIZE, 2, 1000, 640)
    characters = (*(104, 105), *([0] * 254), 2)
    settings = (True, False, 1.0, 30.0)
    sticks = 8 * [0.5]
    pressed = FIELDS.pack(*page, 120, 5, 1.0, -1.0, *characters, *settings, 3, 1, 2, 4, *sticks)
    assert is_input(pressed)
    empty = FIELDS.pack(*page, -1, -1, 0.0, 0.0, *([0] * 257), *settings, 0, 0, 0, 0, *([0.0] * 8))
    assert released(pressed) == empty


def test_other_messages_are_no_input():
    version = struct.pack("<IB", SIZE, 0) + bytes(SIZE - 5)
    short = struct.pack("<IB", SIZE, 2)
    assert not any(is_input(message) for message in (version, short, b""))
