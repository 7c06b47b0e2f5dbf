"""Messages that are mostly long runs of numbers: images, clouds, scans."""

from typing import Any

import numpy as np
from rclpy.serialization import serialize_message

from mujoco_ros.bridge.publishing.message_template import LayoutError, MessageTemplate


class ArrayTemplate:
    """One message, serialized once; then only its stamp and its numbers are written anew.

    Attributes:
        numbers: The numbers of each run, to be written in place.
    """

    def __init__(self, message: Any, *runs: str) -> None:
        """Serialize `message` and find its stamp and its numbers.

        Args:
            message: The message; whatever else is in it stays as it is.
            runs: Names of the fields with numbers, which have as many as there will ever be.

        Raises:
            LayoutError: The numbers cannot be found in the serialized message.
        """
        template = MessageTemplate(message, [], ["header.stamp"])
        marks = {run: _marked(message, run) for run in runs}
        self._data = data = bytearray(serialize_message(message))
        self._stamp: np.ndarray = np.ndarray(2, "<u4", buffer=data, offset=int(template.times[0]))
        self.numbers: dict[str, np.ndarray] = {}
        for run, mark in marks.items():
            start = data.find(mark)
            if not mark or start < 0 or data.find(mark, start + 1) >= 0:
                raise LayoutError(f"{type(message).__name__}: cannot locate '{run}' in its bytes")
            values = getattr(message, run)
            self.numbers[run] = np.ndarray(len(values), values.typecode, buffer=data, offset=start)
            self.numbers[run][:] = 0

    def stamped(self, sec: int, nanosec: int) -> bytes:
        """Return the serialized message with a stamp and the present numbers."""
        self._stamp[:] = sec, nanosec
        return bytes(self._data)


def _marked(message: Any, run: str) -> bytes:
    """Fill a run with bytes that occur nowhere else, and return them."""
    values = getattr(message, run)
    marks = np.random.default_rng(len(run)).bytes(len(values) * values.itemsize)
    values[:] = type(values)(values.typecode, marks)
    return marks
