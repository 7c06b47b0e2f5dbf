"""Feedback that waits until it is due."""

import pytest
from visualization_msgs.msg import InteractiveMarkerFeedback

from mujoco_ros.viewer.marker_descriptions import MarkerKey
from mujoco_ros.viewer.ros.interactive_markers.feedback import (
    EVENT_PERIOD_S,
    FEEDBACK_PERIOD_S,
    FeedbackQueue,
)

GOAL, VIA = MarkerKey("/planner", "goal"), MarkerKey("/planner", "via")
DOWN, MOVED = InteractiveMarkerFeedback.MOUSE_DOWN, InteractiveMarkerFeedback.POSE_UPDATE
UP, CLICK = InteractiveMarkerFeedback.MOUSE_UP, InteractiveMarkerFeedback.BUTTON_CLICK


@pytest.fixture
def sent() -> list[tuple[MarkerKey, int, float]]:
    return []


@pytest.fixture
def queue(sent) -> FeedbackQueue:
    return FeedbackQueue(lambda key, it: sent.append((key, it.event_type, it.pose.position.x)))


def feedback(event: int, x: float = 0.0, control: str = "x") -> InteractiveMarkerFeedback:
    message = InteractiveMarkerFeedback(event_type=event, control_name=control)
    message.pose.position.x = x
    return message


def test_one_message_is_sent_in_a_period_which_is_longer_between_two_events(queue, sent):
    poses, start = 10.0 + EVENT_PERIOD_S, 10.0
    queue.add(GOAL, feedback(DOWN))
    queue.add(GOAL, feedback(MOVED, 1.0))
    queue.add(VIA, feedback(MOVED, 2.0))
    times = (
        (start, 1),
        (start + FEEDBACK_PERIOD_S, 1),
        (poses, 2),
        (poses + 0.01, 2),
        (poses + FEEDBACK_PERIOD_S, 3),
        (20.0, 3),
    )
    for now, count in times:
        queue.tick(now)
        assert len(sent) == count
    assert sent == [(GOAL, DOWN, 0.0), (GOAL, MOVED, 1.0), (VIA, MOVED, 2.0)]


def test_a_new_pose_replaces_one_of_the_same_marker_and_control_that_waits(queue, sent):
    for x in range(100):
        queue.add(GOAL, feedback(MOVED, float(x)))
    queue.add(VIA, feedback(MOVED, 200.0))
    queue.add(VIA, feedback(MOVED, 300.0, "y"))
    for now in range(10):
        queue.tick(float(now))
    assert sent == [(GOAL, MOVED, 99.0), (VIA, MOVED, 200.0), (VIA, MOVED, 300.0)]


def test_the_number_of_messages_that_wait_is_bounded(queue, sent, caplog):
    for _ in range(60):
        queue.add(GOAL, feedback(CLICK))
    assert len(queue) == 50
    assert "feedback to '/planner' is dropped: 50 wait" in caplog.text


def test_the_end_of_a_motion_is_never_dropped_unless_its_begin_was(queue, sent):
    queue.add(GOAL, feedback(DOWN))
    for _ in range(60):
        queue.add(GOAL, feedback(CLICK))
    queue.add(GOAL, feedback(UP))
    assert len(queue) == 51
    for event in (DOWN, UP):
        queue.add(GOAL, feedback(event))
    assert len(queue) == 51
    queue.finish()
    assert len(queue) == 0
    assert [it[1] for it in sent] == [CLICK] * 9 + [UP], "the newest"
