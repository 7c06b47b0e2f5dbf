"""Messages of fixed layout, serialized once; then only their numbers are written anew."""

from typing import Any

import numpy as np
from rclpy.serialization import serialize_message

_STAMP = np.dtype([("sec", "<i4"), ("nanosec", "<u4")])


class LayoutError(RuntimeError):
    """The middleware serializes a message in a way whose numbers cannot be found again."""


class MessageTemplate:
    """One message as bytes, and where in them its numbers are.

    The numbers are found by sentinel values: the message is serialized with a different one in each
    place, and its bytes are searched for them. That works for any middleware which writes numbers
    plainly. It is done twice, with different values: Fast DDS estimates the length of a message,
    and what it does not need of that holds whatever lay in memory, old sentinels among it.

    Attributes:
        data: The serialized message.
        offsets: Byte offset of each number, in the order of the paths.  # (n,)
        times: Byte offset of each time stamp or duration.  # (m,)
    """

    def __init__(self, message: Any, paths: list[str], times: list[str]) -> None:
        """Serialize `message` and find its changing parts.

        Args:
            message: The message; what no path names stays as it is.
            paths: Paths of 64-bit floats, e.g. ``"pose.pose.position.x"`` or ``"velocity.3"``.
            times: Paths of ``builtin_interfaces`` times and durations, e.g. ``"header.stamp"``.

        Raises:
            LayoutError: A number cannot be found.
        """
        first, second = (_places(message, paths, times, sign) for sign in (1, -1))
        found = [one & other for one, other in zip(first, second, strict=True)]
        if any(len(places) != 1 for places in found):
            raise LayoutError(
                f"{type(message).__name__}: cannot locate a number in its serialized form"
            )
        offsets = np.array([place for places in found for place in places], dtype=np.intp)
        self.offsets, self.times = offsets[: len(paths)], offsets[len(paths) :]
        length = len(serialize_message(message))
        write(message, paths, np.zeros(len(paths)))
        write_times(message, times, np.zeros(len(times), dtype=_STAMP))
        self.data = bytes(serialize_message(message))
        if len(self.data) != length or (offsets % 4).any():
            raise LayoutError(f"{type(message).__name__}: its serialized layout is not fixed")


def write(message: Any, paths: list[str], numbers: np.ndarray) -> None:
    """Set the fields named by `paths` one by one: the slow way, reference for the fast one."""
    for path, number in zip(paths, numbers, strict=True):
        *parents, last = path.split(".")
        owner = _resolve(message, parents)
        if last.isdigit():
            owner[int(last)] = float(number)
        else:
            setattr(owner, last, float(number))


def write_times(message: Any, paths: list[str], times: np.ndarray) -> None:
    """Set the times and durations named by `paths` from records of ``sec`` and ``nanosec``."""
    for path, time in zip(paths, times, strict=True):
        place = _resolve(message, path.split("."))
        place.sec, place.nanosec = int(time["sec"]), int(time["nanosec"])


def _resolve(message: Any, path: list[str]) -> Any:
    for part in path:
        message = message[int(part)] if part.isdigit() else getattr(message, part)
    return message


def _places(message: Any, paths: list[str], times: list[str], sign: int) -> list[set[int]]:
    """Serialize with sentinels; return for each path, numbers first, where its sentinel occurs."""
    numbers = sign * (1.5e300 + 1e290 * np.arange(1, len(paths) + 1))
    marks = np.zeros(len(times), dtype=_STAMP)
    marks["sec"] = sign * (0x6B5A0000 + np.arange(len(times)))
    marks["nanosec"] = 0x2F3E0000 + sign * np.arange(len(times))
    write(message, paths, numbers)
    write_times(message, times, marks)
    data = bytes(serialize_message(message))
    return [_all(data, sentinel.tobytes()) for sentinel in (*numbers, *marks)]


def _all(data: bytes, pattern: bytes) -> set[int]:
    """Return the offsets of all occurrences of `pattern`."""
    found = set()
    offset = data.find(pattern)
    while offset >= 0:
        found.add(offset)
        offset = data.find(pattern, offset + 1)
    return found
