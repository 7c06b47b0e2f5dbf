"""Requests to the parameter services of a simulator that name more than usual."""

from collections.abc import Iterator
from typing import Any

import pytest
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import DescribeParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from simulator_client import SimulatorClient
from simulators import WAIT_LIMIT_S

from mujoco_ros.rclpy_ext.parameter_services import MAX_PARAMETERS, ParameterServices

TOO_MANY = MAX_PARAMETERS + 1
WHY = f"too large: {TOO_MANY} parameters in one request, limit {MAX_PARAMETERS}"


@pytest.fixture
def remote(shared_client: SimulatorClient) -> Iterator[SimulatorClient]:
    """The shipped arm, which still answers after each test."""
    yield shared_client
    assert shared_client.listener.get_parameter("scene") == "arm"


def request(remote: SimulatorClient, call: str, *arguments: Any) -> Any:
    """Call a parameter service; return the future of its response."""
    return getattr(remote.listener.parameters(), call)(*arguments)


def numbers(count: int) -> list[ParameterMessage]:
    return [Parameter(f"unknown{i}", value=1.0).to_parameter_msg() for i in range(count)]


@pytest.mark.timeout(300)
def test_too_many_parameters_are_not_set(remote) -> None:
    response = remote.listener.result(request(remote, "set_parameters", numbers(20_000)))
    assert len(response.results) == 20_000, "clients expect one result each"
    assert {it.reason for it in response.results} == {WHY.replace(str(TOO_MANY), "20000")}
    together = request(remote, "set_parameters_atomically", numbers(TOO_MANY))
    result = remote.listener.result(together).result
    assert (result.successful, result.reason) == (False, WHY)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("call", "field"),
    [
        ("get_parameters", "values"),
        ("get_parameter_types", "types"),
        ("describe_parameters", "descriptors"),
    ],
)
def test_too_many_names_get_an_empty_answer(remote, call: str, field: str) -> None:
    for count, answers in ((1, 1), (TOO_MANY, 0)):
        response = remote.listener.result(request(remote, call, ["scene"] * count))
        assert len(getattr(response, field)) == answers


@pytest.mark.timeout(300)
def test_too_many_prefixes_get_an_empty_answer(remote) -> None:
    for count, answered in ((1, True), (TOO_MANY, False)):
        prefixes = ["physics"] * count
        response = remote.listener.result(request(remote, "list_parameters", prefixes))
        assert bool(response.result.names) is answered


@pytest.mark.timeout(300)
def test_others_are_answered_while_many_parameters_are_set(remote) -> None:
    remote.call("GetEntities")  # discovered before
    many = request(remote, "set_parameters", numbers(MAX_PARAMETERS))
    remote.call("GetEntities")
    assert not many.done()
    response = remote.listener.result(many)
    assert len(response.results) == MAX_PARAMETERS
    for index in (0, 50, MAX_PARAMETERS - 1):
        assert f"parameter 'unknown{index}' not found" in response.results[index].reason


def test_a_node_with_more_parameters_describes_all_of_them(ros_node: Node, spin_until) -> None:
    node = Node("many", context=ros_node.context, start_parameter_services=False)
    names = [f"gain_{number}" for number in range(TOO_MANY)]
    node.declare_parameters("", [(name, 1.0) for name in names])
    ParameterServices(node, lambda: None, lambda: None)
    executor = SingleThreadedExecutor(context=ros_node.context)
    executor.add_node(node)
    client = ros_node.create_client(DescribeParameters, "/many/describe_parameters")

    def described(count: int) -> int:
        future = client.call_async(DescribeParameters.Request(names=["gain_0"] * count))

        def is_done() -> bool:
            executor.spin_once(0.0)
            return future.done()

        assert spin_until(is_done, WAIT_LIMIT_S)
        return len(future.result().descriptors)

    assert spin_until(client.service_is_ready, WAIT_LIMIT_S)
    limit = len(node.list_parameters([], 0).names)
    assert limit >= TOO_MANY
    assert described(limit) == limit
    assert described(limit + 1) == 0
    executor.shutdown()
    node.destroy_node()
