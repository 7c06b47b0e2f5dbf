"""Entities of the simulation: listed, spawned and deleted by services of the simulator."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import simulation_interfaces.srv

from mujoco_ros.bridge.simulation_interfaces.entities.messages import pose_message
from mujoco_ros.bridge.simulation_interfaces.entities.resources import write_resource
from mujoco_ros.viewer.clients import Request, SpawnableInfo
from mujoco_ros.viewer.ros.run_state import RunStateClient

_RESOURCE = "entity_resource"
_BUILD_S = 60.0
"""Time for a model to be built."""
_MEASUREMENT_S = 400.0
"""Time for the models of the list to be measured, which the simulator does once."""
_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


class EntityRequests:
    """Lists, spawns and deletes entities. Any thread may call the methods.

    Attributes:
        names: Names of the entities, since the last `refresh`.
        spawnables: The models that can be spawned; empty before `list_spawnables`.
    """

    def __init__(self, services: RunStateClient) -> None:
        """Use the services of a simulator."""
        self.names: Sequence[str] = ()
        self.spawnables: Sequence[SpawnableInfo] = ()
        self._services = services

    def refresh(self) -> None:
        """Request the names of the entities."""
        message = simulation_interfaces.srv.GetEntities.Request()
        # The response proves that the simulator has discovered the clients of the other services.
        self._services.prepare("GetSpawnables", "SpawnEntity", "DeleteEntity")

        def on_response(response: Any) -> None:
            self.names = tuple(response.entities)

        self._services.query("GetEntities", message, on_response)

    def list_spawnables(self) -> Request:
        """Request the models that can be spawned."""
        message = simulation_interfaces.srv.GetSpawnables.Request()

        def on_response(response: Any) -> None:
            found = [_spawnable(it) for it in response.spawnables]
            self.spawnables = tuple(sorted(found, key=lambda it: it.file))

        return self._services.submit(
            "list models", "GetSpawnables", message, on_response, timeout_s=_MEASUREMENT_S
        )

    def spawn(self, name: str, uri: str, position: Sequence[float]) -> Request:
        """Spawn a model at a position in the world [m]; a taken name gets a number."""
        message = simulation_interfaces.srv.SpawnEntity.Request(name=name, allow_renaming=True)
        write_resource(message, _RESOURCE, uri)
        message.initial_pose.header.frame_id = "world"
        message.initial_pose.pose = pose_message(np.array(position), _UPRIGHT)
        return self._services.submit(
            f"spawn {name}", "SpawnEntity", message, self._changed, timeout_s=_BUILD_S
        )

    def delete(self, name: str) -> Request:
        """Delete an entity."""
        message = simulation_interfaces.srv.DeleteEntity.Request(entity=name)
        return self._services.submit(
            f"delete {name}", "DeleteEntity", message, self._changed, timeout_s=_BUILD_S
        )

    def _changed(self, _response: Any) -> None:
        self.refresh()


def _spawnable(message: Any) -> SpawnableInfo:
    uri = getattr(message, _RESOURCE, message).uri
    return SpawnableInfo(uri=uri, description=message.description)
