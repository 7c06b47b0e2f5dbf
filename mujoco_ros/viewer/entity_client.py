"""Interface of the client that changes the entities and the world; no ROS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Protocol

import numpy as np

from mujoco_ros.viewer.clients import Request


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedModel:
    """A model that can be spawned, or a world that can be loaded.

    Attributes:
        uri: Its URI.
        description: What it is.
    """

    uri: str
    description: str

    @property
    def file(self) -> str:
        """Name of its file."""
        return PurePosixPath(self.uri).name

    @property
    def name(self) -> str:
        """Name of its file without suffix."""
        return PurePosixPath(self.uri).stem


class EntityClient(Protocol):
    """Entities of the simulation.

    Attributes:
        spawnables: The models that can be spawned; empty before `list_spawnables`.
        worlds: The worlds that can be loaded; empty before `list_worlds`.
    """

    spawnables: Sequence[OfferedModel]
    worlds: Sequence[OfferedModel]

    def prepare(self) -> None:
        """Discover the services, so that the first request of a user is not late."""

    def list_spawnables(self) -> Request:
        """Request the models that can be spawned."""

    def list_worlds(self) -> Request:
        """Request the worlds that can be loaded."""

    def spawn(self, name: str, uri: str, position: Sequence[float]) -> Request:
        """Spawn a model at a position in the world [m]; a taken name gets a number."""

    def delete(self, name: str) -> Request:
        """Delete an entity."""

    def place(self, name: str, position: np.ndarray, quat_wxyz: np.ndarray) -> Request:
        """Set the pose of an entity in the world."""

    def reset(self, name: str, values: Mapping[str, Any]) -> Request:
        """Set the initial state of an entity: values by their names in ``~/set_joints``."""

    def load_world(self, uri: str) -> Request:
        """Replace the world with another one."""
