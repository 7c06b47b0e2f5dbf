import time
from types import SimpleNamespace

import pytest
from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock

from mujoco_ros.recording.ros.sim_clock import SimClock

SECOND = 1_000_000_000


def test_a_message_gets_the_time_of_the_last_tick_before_it(ros_node):
    clock = SimClock(ros_node)
    assert not clock.running
    for received, simulated in ((100, 1), (200, 2), (300, 3)):
        clock.note(received, simulated)
    assert clock.running
    assert [clock.at(received) for received in (50, 100, 199, 200, 1000)] == [1, 1, 1, 2, 3]


def test_time_that_was_set_back_is_followed(ros_node):
    clock = SimClock(ros_node)
    for received, simulated in ((100, 5), (200, 6), (300, 0)):
        clock.note(received, simulated)
    assert [clock.at(received) for received in (250, 350)] == [6, 0]


def test_it_listens_to_the_clock(ros_node, spin_until):
    publisher = ros_node.create_publisher(Clock, "/clock", 10)
    listener = Node("listener", context=ros_node.context)  # nobody spins it
    clock = SimClock(listener)

    def runs() -> bool:
        message = Clock()
        message.clock.sec = 7
        publisher.publish(message)
        clock.take()
        return clock.running

    assert spin_until(runs)
    assert clock.at(2**62) == 7 * SECOND
    listener.destroy_node()


@pytest.mark.parametrize("unknown", [None, 0])
def test_without_the_middleware_s_word_a_tick_was_received_when_it_is_taken(
    ros_node, monkeypatch, unknown
):
    clock = SimClock(ros_node)
    arrived = [(serialize_message(Clock(clock=Time(sec=7))), {"received_timestamp": unknown}), None]
    handle = SimpleNamespace(take_message=lambda _kind, _raw: arrived.pop(0))
    monkeypatch.setattr(clock, "_subscription", SimpleNamespace(handle=handle))
    before = time.time_ns()
    clock.note(before - 1, SECOND)
    clock.take()
    assert [clock.at(received) for received in (before - 1, time.time_ns())] == [SECOND, 7 * SECOND]
