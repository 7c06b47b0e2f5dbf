"""Messages of fixed layout: serialized once, then only their changing parts are written."""

import struct
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from rclpy.serialization import serialize_message

_STAMP = np.dtype([("sec", "<i4"), ("nanosec", "<u4")])
_FIRST_SENTINEL, _SENTINEL_STEP = 0x7149F2CB, 4099
"""Bits of the first sentinel, 1e30, and the distance to the next."""
_SINGLE_BYTES = 4


class LayoutError(RuntimeError):
    """The changing parts of a message cannot be located in its serialized form."""


class MessageTemplate:
    """A serialized message and the position of its changing parts.

    They are located by sentinel values: the message is serialized with a different one in each
    part, and its bytes are searched for them. That works with any middleware that writes numbers
    plainly. It is done twice, with different values: Fast DDS overestimates the length of a message
    and leaves old memory behind its end, which may contain old sentinels.
    """

    def __init__(
        self,
        message: Any,
        numbers: Sequence[str] = (),
        times: Sequence[str] = ("header.stamp",),
        arrays: Sequence[str] = (),
    ) -> None:
        """Serialize `message` and locate its changing parts; their values are set to zero.

        Parts are paths: `numbers` of floats, as ``"pose.pose.position.x"`` or ``"velocity.3"``,
        `times` of times and durations, as ``"header.stamp"``, and `arrays` of arrays of numbers,
        which already have their final length. A part that cannot be located is a `LayoutError`.
        """
        paths = (*numbers, *times, *arrays)
        first, second = (_places(message, numbers, times, arrays, sign) for sign in (1, -1))
        found = [one & other for one, other in zip(first, second, strict=True)]
        for path, places in zip(paths, found, strict=True):
            if len(places) != 1:
                raise LayoutError(
                    f"{type(message).__name__}: cannot locate '{path}' in its serialized form"
                )
        offsets, sizes = np.array([place for (place,) in found], dtype=np.intp).reshape(-1, 2).T
        # Byte offsets of numbers (n,), in the order of the paths, and of times and durations (m,)
        self.offsets, self.times, starts = np.split(
            offsets, (len(numbers), len(numbers) + len(times))
        )
        # Whether each number is a 32-bit float (n,)
        self.is_single = sizes[: len(numbers)] == _SINGLE_BYTES
        length = len(serialize_message(message))
        write(message, numbers, np.zeros(len(numbers)))
        write_times(message, times, np.zeros(len(times), dtype=_STAMP))
        for path in arrays:
            values = get_field(message, path)
            _write_array(values, bytes(len(values) * values.itemsize))
        # The serialized message, with zero in every changing part
        self.data = bytearray(serialize_message(message))
        if len(self.data) != length or (offsets[: len(numbers) + len(times)] % 4).any():
            raise LayoutError(f"{type(message).__name__}: its serialized layout is not fixed")
        # Writable views of the array fields in `data`, by path
        self.arrays: dict[str, np.ndarray] = {}
        for path, start in zip(arrays, starts.tolist(), strict=True):
            values = get_field(message, path)
            self.arrays[path] = np.ndarray(len(values), values.typecode, self.data, start)

    def stamped(self, sec: int, nanosec: int) -> bytes:
        """Return the serialized message with a time in place of each stamp."""
        for offset in self.times.tolist():
            struct.pack_into("<iI", self.data, offset, sec, nanosec)
        return bytes(self.data)


def write(message: Any, paths: Sequence[str], numbers: np.ndarray) -> None:
    """Set the fields named by `paths` one by one: the slow way, reference for the fast one."""
    for path, number in zip(paths, numbers, strict=True):
        set_field(message, path, float(number))


def message_type(name: str) -> Any:
    """Return the class of a message type, such as ``"sensor_msgs/msg/Imu"``."""
    package, _, message = name.partition("/msg/")
    return getattr(import_module(f"{package}.msg"), message)


def set_field(message: Any, path: str, value: float) -> None:
    """Set the field named by `path`."""
    parent, _, last = path.rpartition(".")
    owner = get_field(message, parent)
    if last.isdigit():
        owner[int(last)] = value
    else:
        setattr(owner, last, value)


def write_times(message: Any, paths: Sequence[str], times: np.ndarray) -> None:
    """Set the times and durations named by `paths` from records of ``sec`` and ``nanosec``."""
    for path, time in zip(paths, times, strict=True):
        place = get_field(message, path)
        place.sec, place.nanosec = int(time["sec"]), int(time["nanosec"])


def _write_array(values: Any, content: bytes) -> None:
    values[:] = type(values)(values.typecode, content)


def get_field(message: Any, path: str) -> Any:
    """Return the field named by `path`; the message itself if that is empty."""
    for name in path.split(".") if path else ():
        message = message[int(name)] if name.isdigit() else getattr(message, name)
    return message


def _places(
    message: Any, paths: Sequence[str], times: Sequence[str], arrays: Sequence[str], sign: int
) -> list[set[tuple[int, int]]]:
    """Serialize with sentinels; return offsets and sizes of each: numbers, times, then arrays."""
    # Floats of 64 bits that are floats of 32 bits as well.
    bits = _FIRST_SENTINEL + _SENTINEL_STEP * np.arange(len(paths), dtype="<u4")
    numbers = sign * bits.view("<f4").astype("<f8")
    marks = np.zeros(len(times), dtype=_STAMP)
    marks["sec"] = sign * (0x6B5A0000 + np.arange(len(times)))
    marks["nanosec"] = 0x2F3E0000 + sign * np.arange(len(times))
    write(message, paths, numbers)
    write_times(message, times, marks)
    sentinels = [[number.tobytes(), np.float32(number).tobytes()] for number in numbers]
    sentinels += [[mark.tobytes()] for mark in marks]
    random = np.random.default_rng(sign + 1)
    for path in arrays:
        values = get_field(message, path)
        content = random.bytes(len(values) * values.itemsize)
        _write_array(values, content)
        sentinels.append([content])
    data = bytes(serialize_message(message))
    return [_found(data, patterns) for patterns in sentinels]


def _found(data: bytes, patterns: Sequence[bytes]) -> set[tuple[int, int]]:
    """Return offset and size of each occurrence of the first pattern that occurs."""
    for pattern in patterns:
        found: set[tuple[int, int]] = set()
        start = data.find(pattern)
        while start >= 0:
            found.add((start, len(pattern)))
            start = data.find(pattern, start + max(1, len(pattern)))
        if found:
            return found
    return set()
