"""The clients of a simulator that panels use: entities, fields of messages, and all others."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple, Protocol

import numpy as np

from mujoco_ros.viewer import clients
from mujoco_ros.viewer.marker_descriptions import InteractiveMarkerClient
from mujoco_ros.viewer.panel_descriptions import PanelClient


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedModel:
    """A model that can be spawned, or a world that can be loaded."""

    uri: str  # its URI
    description: str  # what it is

    @property
    def file(self) -> str:
        """Name of its file."""
        return PurePosixPath(self.uri).name

    @property
    def name(self) -> str:
        """Name of its file without suffix."""
        return PurePosixPath(self.uri).stem


class EntityClient(Protocol):
    """Entities of the simulation."""

    # The models that can be spawned; empty before `list_spawnables`
    spawnables: Sequence[OfferedModel]
    worlds: Sequence[OfferedModel]  # the worlds that can be loaded; empty before `list_worlds`

    def prepare(self) -> None:
        """Discover the services, so that the first request of a user is not late."""

    def list_spawnables(self) -> clients.Request:
        """Request the models that can be spawned."""

    def list_worlds(self) -> clients.Request:
        """Request the worlds that can be loaded."""

    def spawn(self, name: str, uri: str, position: Sequence[float]) -> clients.Request:
        """Spawn a model at a position in the world [m]; a taken name gets a number."""

    def delete(self, name: str) -> clients.Request:
        """Delete an entity."""

    def place(self, name: str, position: np.ndarray, quat_wxyz: np.ndarray) -> clients.Request:
        """Set the pose of an entity in the world."""

    def reset(self, name: str, values: Mapping[str, Any]) -> clients.Request:
        """Set the initial state of an entity: values by their names in ``~/set_joints``."""

    def load_world(self, uri: str) -> clients.Request:
        """Replace the world with another one."""


class FieldKey(NamedTuple):
    """A numeric field."""

    topic: str  # full name of the topic
    # Names from the message to the field, as ``pose.position.x``, ``data[2]`` or, of a message with
    # names of its elements, ``position[left_knee]``
    path: str


class FieldSample(NamedTuple):
    """Values of fields of one message."""

    topic: str  # full name of the topic
    time: float  # simulated time of the stamp, or of the reception of a message without one [s]
    values: dict[str, float]  # values by path; NaN for an element that the message does not have


class FieldClient(Protocol):
    """Subscribes to numeric fields of messages."""

    topics: Sequence[str]  # topics that something publishes

    def inspect(self, topic: str) -> Sequence[str] | None:
        """Return the paths of the numeric fields of a topic; None until a message has arrived.

        The topic is subscribed until another one is inspected, or none, with an empty name.
        """

    def watch(self, keys: Collection[FieldKey]) -> None:
        """Receive all messages with these fields, and no others."""

    def take_samples(self) -> Sequence[FieldSample]:
        """Return the samples since the last call, oldest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Clients:
    """All clients of a simulator. Calls never block; any thread may send requests and commands."""

    simulation: clients.SimulationClient
    parameters: clients.ParameterClient
    commands: clients.CommandClient
    controllers: clients.ControllerClient
    entities: EntityClient
    images: clients.ImageClient
    drawings: clients.DrawingClient
    markers: InteractiveMarkerClient
    velocities: clients.VelocityClient
    fields: FieldClient  # fields of messages of the panel Plots
    panels: PanelClient
    panel_fields: FieldClient  # fields of messages of the plots of declared panels
    # Returns the log lines after a sequence number, oldest first
    log: Callable[[int], Sequence[clients.LogLine]]
    latest_request: Callable[[], clients.Request | None]  # returns the latest request of any client
