"""Parameter services whose requests are limited, and delay other requests little."""

import weakref
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.node import Node
from rclpy.parameter_service import ParameterService

from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.rclpy_ext.service import Responder, Service

MAX_PARAMETERS = 1000
"""Parameters of one request, or all of the node if it has more."""
_PART = 20
"""Parameters that are set before the executor handles other requests: 5 ms, or 40 ms if each
name is unknown and the error names similar ones."""


class ParameterServices(ParameterService):
    """The parameter services of a node, in place of rclpy's services, which call the same methods.

    rclpy handles any number of parameters in one callback, which delays everything else.
    """

    def __init__(self, node: Node, begin: Callable[[], object], end: Callable[[], object]) -> None:
        """Serve the parameters of a node, created with ``start_parameter_services=False``.

        `begin` and `end` are called around a request that sets one parameter after the other.
        """
        self._node_weak_ref = weakref.ref(node)
        self._begin, self._end = begin, end
        for kind, name, handle in (
            (DescribeParameters, "describe_parameters", self._describe_parameters_callback),
            (GetParameters, "get_parameters", self._get_parameters_callback),
            (GetParameterTypes, "get_parameter_types", self._get_parameter_types_callback),
            (ListParameters, "list_parameters", self._list_parameters_callback),
            (
                SetParametersAtomically,
                "set_parameters_atomically",
                self._set_parameters_atomically_callback,
            ),
        ):
            Service(node, kind, f"~/{name}", partial(self._handle, handle))
        Service(node, SetParameters, "~/set_parameters", self._set)

    def _handle(
        self, handle: Callable[[Any, Any], object], request: Any, responder: Responder
    ) -> None:
        if problem := self._problem(request):
            responder.fail(problem)
            self._get_node().get_logger().warning(problem)
        else:
            handle(request, responder.response)
            responder()

    def _set(self, request: SetParameters.Request, responder: Responder) -> None:
        """Set one parameter after the other, in parts between which others are answered."""
        if problem := self._problem(request):
            rejected = SetParametersResult(successful=False, reason=problem)
            responder.response.results = [rejected] * len(request.parameters)
            responder()
            return
        self._begin()
        rest = iter(request.parameters)
        responder.attempt(partial(self._set_part, rest, responder, len(request.parameters)))

    def _set_part(self, rest: Iterator[Any], responder: Responder, count: int) -> None:
        section = SetParameters.Request(parameters=list(islice(rest, _PART)))
        try:
            self._set_parameters_callback(section, responder.response)
        except Exception:
            self._end()
            raise
        following = partial(self._set_part, rest, responder, count)
        if len(responder.response.results) < count:
            if later(self._get_node(), responder.attempt, following):
                return
            following()
        else:
            self._end()
            responder()

    def _problem(self, request: Any) -> str:
        """Return why a request is rejected; empty if it is not."""
        limit = max(MAX_PARAMETERS, len(self._get_node()._parameters))
        for field in ("parameters", "names", "prefixes"):
            count = len(getattr(request, field, ()))
            if count > limit:
                return f"too large: {count} {field} in one request, limit {limit}"
        return ""
