"""Publishing of serialized messages without the interpreter's lock."""

import sys
import threading
from collections.abc import Iterator

import pytest
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.publisher import Publisher
from rclpy.serialization import serialize_message
from sensor_msgs.msg import PointCloud2
from simulators import Listener, Recording

from mujoco_ros.rclpy_ext import raw_publishing
from mujoco_ros.rclpy_ext.raw_publishing import publish_unlocked

CLOUD = PointCloud2(data=bytes(range(256)) * 20_000)


@pytest.fixture
def pair(listener: Listener) -> Iterator[tuple[Publisher, Recording]]:
    """A publisher, and what a subscription receives."""
    publisher = listener.node.create_publisher(PointCloud2, "cloud", 10)
    received = listener.record(PointCloud2, "cloud", reliable=True)
    assert listener.spin_until(lambda: publisher.get_subscription_count() > 0)
    yield publisher, received
    listener.forget_subscriptions()
    listener.node.destroy_publisher(publisher)


@pytest.mark.parametrize("has_functions", [True, False])
def test_a_message_arrives_unchanged(
    listener: Listener,
    pair: tuple[Publisher, Recording],
    has_functions: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publisher, received = pair
    if not has_functions:
        monkeypatch.setattr(raw_publishing, "publish_functions", lambda: None)
    with publisher.handle:
        publish_unlocked(publisher.handle, serialize_message(CLOUD))
    assert listener.spin_until(lambda: len(received) == 1)
    assert received.latest.data == CLOUD.data


def test_other_threads_run_meanwhile(pair: tuple[Publisher, Recording]) -> None:
    """With the lock, the counting thread would wait for each message as a whole."""
    publisher, _ = pair
    message, counts, ends = serialize_message(CLOUD), [0], threading.Event()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)  # a thread gets the lock only where it is released

    def count() -> None:
        while not ends.is_set():
            counts[0] += 1
            ends.wait(1e-6)

    thread = threading.Thread(target=count)
    try:
        thread.start()
        before = counts[0]
        with publisher.handle:
            for _ in range(20):
                publish_unlocked(publisher.handle, message)
        assert counts[0] > before
    finally:
        ends.set()
        sys.setswitchinterval(interval)
        thread.join()


def test_a_rejected_message_is_an_error(
    pair: tuple[Publisher, Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher, _ = pair
    _, text, reset = raw_publishing.publish_functions() or (0, 0, 0)
    refuse = raw_publishing._Publish(lambda *_arguments: 1)
    address = raw_publishing.ctypes.cast(refuse, raw_publishing.ctypes.c_void_p).value
    monkeypatch.setattr(raw_publishing, "publish_functions", lambda: (address, text, reset))
    with pytest.raises(rclpy_implementation.RCLError, match="rejects"):
        publish_unlocked(publisher.handle, b"")
