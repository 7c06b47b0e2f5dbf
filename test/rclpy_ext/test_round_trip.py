"""A round trip to another node ends after the callbacks for earlier messages."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from rcl_interfaces.srv import GetParameters
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from simulators import WAIT_LIMIT_S
from std_msgs.msg import Int32

from mujoco_ros.rclpy_ext.round_trip import RoundTrip

SERVICE = "/taker/get_parameters"


@pytest.fixture
def taker(ros_node: Node) -> Iterator[tuple[Node, list[int]]]:
    """A node that takes its time for each message, and what it took."""
    taken: list[int] = []

    def take(message: Int32) -> None:
        time.sleep(0.01)
        taken.append(message.data)

    node = Node("taker", context=ros_node.context)
    node.create_subscription(Int32, "numbers", take, qos_profile_sensor_data)
    executor = MultiThreadedExecutor(2, context=ros_node.context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    yield node, taken
    executor.shutdown()
    thread.join(WAIT_LIMIT_S)
    node.destroy_node()


def connected(trip: RoundTrip, spin_until: Callable[..., bool]) -> bool:
    return spin_until(lambda: bool(trip._connected()), WAIT_LIMIT_S)


def test_the_callbacks_of_earlier_messages_have_run(
    ros_node: Node, spin_until: Callable[..., bool], taker: tuple[Node, list[int]]
) -> None:
    _, taken = taker
    publisher = ros_node.create_publisher(Int32, "numbers", 10)
    trip = RoundTrip(ros_node, [SERVICE])
    assert connected(trip, spin_until)
    assert spin_until(lambda: publisher.get_subscription_count() == 1, WAIT_LIMIT_S)
    for number in range(50):
        publisher.publish(Int32(data=number))
        assert trip.wait(WAIT_LIMIT_S)
        assert taken[-1:] == [number]


@pytest.fixture
def hasty(ros_node: Node) -> Iterator[list[int]]:
    """What a node took that answers two of three requests before the messages sent earlier.

    So does the executor of rclcpp if they arrive during its check for work.
    """
    taken: list[int] = []
    node = Node("hasty", context=ros_node.context, start_parameter_services=False)
    subscription = node.create_subscription(Int32, "numbers", taken.append, qos_profile_sensor_data)
    service = node.create_service(GetParameters, "~/get_parameters", lambda _, response: response)
    ended = threading.Event()

    def work() -> None:
        requests = 0
        while not ended.wait(0.001):
            request, header = service.handle.service_take_request(GetParameters.Request)
            if request is None:
                continue
            requests += 1
            while requests % 3 == 0 and (message := subscription.handle.take_message(Int32, False)):
                taken.append(message[0].data)
            service.send_response(GetParameters.Response(), header)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield taken
    ended.set()
    thread.join(WAIT_LIMIT_S)
    node.destroy_node()


def test_the_callbacks_have_run_also_if_a_request_is_found_before_an_earlier_message(
    ros_node: Node, spin_until: Callable[..., bool], hasty: list[int]
) -> None:
    publisher = ros_node.create_publisher(Int32, "numbers", 10)
    trip = RoundTrip(ros_node, ["/hasty/get_parameters"])
    assert connected(trip, spin_until)
    assert spin_until(lambda: publisher.get_subscription_count() == 1, WAIT_LIMIT_S)
    for number in range(20):
        publisher.publish(Int32(data=number))
        assert trip.wait(WAIT_LIMIT_S)
        assert hasty[-1:] == [number]


def test_a_node_that_does_not_answer_in_time_is_reported(
    ros_node: Node, spin_until: Callable[..., bool], taker: tuple[Node, list[int]]
) -> None:
    silent = Node("silent", context=ros_node.context)  # without an executor
    trip = RoundTrip(ros_node, ["/silent/get_parameters", SERVICE])
    assert spin_until(lambda: len(trip._connected()) == 2, WAIT_LIMIT_S)
    assert not trip.wait(0.3)
    silent.destroy_node()


def test_a_wait_for_a_node_that_does_not_answer_can_be_ended(
    ros_node: Node, spin_until: Callable[..., bool]
) -> None:
    silent = Node("silent", context=ros_node.context)  # without an executor
    trip = RoundTrip(ros_node, ["/silent/get_parameters"])
    assert connected(trip, spin_until)
    waiting = threading.Thread(target=trip.wait, args=(100 * WAIT_LIMIT_S,), daemon=True)
    waiting.start()
    trip.end()
    waiting.join(WAIT_LIMIT_S)
    assert not waiting.is_alive()
    silent.destroy_node()


def test_nodes_that_do_not_exist_are_not_waited_for(
    ros_node: Node, spin_until: Callable[..., bool], taker: tuple[Node, list[int]]
) -> None:
    assert RoundTrip(ros_node, ["/absent/get_parameters"]).wait(WAIT_LIMIT_S)
    gone = Node("gone", context=ros_node.context)
    trip = RoundTrip(ros_node, ["/gone/get_parameters"])
    assert connected(trip, spin_until)
    threading.Timer(0.3, gone.destroy_node).start()
    assert trip.wait(WAIT_LIMIT_S)


def test_a_round_trip_to_no_node_is_immediate(ros_node: Node) -> None:
    assert RoundTrip(ros_node, []).wait(0.0)
