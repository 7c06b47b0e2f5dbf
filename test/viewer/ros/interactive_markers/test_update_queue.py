"""Updates that wait, without the middleware."""

import math
from typing import Any

import pytest
from marker_server_node import marker
from rclpy.serialization import serialize_message
from visualization_msgs.msg import InteractiveMarkerUpdate
from visualization_msgs.srv import GetInteractiveMarkers

from mujoco_ros.viewer.ros.interactive_markers.marker_set import MarkerSet, UpdateQueue


def update(number: int, **fields: Any) -> bytes:
    kind = InteractiveMarkerUpdate.UPDATE
    made = serialize_message(InteractiveMarkerUpdate(type=kind, seq_num=number, **fields))
    return bytes(made)


@pytest.fixture
def queue() -> UpdateQueue:
    queue = UpdateQueue(MarkerSet("/planner"))
    queue.start()
    respond(queue, 1)
    return queue


def respond(queue: UpdateQueue, number: int) -> None:
    queue.request(0.0)
    queue.respond(GetInteractiveMarkers.Response(sequence_number=number))


def problems(queue: UpdateQueue) -> str:
    return "\n".join(queue.markers.info.problems)


@pytest.mark.parametrize(
    "broken", [b"\0\1\0\0", b"\0\1\0\0" + b"\xff" * 40, update(2, markers=[marker("m")])[:-200]]
)
def test_after_an_update_that_cannot_be_read_all_markers_are_requested_again(queue, broken):
    queue.receive(broken)
    queue.receive(update(2))
    assert queue.read(100.0, math.inf)
    assert "an update cannot be read" in problems(queue)
    assert (queue.markers.sequence, queue.request_at) == (None, 110.0)
    respond(queue, 1)
    assert queue.read(110.0, math.inf)
    assert queue.markers.sequence == 2


def test_updates_wait_for_the_next_tick_when_the_time_is_over(queue):
    for number in (2, 3, 4):
        queue.receive(update(number))
    for number in (2, 3, 4):
        assert queue.read(100.0, -math.inf)
        assert queue.markers.sequence == number
    assert not queue.read(100.0, -math.inf)


def test_after_an_update_that_is_too_long_no_more_are_read_until_the_server_starts_again(queue):
    queue.receive(update(2))
    queue.receive(update(3, erases=["x" * (1 << 21)]))
    queue.receive(update(4))
    assert queue.read(100.0, math.inf)
    assert "an update is longer than 1048576 bytes; no more are read" in problems(queue)
    assert (queue.markers.sequence, queue.request_at) == (None, None)
    queue.start()
    assert queue.request_at == 0.0
    respond(queue, 7)
    queue.receive(update(8))
    assert queue.read(100.0, math.inf)
    assert queue.markers.sequence == 8


def test_long_updates_that_wait_are_dropped_and_then_missing(queue):
    for number in range(2, 8):
        queue.receive(update(number, erases=["x" * 900_000]))
    assert queue.read(100.0, math.inf)
    assert queue.markers.sequence is None
    assert "update 6 follows 1; all are requested again" in problems(queue)
