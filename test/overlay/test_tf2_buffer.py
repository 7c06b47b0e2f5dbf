"""The buffer of tf2_ros: transforms over time, and a listener over a live middleware."""

import math
from collections.abc import Callable

import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    StaticTransformBroadcaster,
    TransformBroadcaster,
    TransformException,
)
from tf2_ros.buffer import Buffer
from tf2_ros.transform_listener import TransformListener

SpinUntil = Callable[..., bool]


def transform(
    parent: str, child: str, time: float = 0.0, x: float = 0.0, yaw: float = 0.0
) -> TransformStamped:
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    message.header.stamp = at(time).to_msg()
    message.transform.translation.x = x
    message.transform.rotation.z = math.sin(yaw / 2)
    message.transform.rotation.w = math.cos(yaw / 2)
    return message


def at(seconds: float) -> Time:
    return Time(nanoseconds=round(1e9 * seconds))


def pose(message: TransformStamped) -> tuple[float, float, float, float]:
    """Return x, y, yaw and time."""
    rotation = message.transform.rotation
    assert rotation.x == rotation.y == pytest.approx(0.0)
    translation = message.transform.translation
    time = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
    return translation.x, translation.y, 2 * math.atan2(rotation.z, rotation.w), time


@pytest.fixture
def buffer() -> Buffer:
    """A base that moves by 1 m/s and turns by 1 rad/s, with a camera in front of it."""
    made = Buffer()
    for tick in range(11):
        time = 1.0 + 0.1 * tick
        made.set_transform(transform("world", "base", time, time, time - 1.0), "test")
    made.set_transform_static(transform("base", "camera", x=0.5), "test")
    made.set_transform(transform("world", "box", 1.5, 3.0), "test")
    return made


def test_a_chain_is_multiplied_and_interpolated(buffer: Buffer) -> None:
    found = buffer.lookup_transform("world", "camera", at(1.55))
    assert (found.header.frame_id, found.child_frame_id) == ("world", "camera")
    x, y = 1.55 + 0.5 * math.cos(0.55), 0.5 * math.sin(0.55)
    assert pose(found) == pytest.approx((x, y, 0.55, 1.55))
    inverse = buffer.lookup_transform("camera", "world", at(1.0))
    assert pose(inverse) == pytest.approx((-1.5, 0.0, 0.0, 1.0))
    assert pose(buffer.lookup_transform("base", "base", at(1.5))) == pytest.approx((0, 0, 0, 1.5))


def test_time_zero_is_the_newest_time_of_all_frames_between(buffer: Buffer) -> None:
    assert pose(buffer.lookup_transform("world", "base", Time()))[3] == pytest.approx(2.0)
    assert pose(buffer.lookup_transform("base", "box", Time()))[3] == pytest.approx(1.5)
    assert pose(buffer.lookup_transform("base", "camera", Time())) == pytest.approx((0.5, 0, 0, 0))


def test_a_fixed_frame_relates_two_times(buffer: Buffer) -> None:
    found = buffer.lookup_transform_full("base", at(2.0), "base", at(1.0), "world")
    x, y = -math.cos(1.0), math.sin(1.0)
    assert pose(found) == pytest.approx((x, y, -1.0, 2.0))


def test_what_is_not_known_is_an_exception_that_names_it(buffer: Buffer) -> None:
    buffer.set_transform_static(transform("map", "wall"), "test")
    with pytest.raises(LookupException, match='"arm" passed to lookupTransform does not exist'):
        buffer.lookup_transform("world", "arm", Time())
    with pytest.raises(ConnectivityException, match="'world' and 'wall'"):
        buffer.lookup_transform("world", "wall", Time())
    with pytest.raises(ExtrapolationException, match=r"into the future.*2\.5.*latest.*2\.0"):
        buffer.lookup_transform("world", "camera", at(2.5))
    with pytest.raises(ExtrapolationException, match=r"into the past.*0\.5.*earliest.*1\.0"):
        buffer.lookup_transform("world", "camera", at(0.5))
    with pytest.raises(ExtrapolationException, match=r"only time 1\.5"):
        buffer.lookup_transform("world", "box", at(1.6))
    assert buffer.can_transform("base", "camera", at(9.0)), "a static transform holds at all times"
    assert not buffer.can_transform("world", "camera", at(9.0), Duration(seconds=0.05))
    known, reason = buffer.can_transform("world", "arm", Time(), return_debug_tuple=True)
    assert not known
    assert "arm" in reason


@pytest.mark.parametrize(
    "message",
    [
        transform("world", ""),
        transform("", "base"),
        transform("base", "base"),
        transform("world", "base", x=math.nan),
        TransformStamped(child_frame_id="base"),
    ],
)
def test_an_invalid_transform_is_rejected(buffer: Buffer, message: TransformStamped) -> None:
    with pytest.raises(InvalidArgumentException):
        buffer.set_transform(message, "test")
    message = transform("world", "base", 3.0)
    message.transform.rotation.w = 2.0
    with pytest.raises(InvalidArgumentException, match="quaternion"):
        buffer.set_transform(message, "test")


def test_old_transforms_expire_and_static_ones_stay() -> None:
    buffer = Buffer(cache_time=Duration(seconds=1.0))
    buffer.set_transform_static(transform("base", "camera", x=0.5), "test")
    for time in (1.0, 2.5, 3.0):
        buffer.set_transform(transform("world", "base", time, time), "test")
    buffer.set_transform(transform("world", "base", 1.5, 9.0), "test")
    with pytest.raises(ExtrapolationException, match="past"):
        buffer.lookup_transform("world", "base", at(1.5))
    assert pose(buffer.lookup_transform("world", "camera", at(2.75)))[0] == pytest.approx(3.25)
    buffer.clear()
    assert buffer.can_transform("base", "camera", Time())
    assert not buffer.can_transform("world", "base", Time())


def test_a_loop_of_frames_is_an_exception() -> None:
    buffer = Buffer()
    for parent, child in (("a", "b"), ("b", "c"), ("c", "a")):
        buffer.set_transform_static(transform(parent, child), "test")
    buffer.set_transform_static(transform("world", "box"), "test")
    with pytest.raises(TransformException):
        buffer.lookup_transform("world", "a", Time())


def test_a_listener_fills_the_buffer(ros_node: Node, spin_until: SpinUntil) -> None:
    buffer = Buffer()
    listener = TransformListener(buffer, ros_node)
    moving, static = TransformBroadcaster(ros_node), StaticTransformBroadcaster(ros_node)
    assert spin_until(lambda: moving.pub_tf.get_subscription_count() == 1)
    static.sendTransform(transform("base", "camera", x=0.5))
    moving.sendTransform([transform("world", "base", 1.0, 1.0), TransformStamped()])
    moving.sendTransform(transform("world", "base", 2.0, 2.0))
    assert spin_until(lambda: buffer.can_transform("world", "camera", at(1.5)))
    assert pose(buffer.lookup_transform("world", "camera", at(1.5)))[0] == pytest.approx(2.0)
    listener.unregister()
    assert spin_until(lambda: moving.pub_tf.get_subscription_count() == 0)
