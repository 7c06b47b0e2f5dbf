"""Messages that the physics thread takes itself, and those that the executor takes."""

import threading
from collections.abc import Iterator

import pytest
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from simulators import WAIT_LIMIT_S, Listener
from std_msgs.msg import Int32

from mujoco_ros.bridge.commands.direct_subscriptions import DirectSubscriptions
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.sim.command_queue import CommandQueue

_QOS = QoSProfile(depth=1000)


class Taker:
    """A node with direct subscriptions, a client, and what was taken by either way."""

    def __init__(self, listener: Listener) -> None:
        self.listener, self.node = listener, Node("taker", context=listener.node.context)
        listener.add(self.node)
        self.endpoints, self.commands = Endpoints(self.node), CommandQueue()
        self.direct = DirectSubscriptions(self.node, self.commands)
        self.taken: list[int] = []
        self.by_executor: list[int] = []
        self.publisher = listener.node.create_publisher(Int32, "numbers", _QOS)

    def subscribe(self) -> Subscription:
        subscription = self.endpoints.subscription(
            Int32, "numbers", lambda data: self.by_executor.append(_number(data)), _QOS, raw=True
        )
        self.direct.add("numbers", subscription, lambda data: self.handle(_number(data)))
        assert self.listener.spin_until(lambda: self.publisher.get_subscription_count() == 1)
        return subscription

    def handle(self, number: int) -> None:
        self.taken.append(number)

    def send(self, *numbers: int) -> None:
        for number in numbers:
            self.publisher.publish(Int32(data=number))

    def take_until(self, count: int) -> None:
        """Do as the physics thread does while the clock waits, without the executor."""
        for _ in range(round(WAIT_LIMIT_S)):
            self.commands.drain()
            if len(self.taken) >= count:
                return
            self.commands.wait(1.0)
        raise AssertionError(f"{self.taken} are not {count} messages")


def _number(data: bytes) -> int:
    return int(deserialize_message(data, Int32).data)


@pytest.fixture
def taker(listener: Listener) -> Iterator[Taker]:
    taker = Taker(listener)
    yield taker
    taker.direct.serve(())
    taker.commands.drain()
    listener.node.destroy_publisher(taker.publisher)
    taker.node.destroy_node()


def test_the_waiting_thread_takes_the_messages_of_a_served_topic_in_order(taker: Taker) -> None:
    taker.subscribe()
    taker.direct.serve(["numbers"])
    taker.commands.drain()
    taker.listener.spin_for(0.2)
    taker.send(*range(20))
    taker.listener.spin_for(0.2)
    assert taker.taken == []
    taker.take_until(20)
    assert (taker.taken, taker.by_executor) == (list(range(20)), [])


@pytest.mark.parametrize("topics", [(), ("others",)])
def test_the_executor_takes_the_messages_of_all_other_topics(
    taker: Taker, topics: tuple[str, ...]
) -> None:
    taker.subscribe()
    taker.direct.serve(topics)
    taker.send(*range(20))
    assert taker.listener.spin_until(lambda: len(taker.by_executor) == 20)
    taker.commands.drain()
    assert (taker.taken, taker.by_executor) == ([], list(range(20)))


def test_a_subscription_that_is_opened_later_is_served_as_well(taker: Taker) -> None:
    taker.direct.serve(["numbers"])
    taker.subscribe()
    taker.send(1)
    taker.take_until(1)
    assert taker.by_executor == []


def test_no_message_is_lost_or_taken_twice_when_the_thread_changes(taker: Taker) -> None:
    taker.subscribe()
    for number in range(0, 40, 2):
        taker.direct.serve(["numbers"] if number % 4 else ())
        taker.send(number)
        taker.commands.drain()
        taker.send(number + 1)
        taker.listener.spin_for(0.01)
        taker.commands.drain()
    taker.direct.serve(())
    taker.commands.drain()

    def found() -> list[int]:
        return sorted(taker.taken + taker.by_executor)

    assert taker.listener.spin_until(lambda: len(found()) >= 40)
    assert found() == list(range(40))


def test_a_wait_ends_with_a_message_a_command_and_a_wake(taker: Taker) -> None:
    taker.subscribe()
    taker.direct.serve(["numbers"])
    taker.commands.drain()

    def end_of_wait() -> threading.Thread:
        thread = threading.Thread(target=taker.commands.wait, args=(10 * WAIT_LIMIT_S,))
        thread.start()
        return thread

    for end in (
        lambda: taker.send(1),
        lambda: taker.commands.submit(lambda: None),
        taker.commands.wake,
    ):
        waiting = end_of_wait()
        end()
        waiting.join(WAIT_LIMIT_S)
        assert not waiting.is_alive()
        taker.take_until(1)


def test_a_message_that_fails_is_logged_and_the_next_one_is_handled(
    taker: Taker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def handle(number: int) -> None:
        if number == 1:
            raise ZeroDivisionError("a mistake")
        taker.taken.append(number)

    monkeypatch.setattr(taker, "handle", handle)
    taker.subscribe()
    taker.direct.serve(["numbers"])
    taker.send(1, 2)
    taker.take_until(1)
    assert taker.taken == [2]
    assert "a mistake" in caplog.text


def test_a_subscription_is_destroyed_when_the_thread_has_released_it(taker: Taker) -> None:
    taker.direct.serve(["numbers"])
    for number in range(10):
        subscription = taker.subscribe()
        taker.send(number)
        taker.take_until(number + 1)
        taker.direct.remove(subscription)
        taker.endpoints.close(subscription)
        assert taker.publisher.get_subscription_count() == 1, "the thread still holds it"
        taker.commands.drain()
        assert taker.listener.spin_until(lambda: not taker.publisher.get_subscription_count())
    assert taker.taken == list(range(10))
    assert list(taker.node.subscriptions) == []


def test_the_executor_takes_the_messages_after_the_end_of_the_thread(taker: Taker) -> None:
    taker.subscribe()
    taker.direct.serve(["numbers"])
    taker.commands.drain()
    taker.commands.close()
    taker.direct.serve(())
    taker.send(1)
    assert taker.listener.spin_until(lambda: taker.by_executor == [1])


def test_no_callback_is_called_after_its_subscription_was_closed(taker: Taker) -> None:
    taker.subscribe()
    got: list[int] = []
    others = taker.listener.node.create_publisher(Int32, "others", _QOS)
    closed = taker.endpoints.subscription(Int32, "others", lambda it: got.append(it.data), _QOS)
    assert taker.listener.spin_until(lambda: others.get_subscription_count() == 1)
    taker.direct.serve(["numbers"])
    taker.commands.drain()

    def pass_on() -> bool:
        taker.commands.drain()
        return bool(got)

    others.publish(Int32(data=1))
    assert taker.listener.spin_until(pass_on)
    taker.endpoints.close(closed)
    others.publish(Int32(data=2))
    taker.send(3)
    taker.take_until(1)
    taker.listener.spin_for(0.2)
    assert got == [1]
    taker.listener.node.destroy_publisher(others)
