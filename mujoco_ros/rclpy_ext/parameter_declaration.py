"""Declaration of many parameters at a time."""

from collections.abc import Mapping
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter


def declare_together(
    node: Node, values: Mapping[str, Any], descriptors: Mapping[str, ParameterDescriptor]
) -> None:
    """Declare parameters that a node does not have, by name, with one message for all.

    The values are in force even if the user has set others. `Node.declare_parameters` publishes a
    message for each one, which takes most of its time.

    Raises:
        InvalidParameterValueException: A value is not in the range of its descriptor.
    """
    parameters = [Parameter(name, value=value) for name, value in values.items()]
    for parameter in parameters:
        descriptors[parameter.name].type = parameter.type_.value
    result = node._set_parameters_atomically_common(
        parameters, dict(descriptors), allow_not_set_type=True
    )
    if not result.successful:
        raise InvalidParameterValueException(", ".join(values), None, result.reason)
