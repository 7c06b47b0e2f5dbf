"""What of simulation_interfaces is served, and what that makes the simulator able to do."""

import re
from collections.abc import Callable
from typing import Any

import simulation_interfaces.action
import simulation_interfaces.msg
import simulation_interfaces.srv
from rclpy.exceptions import NameValidationException
from rclpy.node import Node

from mujoco_ros.bridge.rclpy_ext.service import Responder, Service
from mujoco_ros.model.errors import UserInputError

_WORD = re.compile(r"(?<=.)(?=[A-Z])")
_CUSTOM_INFO = (
    "mujoco_ros: MuJoCo for ROS 2; docs/simulation_control.md tells what each service does"
)


class SimulationInterfaces:
    """Serves interfaces of the standard under one prefix, and claims the features they bring.

    Distributions carry different versions of the standard: an interface or a feature that the
    installed one does not have is left out.

    Attributes:
        node: The node that serves them.
        spawn_formats: Formats of what can be spawned.
    """

    def __init__(self, node: Node, prefix: str) -> None:
        """Serve nothing yet but GetSimulatorFeatures.

        Args:
            node: The node.
            prefix: What all names begin with.

        Raises:
            ModelError: The prefix makes no valid names.
        """
        self.node = node
        self.spawn_formats: list[str] = []
        self._prefix = prefix
        self._features: set[int] = set()
        try:
            self.serve("GetSimulatorFeatures", self._tell_features)
        except (NameValidationException, ValueError) as error:
            raise UserInputError(
                f"parameter 'simulation_interfaces_prefix' cannot be '{prefix}': {error}"
            ) from error

    @property
    def features(self) -> list[int]:
        """What the simulator is able to do, numbers of SimulatorFeatures."""
        return sorted(self._features)

    def name(self, interface: str) -> str:
        """Return the name under which an interface, given by its type, is served."""
        return self._prefix + service_name(interface)

    def serve(
        self, interface: str, handler: Callable[[Any, Responder], None], *features: str
    ) -> Service | None:
        """Serve a service.

        Args:
            interface: Name of its type.
            handler: See `Service`.
            features: Names of the features it brings.

        Returns:
            The service; None if the installed version of the standard does not have it.
        """
        kind = getattr(simulation_interfaces.srv, interface, None)
        if kind is None:
            return None
        self.claim(*features)
        return Service(self.node, kind, self.name(interface), handler)

    def action(self, interface: str, *features: str) -> Any:
        """Return the type of an action and claim its features; None if it does not exist."""
        kind = getattr(simulation_interfaces.action, interface, None)
        if kind is not None:
            self.claim(*features)
        return kind

    def claim(self, *features: str) -> None:
        """Add features, given by name, to what GetSimulatorFeatures tells."""
        known = simulation_interfaces.msg.SimulatorFeatures
        self._features |= {getattr(known, name) for name in features if hasattr(known, name)}

    def withdraw(self, *features: str) -> None:
        """Take features back."""
        known = simulation_interfaces.msg.SimulatorFeatures
        self._features -= {getattr(known, name) for name in features if hasattr(known, name)}

    def _tell_features(self, _request: object, answer: Responder) -> None:
        told = answer.response.features
        told.features, told.spawn_formats = self.features, self.spawn_formats
        told.custom_info = _CUSTOM_INFO
        answer()


def service_name(interface: str) -> str:
    """Return the name that goes with the type of a service, as ``get_entities``."""
    return _WORD.sub("_", interface).lower()
