"""Serialized joint commands as arrays."""

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from mujoco_ros.bridge.commands.stream_server import JointStateReader

_NAMES = st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), max_size=5)
_FIELD = st.lists(st.floats(), max_size=5)


def _message(names: list[str], fields: list[list[float]], stamp: int, frame_id: str) -> JointState:
    position, velocity, effort = fields
    message = JointState(name=names, position=position, velocity=velocity, effort=effort)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
    message.header.frame_id = frame_id
    return message


def _check(reader: JointStateReader, message: JointState) -> None:
    """Compare what is read with the message, bit by bit."""
    found = reader.read(bytes(serialize_message(message)))
    stamp = message.header.stamp
    assert found.stamp == stamp.sec * 1_000_000_000 + stamp.nanosec
    assert found.frame_id == message.header.frame_id
    assert list(found.names) == list(message.name)
    expected = (message.position, message.velocity, message.effort)
    assert [it.tobytes() for it in found.fields] == [bytes(it) for it in expected]


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_every_message_is_read_as_rclpy_reads_it(data: st.DataObject) -> None:
    reader = JointStateReader()
    clients = data.draw(st.lists(st.tuples(_NAMES, st.sampled_from(["", "restart"])), min_size=1))
    for _ in range(6):
        names, frame_id = data.draw(st.sampled_from(clients))
        fields = [data.draw(_FIELD) for _ in range(3)]
        stamp = data.draw(st.integers(-(2**31) * 10**9, (2**31 - 1) * 10**9 + 999_999_999))
        _check(reader, _message(names, fields, stamp, frame_id))


def test_many_clients_with_names_of_their_own_are_read() -> None:
    reader = JointStateReader()
    for _ in range(2):
        for client in range(40):
            _check(reader, _message([f"joint{client}"], [[1.0], [], [2.0]], 5, ""))


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-12],  # truncated
        lambda data: data[:20],
        lambda data: data[:12] + struct.pack("<I", 2**31) + data[16:],  # an excessive length
        lambda data: b"\x00\x01",
        lambda data: b"",
    ],
)
def test_what_is_no_message_is_reported_as_by_rclpy(known: bool, change: Any) -> None:
    reader, data = JointStateReader(), bytes(serialize_message(_message(["a"], [[1.0]] * 3, 1, "")))
    if known:
        reader.read(data)
    with pytest.raises(Exception) as expected:  # noqa: PT011 - that of the middleware
        deserialize_message(change(data), JointState)
    with pytest.raises(expected.type):
        reader.read(change(data))


def test_a_big_endian_message_is_read() -> None:
    """No supported machine writes it, but CDR allows it."""
    stamp, frame = struct.pack(">iI", 3, 4), struct.pack(">I4x", 1)
    names = struct.pack(">II2s2x", 1, 2, b"a")
    position, others = struct.pack(">Id", 1, 0.5), struct.pack(">II", 0, 0)
    data = bytes(4) + stamp + frame + names + position + others
    reader = JointStateReader()
    for _ in range(2):
        found = reader.read(data)
        assert (found.stamp, found.names) == (3_000_000_004, ("a",))
        np.testing.assert_array_equal(found.fields[0], [0.5])
