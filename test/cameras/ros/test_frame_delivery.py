"""Frames that arrive late, or never."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from std_msgs.msg import String

from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.cameras.ros import source
from mujoco_ros.cameras.ros.source import FrameDelivery
from mujoco_ros.model.realism_config import Delivery

PERIOD = 0.1


class Recorded(TopicPublisher):
    """Records what is published, and when."""

    def __init__(self) -> None:
        super().__init__("image")
        self.now = 0.0
        self.received: list[tuple[float, bytes]] = []
        self.publish = lambda message: self.received.append((self.now, message))


def frame(delivery: FrameDelivery, publisher: TopicPublisher, number: int, **how: bool) -> bool:
    """Begin and end the frame of a number, whose message is that number."""
    arrives = delivery.begin(number * PERIOD, **how)
    if arrives:
        delivery.send(publisher, b"%d" % number)
        delivery.end()
    return arrives


def run(settings: Delivery, count: int = 200, seed: int = 5) -> tuple[FrameDelivery, Recorded]:
    """Deliver frames, with checks ten times as often."""
    delivery, publisher = FrameDelivery("camera/wrist", seed, settings), Recorded()
    for step in range(count * 10):
        publisher.now = step * PERIOD / 10
        delivery.deliver(publisher.now)
        if step % 10 == 0:
            frame(delivery, publisher, step // 10)
    return delivery, publisher


def test_without_settings_a_frame_is_published_at_once():
    delivery, publisher = run(Delivery())
    assert [time for time, _ in publisher.received] == pytest.approx(np.arange(200) * PERIOD)
    assert [message for _, message in publisher.received] == [b"%d" % k for k in range(200)]
    assert delivery.lost == 0


def test_a_delay_is_exact_and_longer_than_a_period():
    _, publisher = run(Delivery(delay=0.25))
    times = [time for time, _ in publisher.received]
    expected = [k * PERIOD + 0.25 for k in range(len(times))]
    assert len(times) >= 197
    assert times == pytest.approx(expected, abs=1e-9)
    assert [message for _, message in publisher.received] == [b"%d" % k for k in range(len(times))]


def test_lost_frames_have_the_probability_and_are_counted():
    delivery, publisher = run(Delivery(dropout=0.3), count=2000)
    assert delivery.lost + len(publisher.received) == 2000
    assert delivery.lost / 2000 == pytest.approx(0.3, abs=0.04)  # 4 standard deviations


def test_a_frame_that_is_overtaken_is_lost():
    delivery, publisher = run(Delivery(jitter=0.5), count=1000)
    numbers = [int(message) for _, message in publisher.received]
    assert numbers == sorted(numbers)
    assert 100 < delivery.lost < 900
    late = [time - int(message) * PERIOD for time, message in publisher.received]
    assert 0.0 <= min(late) < 0.05 < 0.3 < max(late) <= 0.5 + PERIOD / 10
    assert len(numbers) + delivery.lost == pytest.approx(1000, abs=6), "the rest is in flight"


def test_the_same_seed_and_name_lose_the_same_frames_also_after_a_reset():
    settings = Delivery(delay=0.02, jitter=0.3, dropout=0.2)
    (one, first), (_, again), (_, other) = (run(settings, seed=seed) for seed in (1, 1, 2))
    assert first.received == again.received != other.received
    before = list(first.received)
    first.received.clear()
    for step in range(200 * 10):
        first.now = step * PERIOD / 10
        one.deliver(first.now)
        if step % 10 == 0:
            frame(one, first, step // 10)
    assert first.received == before


def test_after_a_reset_no_frame_of_the_time_before_arrives():
    delivery, publisher = FrameDelivery("camera/wrist", 0, Delivery(delay=0.5)), Recorded()
    frame(delivery, publisher, 100)
    delivery.deliver(0.0)
    delivery.deliver(100.0)
    assert not publisher.received
    assert delivery.lost == 1


def test_a_frame_at_once_overtakes_those_in_flight():
    delivery, publisher = FrameDelivery("a", 0, Delivery(delay=1.0, dropout=1.0)), Recorded()
    delivery.settings = replace(delivery.settings, dropout=0.0)
    frame(delivery, publisher, 1)
    assert not publisher.received
    delivery.settings = replace(delivery.settings, dropout=1.0)
    assert not frame(delivery, publisher, 2)
    assert frame(delivery, publisher, 3, at_once=True)
    delivery.deliver(10.0)
    assert [message for _, message in publisher.received] == [b"3"]
    assert delivery.lost == 2


def test_a_message_that_changes_afterwards_is_delivered_as_it_was_sent():
    delivery, publisher = FrameDelivery("a", 0, Delivery(delay=0.5)), Recorded()
    message = String(data="before")
    delivery.begin(0.0)
    delivery.send(publisher, message)
    message.data = "after"
    delivery.end()
    delivery.deliver(0.5)
    ((_, data),) = publisher.received
    assert b"before" in data


def test_the_frames_that_wait_longest_are_lost_beyond_the_limit_of_memory(monkeypatch):
    monkeypatch.setattr(source, "LARGEST_BYTES", 3000)
    delivery, publisher = FrameDelivery("a", 0, Delivery(delay=1.0)), Recorded()
    for number in range(5):
        delivery.begin(number * PERIOD)
        delivery.send(publisher, bytes([number]) * 1000)
        delivery.end()
    assert delivery.next_arrival == pytest.approx(2 * PERIOD + 1.0)
    delivery.deliver(2.0)
    assert [message[0] for _, message in publisher.received] == [2, 3, 4]
    assert delivery.lost == 2


def test_stamps_never_go_back_when_the_delay_is_set_to_zero():
    delivery, publisher = FrameDelivery("a", 0, Delivery(delay=0.5)), Recorded()
    for step in range(200):
        publisher.now = step * PERIOD / 10
        delivery.deliver(publisher.now)
        if step == 105:
            delivery.settings = Delivery()
        if step % 10 == 0:
            frame(delivery, publisher, step // 10)
    numbers = [int(message) for _, message in publisher.received]
    assert numbers == sorted(numbers)
    assert numbers[-1] == 19


def test_the_numbers_of_two_cameras_differ():
    settings = Delivery(dropout=0.5)
    wrist, head = (
        FrameDelivery("camera/wrist", 0, settings),
        FrameDelivery("camera/head", 0, settings),
    )
    kept = np.array([[it.begin(k * PERIOD) for k in range(100)] for it in (wrist, head)])
    assert (kept[0] != kept[1]).sum() > 20
