"""Markers of a server, after its response and its updates."""

import math
from typing import Any

import pytest
from geometry_msgs.msg import Point, Pose
from marker_server_node import control, marker
from rclpy.serialization import serialize_message
from std_msgs.msg import Header
from visualization_msgs.msg import InteractiveMarkerPose, InteractiveMarkerUpdate
from visualization_msgs.srv import GetInteractiveMarkers

from mujoco_ros.viewer.ros.interactive_markers import marker_set
from mujoco_ros.viewer.ros.interactive_markers.marker_set import MarkerSet, UpdateQueue


def at(x: float) -> Pose:
    return Pose(position=Point(x=x))


def moved(name: str, x: float, frame: str = "world") -> InteractiveMarkerPose:
    return InteractiveMarkerPose(header=Header(frame_id=frame), name=name, pose=at(x))


def many(count: int, x: float = 0.0) -> list[Any]:
    return [marker(f"m{it}", pose=at(x)) for it in range(count)]


class Markers(MarkerSet):
    """Markers with numbered updates."""

    def __init__(self, *markers: Any) -> None:
        super().__init__("/planner")
        self.respond(1, *markers)

    def respond(self, number: int, *markers: Any) -> None:
        self.reset(GetInteractiveMarkers.Response(sequence_number=number, markers=list(markers)))

    def apply(self, **fields: Any) -> bool:
        assert self.sequence is not None
        kind, number = InteractiveMarkerUpdate.UPDATE, self.sequence + 1
        return self.update(InteractiveMarkerUpdate(type=kind, seq_num=number, **fields))

    def x_of(self, name: str) -> float:
        return float(self.markers[name].pose.position[0])

    @property
    def problems(self) -> str:
        return "\n".join(self.info.problems)


def test_a_marker_that_was_erased_during_a_motion_moves_when_it_returns():
    markers = Markers(marker("goal"))
    markers.held = "goal"
    markers.apply(poses=[moved("goal", 3.0)])
    markers.apply(erases=["goal"])
    markers.apply(markers=[marker("goal")])
    markers.apply(poses=[moved("goal", 7.0)])
    assert markers.x_of("goal") == 7.0
    markers.release()
    assert markers.x_of("goal") == 7.0


def test_the_pose_of_a_response_during_a_motion_applies_after_it():
    markers = Markers(marker("goal"))
    markers.held = "goal"
    markers.apply(poses=[moved("goal", 3.0)])
    markers.respond(5, marker("goal", pose=at(9.0)))
    assert markers.x_of("goal") == 0.0, "that of the user"
    markers.release()
    assert markers.x_of("goal") == 9.0


def test_a_response_without_the_marker_ends_its_motion():
    markers = Markers(marker("goal"))
    markers.held = "goal"
    markers.respond(5, marker("via"))
    assert (markers.held, list(markers.markers)) == ("", ["via"])


def test_a_pose_in_an_earlier_frame_does_not_apply_after_the_motion():
    markers = Markers(marker("goal"))
    markers.held = "goal"
    markers.apply(poses=[moved("goal", 3.0)])
    markers.apply(poses=[moved("goal", 4.0, "base")])
    markers.release()
    assert (markers.markers["goal"].frame, markers.x_of("goal")) == ("base", 4.0)


def test_markers_that_are_shown_are_updated_after_those_that_are_not():
    markers = Markers(*many(250))
    assert len(markers.markers) == 200
    markers.apply(markers=many(250, 7.0)[::-1])
    assert {markers.x_of(it) for it in markers.markers} == {7.0}
    markers.apply(poses=[moved(f"m{it}", 8.0) for it in range(249, -1, -1)])
    assert {markers.x_of(it) for it in markers.markers} == {8.0}
    assert markers.problems == "more than 200 markers; the rest is not shown"


def test_a_place_for_more_markers_lets_all_be_requested_again():
    markers = Markers(*many(250))
    assert markers.apply(poses=[moved("m0", 1.0)])
    assert not markers.apply(erases=[f"m{it}" for it in range(100)])
    markers.respond(5, *many(250)[100:])
    assert len(markers.markers) == 150
    assert markers.problems == ""
    assert markers.apply(erases=["m200"])


def test_the_reason_of_a_refusal_remains_when_its_marker_moves():
    markers = Markers(marker("bad", control("c", 77)))
    reason = markers.problems
    assert "unknown mode: 77" in reason
    markers.apply(poses=[moved("bad", 1.0)])
    assert markers.problems == reason
    markers.apply(poses=[moved("other", 1.0), moved("another", 1.0)])
    assert markers.problems.count("a pose of the unknown marker") == 1


def test_the_number_of_markers_of_a_message_that_are_read_is_bounded(monkeypatch):
    read: list[str] = []

    def info(message: Any) -> Any:
        read.append(message.name)
        return marker_info(message)

    marker_info = marker_set.marker_info
    monkeypatch.setattr(marker_set, "marker_info", info)
    Markers(*(marker(f"m{it}", control("c", 77)) for it in range(1000)))
    assert len(read) == 200


@pytest.mark.parametrize("name", ["number", "unknown", "sequence"])
def test_the_name_of_a_marker_hides_no_other_problem(name):
    markers = Markers(*many(250))
    markers.apply(markers=[marker("m0"), marker(name)])
    assert "more than 200 markers" in markers.problems
    markers.apply(erases=[name])
    assert "more than 200 markers" in markers.problems


def test_a_late_keep_alive_is_no_missing_update():
    markers = Markers()
    markers.respond(5)
    late = InteractiveMarkerUpdate(type=InteractiveMarkerUpdate.KEEP_ALIVE, seq_num=4)
    assert markers.update(late, may_be_late=True)
    assert not markers.update(late)


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
