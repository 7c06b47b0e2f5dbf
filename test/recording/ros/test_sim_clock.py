import time
from types import SimpleNamespace

import pytest
from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock

from mujoco_ros.recording.ros.recorder import SimClock

SECOND = 1_000_000_000
INFO = {"received_timestamp": 100}


def test_a_message_gets_the_time_of_the_last_tick_before_it(ros_node):
    clock = SimClock(ros_node)
    assert not clock.started
    for received, simulated in ((100, 1), (200, 2), (300, 3)):
        clock.add(received, simulated)
    assert clock.started
    assert [clock.time_at(received) for received in (50, 100, 199, 200, 1000)] == [1, 1, 1, 2, 3]


def test_a_reset_of_the_time_is_followed(ros_node):
    clock = SimClock(ros_node)
    for received, simulated in ((100, 5), (200, 6), (300, 0)):
        clock.add(received, simulated)
    assert [clock.time_at(received) for received in (250, 350)] == [6, 0]


def test_it_subscribes_to_the_clock(ros_node, spin_until):
    publisher = ros_node.create_publisher(Clock, "/clock", 10)
    listener = Node("listener", context=ros_node.context)  # not spun
    clock = SimClock(listener)

    def runs() -> bool:
        message = Clock()
        message.clock.sec = 7
        publisher.publish(message)
        clock.update()
        return clock.started

    assert spin_until(runs)
    assert clock.time_at(2**62) == 7 * SECOND
    listener.destroy_node()


@pytest.mark.parametrize("unknown", [None, 0])
def test_without_a_reception_time_a_tick_has_the_time_at_which_it_is_taken(
    ros_node, monkeypatch, unknown
):
    clock = SimClock(ros_node)
    arrived = [(serialize_message(Clock(clock=Time(sec=7))), {"received_timestamp": unknown}), None]
    handle = SimpleNamespace(take_message=lambda _kind, _raw: arrived.pop(0))
    monkeypatch.setattr(clock, "_subscription", SimpleNamespace(handle=handle))
    before = time.time_ns()
    clock.add(before - 1, SECOND)
    clock.update()
    assert [clock.time_at(received) for received in (before - 1, time.time_ns())] == [
        SECOND,
        7 * SECOND,
    ]


def test_negative_times_are_ignored(ros_node, monkeypatch, caplog):
    clock = SimClock(ros_node)
    ticks = [(serialize_message(Clock(clock=Time(sec=it))), INFO) for it in (-1, -(2**31), 5)]
    handle = SimpleNamespace(take_message=lambda *_: ticks.pop(0) if ticks else None)
    monkeypatch.setattr(clock, "_subscription", SimpleNamespace(handle=handle))
    clock.update()
    assert clock.time_at(2**62) == 5 * SECOND
    assert caplog.text.count("negative times of /clock are ignored: -1000000000 ns") == 1
    assert "-2147483648" not in caplog.text, "one line"


def test_what_is_no_time_is_ignored(ros_node, monkeypatch, caplog):
    clock = SimClock(ros_node)
    ticks = [(data, INFO) for data in (b"", b"\0\1\0", serialize_message(Clock(clock=Time(sec=5))))]
    handle = SimpleNamespace(take_message=lambda *_: ticks.pop(0) if ticks else None)
    monkeypatch.setattr(clock, "_subscription", SimpleNamespace(handle=handle))
    clock.update()
    assert clock.time_at(2**62) == 5 * SECOND
    assert caplog.text.count("messages of /clock that have no time are ignored") == 1


def test_an_update_ends_although_ticks_never_do(ros_node, monkeypatch):
    clock = SimClock(ros_node)
    tick = serialize_message(Clock(clock=Time(sec=5))), INFO
    handle = SimpleNamespace(take_message=lambda *_: tick)
    monkeypatch.setattr(clock, "_subscription", SimpleNamespace(handle=handle))
    clock.update()
    assert clock.started
