"""The clients of a simulator that panels use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mujoco_ros.viewer.clients import (
    CommandClient,
    ControllerClient,
    DrawingClient,
    DriveClient,
    ImageClient,
    LogLine,
    ParameterClient,
    Request,
    SimulationClient,
)
from mujoco_ros.viewer.entity_client import EntityClient
from mujoco_ros.viewer.interactive_markers.descriptions import InteractiveMarkerClient
from mujoco_ros.viewer.message_fields import FieldClient
from mujoco_ros.viewer.panel_descriptions import PanelClient


@dataclass(frozen=True, kw_only=True, slots=True)
class Clients:
    """All clients of a simulator. Calls never block; any thread may send requests and commands.

    Attributes:
        fields: Fields of messages of the panel Plots.
        panel_fields: Those of plots of declared panels.
        log: Returns the log lines after a sequence number, oldest first.
        latest_request: Returns the latest request of any client.
    """

    simulation: SimulationClient
    parameters: ParameterClient
    commands: CommandClient
    controllers: ControllerClient
    entities: EntityClient
    images: ImageClient
    drawings: DrawingClient
    markers: InteractiveMarkerClient
    drive: DriveClient
    fields: FieldClient
    panels: PanelClient
    panel_fields: FieldClient
    log: Callable[[int], Sequence[LogLine]]
    latest_request: Callable[[], Request | None]
