"""Serialized JointState messages as arrays, without a message object."""

import struct
from typing import NamedTuple

import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from mujoco_ros.wire.stamps import nanoseconds

_LITTLE_ENDIAN_CDR = b"\x00\x01"
_STAMP = struct.Struct("<iI")
_COUNT = struct.Struct("<I")
_NANOSECONDS = 1_000_000_000
_HEADER = 4  # bytes; alignments count from its end
_NAMES = _HEADER + _STAMP.size  # where the frame and the names begin
_MOST_LAYOUTS = 16


class JointStateContent(NamedTuple):
    """The content of a JointState.

    Attributes:
        stamp: Its stamp [ns].
        frame_id: Its frame.
        names: Names of the joints.
        fields: Position, velocity and effort, as given.  # 3 × (k,)
    """

    stamp: int
    frame_id: str
    names: tuple[str, ...]
    fields: tuple[np.ndarray, np.ndarray, np.ndarray]


class JointStateReader:
    """Reads the messages of a topic; those with the frame and the names of an earlier one quickly.

    The frame and the names are a prefix of fixed bytes behind the stamp, and the numbers follow.
    What is not plain CDR, as all supported middlewares write it, is read by rclpy.
    """

    def __init__(self) -> None:
        """Know no names."""
        self._layouts: dict[bytes, tuple[str, tuple[str, ...]]] = {}

    def read(self, data: bytes) -> JointStateContent:
        """Return the content of a serialized message.

        Raises:
            Exception: As rclpy reports that it is no JointState.
        """
        if data[:2] == _LITTLE_ENDIAN_CDR:
            for prefix, (frame_id, names) in self._layouts.items():
                if data.startswith(prefix, _NAMES):
                    try:
                        fields = _arrays(data, _NAMES + len(prefix))
                    except (struct.error, ValueError):  # it is too short
                        break
                    sec, nanosec = _STAMP.unpack_from(data, _HEADER)
                    return JointStateContent(sec * _NANOSECONDS + nanosec, frame_id, names, fields)
        return self._read_message(data)

    def _read_message(self, data: bytes) -> JointStateContent:
        """Read a message as rclpy does, and remember its names."""
        message = deserialize_message(data, JointState)
        frame_id, names = message.header.frame_id, tuple(message.name)
        if data[:2] == _LITTLE_ENDIAN_CDR:
            if len(self._layouts) >= _MOST_LAYOUTS:
                self._layouts.clear()
            prefix = bytes(data[_NAMES : _end_of_names(data)])
            self._layouts[prefix] = frame_id, names
        position, velocity, effort = (
            np.array(field, dtype=float)
            for field in (message.position, message.velocity, message.effort)
        )
        stamp = nanoseconds(message.header.stamp)
        return JointStateContent(stamp, frame_id, names, (position, velocity, effort))


def _end_of_names(data: bytes) -> int:
    """Return where the names end in a valid message."""
    at = _end_of_text(data, _NAMES)
    (count,) = _COUNT.unpack_from(data, at)
    at += _COUNT.size
    for _ in range(count):
        at = _end_of_text(data, at)
    return at


def _end_of_text(data: bytes, at: int) -> int:
    """Return where a text that begins at `at` ends, with the padding behind it."""
    (size,) = _COUNT.unpack_from(data, at)
    return _aligned(at + _COUNT.size + int(size), 4)


def _arrays(data: bytes, at: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three arrays of doubles that begin at `at`, as views of the message."""
    found = []
    for _ in range(3):
        (count,) = _COUNT.unpack_from(data, at)
        at += _COUNT.size
        if count:
            at = _aligned(at, 8)
        found.append(np.frombuffer(data, "<f8", count, at) if count else _EMPTY)
        at += 8 * count
    position, velocity, effort = found
    return position, velocity, effort


_EMPTY = np.empty(0)


def _aligned(at: int, size: int) -> int:
    return at + (_HEADER - at) % size
