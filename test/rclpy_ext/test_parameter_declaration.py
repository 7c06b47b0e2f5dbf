from collections.abc import Iterator

import pytest
import rclpy
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, ParameterEvent
from rclpy.context import Context
from rclpy.exceptions import InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from mujoco_ros.rclpy_ext.parameter_declaration import declare_together


@pytest.fixture
def node() -> Iterator[Node]:
    context = Context()
    rclpy.init(context=context)
    node = Node("declaring", context=context, start_parameter_services=False)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_many_parameters_are_declared_with_one_message(node: Node, monkeypatch) -> None:
    events: list[ParameterEvent] = []
    monkeypatch.setattr(node._parameter_event_publisher, "publish", events.append)
    names = [f"gain{i}" for i in range(100)]
    values = {name: float(i) for i, name in enumerate(names)}
    declare_together(node, values, {name: ParameterDescriptor(description=name) for name in names})
    assert {name: node.get_parameter(name).value for name in names} == values
    assert node.describe_parameter("gain7").description == "gain7"
    (event,) = events
    assert [parameter.name for parameter in event.new_parameters] == names


def test_declared_parameters_keep_their_types_and_ranges(node: Node) -> None:
    between = ParameterDescriptor(
        floating_point_range=[FloatingPointRange(from_value=0.0, to_value=1.0)]
    )
    declare_together(node, {"share": 0.5}, {"share": between})
    assert not node.set_parameters([Parameter("share", value="half")])[0].successful
    assert not node.set_parameters([Parameter("share", value=2.0)])[0].successful
    with pytest.raises(InvalidParameterValueException):
        declare_together(node, {"other": 2.0}, {"other": between})
