"""Requests that set joints and poses while the mouse drags them."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import Node

from mujoco_ros.model.naming import joint_name
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.ros.requests import Requests, atomic_request
from mujoco_ros.viewer.ros.shell_commands import service_call
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters
from mujoco_ros.wire.service_caller import ServiceCaller


class StateSetter:
    """Sets values by ``~/set_joints``, one request at a time with the newest values.

    A drag has more frames than the simulator needs to answer. Any thread may call the methods.
    """

    def __init__(
        self,
        node: Node,
        caller: ServiceCaller,
        requests: Requests,
        parameters: SimulatorParameters,
    ) -> None:
        """Use the service of the node that has the `parameters`; `node` is that of the viewer."""
        self._post = partial(later, node)
        self._caller, self._requests, self._parameters = caller, requests, parameters
        self._wanted: dict[str, Any] = {}
        self._is_waiting = False

    def set_joints(self, namespace: str, positions: Mapping[str, float]) -> None:
        """Set positions of joints of a robot [rad or m]."""
        self._add(
            {
                f"{joint_name(namespace, name)}.position": float(value)
                for name, value in positions.items()
            }
        )

    def set_pose(self, frame: str, position: np.ndarray, quat_wxyz: np.ndarray) -> None:
        """Set the pose of the entity whose root body has a TF frame, in the world."""
        w, x, y, z = (float(value) for value in quat_wxyz)
        self._add({f"{frame}.pose": [*(float(value) for value in position), x, y, z, w]})

    def set(self, name: str, values: Mapping[str, Any]) -> Request:
        """Set values by their names in ``~/set_joints``, at one instant.

        Args:
            name: The request as it is displayed.
            values: The values.
        """
        values = dict(values)
        return self._requests.submit(
            name, lambda request: self._call(values, request, request.complete)
        )

    def _add(self, values: Mapping[str, Any]) -> None:
        self._post(self._collect, dict(values))

    def _collect(self, values: Mapping[str, Any]) -> None:
        self._wanted |= values
        if not self._is_waiting:
            self._send()

    def _send(self) -> None:
        values, self._wanted = self._wanted, {}
        self._is_waiting = True
        name = f"set {', '.join(values)}"
        self._requests.submit(name, lambda request: self._call_next(values, request))

    def _call_next(self, values: Mapping[str, Any], request: Request) -> None:
        def done(ok: bool, reason: str) -> None:
            request.complete(ok, reason)
            self._is_waiting = False
            if self._wanted:
                self._send()

        self._call(values, request, done)

    def _call(
        self, values: Mapping[str, Any], request: Request, done: Callable[[bool, str], object]
    ) -> None:
        service, message = f"{self._parameters.simulator}/set_joints", atomic_request(values)
        request.command = service_call(SetParametersAtomically, service, message)
        self._caller.call(
            SetParametersAtomically,
            service,
            message,
            lambda response: done(response.result.successful, response.result.reason),
            lambda reason: done(False, reason),
        )
