"""Messages of fixed layout, serialized once; then only their numbers are written anew."""

from typing import Any

import numpy as np
from rclpy.serialization import serialize_message

_STAMP = np.dtype([("sec", "<i4"), ("nanosec", "<u4")])


class LayoutError(RuntimeError):
    """The middleware serializes a message in a way whose numbers cannot be found again."""


class Template:
    """One message as bytes, and where in them its numbers are.

    The numbers are found by sentinel values: the message is serialized with a different one in each
    place, and its bytes are searched for them. That works for any middleware which writes numbers
    plainly, and is checked against a second serialization before use.

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
        numbers = 1.5e300 + 1e290 * np.arange(1, len(paths) + 1)
        marks = np.zeros(len(times), dtype=_STAMP)
        marks["sec"] = 0x6B5A0000 + np.arange(len(times))
        marks["nanosec"] = 0x2F3E0000 + np.arange(len(times))
        write(message, paths, numbers)
        write_times(message, times, marks)
        data = bytes(serialize_message(message))
        self.offsets = np.array([_find(data, n.tobytes(), message) for n in numbers], dtype=np.intp)
        self.times = np.array([_find(data, m.tobytes(), message) for m in marks], dtype=np.intp)
        write(message, paths, np.zeros(len(paths)))
        write_times(message, times, np.zeros(len(times), dtype=_STAMP))
        self.data = bytes(serialize_message(message))
        if len(self.data) != len(data) or (self.offsets % 4).any() or (self.times % 4).any():
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


def _find(data: bytes, pattern: bytes, message: Any) -> int:
    offset = data.find(pattern)
    if offset < 0 or data.find(pattern, offset + 1) >= 0:
        raise LayoutError(
            f"{type(message).__name__}: cannot locate a number in its serialized form"
        )
    return offset
