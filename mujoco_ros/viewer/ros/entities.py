"""Entities and worlds: listed, added, placed, reset and removed by services of the simulator."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import simulation_interfaces.srv

from mujoco_ros.viewer.client_set import OfferedModel
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.ros.commands import StateSetter
from mujoco_ros.viewer.ros.run_state import RunStateClient
from mujoco_ros.wire.conversions import pose_message
from mujoco_ros.wire.names import write_resource

_ENTITY, _WORLD = "entity_resource", "world_resource"
_BUILD_S = 60.0
"""Time for a model to be built."""
_MEASUREMENT_S = 400.0
"""Time for the models of the list to be measured, which the simulator does once."""
_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
_SERVICES = (
    *("GetSpawnables", "SpawnEntity", "DeleteEntity"),
    *("SetEntityState", "GetAvailableWorlds", "LoadWorld"),
)


class EntityRequests:
    """Changes entities and the world. Any thread may call the methods.

    Attributes:
        spawnables: The models that can be spawned; empty before `list_spawnables`.
        worlds: The worlds that can be loaded; empty before `list_worlds`.
    """

    def __init__(self, services: RunStateClient, setter: StateSetter) -> None:
        """Use the services of a simulator."""
        self.spawnables: Sequence[OfferedModel] = ()
        self.worlds: Sequence[OfferedModel] = ()
        self._services, self._setter = services, setter

    def prepare(self) -> None:
        """Discover the services, so that the first request of a user is not late."""
        self._services.prepare(*_SERVICES)
        # The response proves that the simulator has discovered the clients of the other services.
        message = simulation_interfaces.srv.GetEntities.Request()
        self._services.query("GetEntities", message, lambda _response: None)

    def list_spawnables(self) -> Request:
        """Request the models that can be spawned."""

        def on_response(response: Any) -> None:
            self.spawnables = _offered(response.spawnables, _ENTITY)

        return self._list("list models", "GetSpawnables", on_response, timeout_s=_MEASUREMENT_S)

    def list_worlds(self) -> Request:
        """Request the worlds that can be loaded."""

        def on_response(response: Any) -> None:
            self.worlds = _offered(response.worlds, _WORLD)

        return self._list("list worlds", "GetAvailableWorlds", on_response, timeout_s=_BUILD_S)

    def spawn(self, name: str, uri: str, position: Sequence[float]) -> Request:
        """Spawn a model at a position in the world [m]; a taken name gets a number."""
        message = simulation_interfaces.srv.SpawnEntity.Request(name=name, allow_renaming=True)
        write_resource(message, _ENTITY, uri)
        message.initial_pose.header.frame_id = "world"
        message.initial_pose.pose = pose_message(np.array(position), _UPRIGHT)
        return self._services.submit(f"spawn {name}", "SpawnEntity", message, timeout_s=_BUILD_S)

    def delete(self, name: str) -> Request:
        """Delete an entity."""
        message = simulation_interfaces.srv.DeleteEntity.Request(entity=name)
        return self._services.submit(f"delete {name}", "DeleteEntity", message, timeout_s=_BUILD_S)

    def place(self, name: str, position: np.ndarray, quat_wxyz: np.ndarray) -> Request:
        """Set the pose of an entity in the world."""
        message = simulation_interfaces.srv.SetEntityState.Request(entity=name)
        message.state.header.frame_id = "world"
        message.state.pose = pose_message(position, quat_wxyz)
        if hasattr(message, "set_pose"):  # versions 2.x
            message.set_pose = True
        return self._services.submit(f"place {name}", "SetEntityState", message)

    def reset(self, name: str, values: Mapping[str, Any]) -> Request:
        """Set the initial state of an entity: values by their names in ``~/set_joints``."""
        return self._setter.set(f"reset {name}", values)

    def load_world(self, uri: str) -> Request:
        """Replace the world with another one."""
        message = simulation_interfaces.srv.LoadWorld.Request()
        write_resource(message, _WORLD, uri)
        name = OfferedModel(uri=uri, description="").name
        return self._services.submit(f"load world {name}", "LoadWorld", message, timeout_s=_BUILD_S)

    def _list(
        self, name: str, interface: str, on_response: Callable[[Any], object], *, timeout_s: float
    ) -> Request:
        message = getattr(simulation_interfaces.srv, interface).Request()
        return self._services.submit(name, interface, message, on_response, timeout_s=timeout_s)


def _offered(messages: Iterable[Any], field: str) -> tuple[OfferedModel, ...]:
    """Return the models or worlds of a response, sorted by the names of their files."""
    found = (
        OfferedModel(uri=getattr(message, field, message).uri, description=message.description)
        for message in messages
    )
    return tuple(sorted(found, key=lambda model: model.file))
