"""The newest message of a topic."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import serialize_message

from mujoco_ros.controllers.ros.node.inbox import Inbox, SensorReadings
from mujoco_ros.wire.conversions import stamp
from mujoco_ros.wire.qos import SENSOR


class Wires:
    """A subscribed topic."""

    def __init__(self) -> None:
        self.opened, self.closed, self.timers = 0, [], []

    def subscription(self, _kind, _topic, callback, qos, *, raw):
        assert raw
        self.publish, self.qos = callback, qos
        self.opened += 1
        return self.opened

    def close(self, subscription) -> None:
        self.closed.append(subscription)

    def later(self, _seconds, call) -> None:
        self.timers.append(call)

    def weigh(self, force: float, time: float) -> None:
        message = WrenchStamped()
        message.header.stamp, message.wrench.force.z = stamp(time), force
        self.publish(serialize_message(message))


def test_the_inbox_keeps_the_newest_message_and_readings_stay_unchanged():
    wires, received, decoded = Wires(), [], []
    inbox = Inbox(wires, WrenchStamped, "wrench/x", SENSOR, lambda: received.append(inbox.stamp))
    assert (wires.qos.depth, wires.qos.reliability) == (1, ReliabilityPolicy.BEST_EFFORT)
    assert inbox.stamp is None
    with pytest.raises(LookupError, match="no message on 'wrench/x' yet"):
        _ = inbox.message

    def read(message: WrenchStamped) -> float:
        decoded.append(message)
        return float(message.wrench.force.z)

    wires.weigh(1.0, 0.5)
    first = SensorReadings({"x": inbox.newest}, read)
    wires.weigh(2.0, 0.75)
    assert received == [500_000_000, 750_000_000]
    assert inbox.message.wrench.force.z == 2.0
    assert decoded == [], "no message was read"
    assert [first["x"], *first.values(), len(first)] == [1.0, 1.0, 1]
    assert len(decoded) == 1


def test_a_renewed_inbox_has_two_subscriptions_until_the_new_one_is_discovered():
    wires = Wires()
    inbox = Inbox(wires, WrenchStamped, "wrench/x", SENSOR)
    inbox.renew()
    wires.weigh(2.0, 0.5)
    assert inbox.message.wrench.force.z == 2.0
    assert inbox.count == 1
    assert wires.closed == []
    assert wires.opened == 2
    wires.timers[0]()
    assert wires.closed == [1]
    inbox.close()
    assert wires.closed == [1, 2]


class Queue(nullcontext):
    """A subscription whose messages are taken from its handle."""

    def __init__(self) -> None:
        super().__init__()
        self.handle, self.messages = self, []

    def take_message(self, _kind, raw):
        assert raw
        return (self.messages.pop(), None) if self.messages else None


def test_a_polled_inbox_takes_its_message_in_a_poll_only():
    queue, callbacks = Queue(), []

    def subscription(_kind, _topic, callback, _qos, *, raw):
        callbacks.append(callback)
        return queue

    inbox = Inbox(
        SimpleNamespace(subscription=subscription), WrenchStamped, "wrench/x", SENSOR, polled=True
    )
    assert callbacks == [None]
    queue.messages.append(serialize_message(WrenchStamped()))
    assert inbox.newest is None
    inbox.poll()
    first = inbox.newest
    assert (inbox.stamp, inbox.count) == (0, 1)
    inbox.poll()
    assert inbox.newest is first
    assert inbox.count == 1
