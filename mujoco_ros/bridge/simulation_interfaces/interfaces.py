"""The services and actions of simulation_interfaces, and the features that they provide."""

import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import simulation_interfaces.action
import simulation_interfaces.msg
import simulation_interfaces.srv
from rclpy.exceptions import NameValidationException
from rclpy.node import Node

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import ALL_FILES, FileAccess
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder, Service
from mujoco_ros.wire.names import service_name
from mujoco_ros.wire.parameter_spec import ParameterSpec

PREFIX = ParameterSpec(
    "simulation_interfaces_prefix",
    "~/",
    "Prefix of the names of the services of simulation_interfaces",
    read_only=True,
)
_CUSTOM_INFO = (
    "mujoco_ros: MuJoCo for ROS 2; docs/reference/simulation_control.md describes the services"
)


_MOST_WAITING = 32


class BackgroundWorker:
    """One thread that handles one request after the other; the first request starts it."""

    def __init__(self, files: FileAccess = ALL_FILES) -> None:
        """Create the queue of requests, which may name `files`."""
        self._files = files
        self._jobs: queue.Queue[Callable[[], None]] = queue.Queue(_MOST_WAITING)
        self._thread: threading.Thread | None = None

    def run(self, responder: Responder, fill: Callable[[], object]) -> None:
        """Have the thread call `fill`, which fills in the response, and send it.

        Too many requests that wait are a `RequestRejectedError`.
        """
        try:
            self._jobs.put_nowait(partial(responder.complete, fill))
        except queue.Full:
            message = f"busy: {_MOST_WAITING} requests of this kind are waiting"
            raise RequestRejectedError(message) from None
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="background", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            with self._files.for_client():
                job()


class SimulationInterfaces:
    """Serves interfaces of the standard under one prefix, and reports their features.

    What the installed version of the standard does not have is left out.
    """

    def __init__(self, node: Node, prefix: str, spawn_formats: Sequence[str] = ()) -> None:
        """Serve GetSimulatorFeatures; models to spawn may have the formats `spawn_formats`."""
        self.node = node
        self._spawn_formats = list(spawn_formats)
        self._prefix = prefix
        self._features: set[int] = set()
        try:
            self.serve("GetSimulatorFeatures", self._get_features)
        except (NameValidationException, ValueError) as error:
            raise UserInputError(
                f"parameter 'simulation_interfaces_prefix' cannot be '{prefix}': {error}"
            ) from error

    @property
    def features(self) -> list[int]:
        """The features of the simulator, as numbers of SimulatorFeatures."""
        return sorted(self._features)

    def name(self, interface: str) -> str:
        """Return the name under which the interface of a type is served."""
        return self._prefix + service_name(interface)

    def serve(
        self, interface: str, handler: Callable[[Any, Responder], None], *features: str
    ) -> Service | None:
        """Serve a service by the name of its type, which provides the features with these names.

        The result is None if the installed version of the standard does not have it.
        """
        kind = getattr(simulation_interfaces.srv, interface, None)
        if kind is None:
            return None
        self.add_features(*features)
        return Service(self.node, kind, self.name(interface), handler)

    def action(self, interface: str, *features: str) -> Any:
        """Return the type of an action and add its features; None if it does not exist."""
        kind = getattr(simulation_interfaces.action, interface, None)
        if kind is not None:
            self.add_features(*features)
        return kind

    def add_features(self, *features: str) -> None:
        """Add features, given by name, to the response of GetSimulatorFeatures."""
        self._features |= _numbers(features)

    def remove_features(self, *features: str) -> None:
        """Remove features, given by name."""
        self._features -= _numbers(features)

    def _get_features(self, _request: object, responder: Responder) -> None:
        features = responder.response.features
        features.features, features.spawn_formats = self.features, self._spawn_formats
        features.custom_info = _CUSTOM_INFO
        responder()


def _numbers(features: Iterable[str]) -> set[int]:
    known = simulation_interfaces.msg.SimulatorFeatures
    return {getattr(known, name) for name in features if hasattr(known, name)}
