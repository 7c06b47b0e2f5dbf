"""What belongs to one open page: its role, its panels, and what sends their changes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco
from nicegui import context
from nicegui.client import Client
from nicegui.element import Element

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.camera_images import CameraImages
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.file_request import files_of_clients
from mujoco_ros.viewer.history_saving import HistorySaving
from mujoco_ros.viewer.model_images import ModelImages
from mujoco_ros.viewer.overlays.drawn_overlays import DrawnOverlays
from mujoco_ros.viewer.page.link import PageLink
from mujoco_ros.viewer.page.live import LiveFeed
from mujoco_ros.viewer.page.scene_view import SceneView
from mujoco_ros.viewer.past_view import PastView
from mujoco_ros.viewer.plots.plotted import Plotted
from mujoco_ros.viewer.web.access import Role


@dataclass(frozen=True)
class Shared:
    """What all pages of a viewer share."""

    state: SharedState  # the simulated state, as of the last update
    clients: Clients  # clients of the simulator and of other nodes
    note_age: Callable[[float], object]  # gets the age of what a page shows [s]

    @cached_property
    def plotted(self) -> Plotted:
        """What the panel "Plots" shows."""
        return Plotted(self.state, self.clients.parameters, self.clients.fields)

    @cached_property
    def past(self) -> PastView:
        """Which state the pages show."""
        return PastView(self.state, self.clients.simulation)

    @cached_property
    def saving(self) -> HistorySaving:
        """What saves past states."""
        return HistorySaving(self.state, self.clients.parameters)

    @cached_property
    def displays(self) -> EntityDisplays:
        """What is shown of each entity."""
        return EntityDisplays(self.state)

    @cached_property
    def overlays(self) -> DrawnOverlays:
        """What is drawn over the scene."""
        clients = self.clients
        return DrawnOverlays(self.state, clients.parameters, clients.drawings, self.displays)

    @cached_property
    def camera_images(self) -> CameraImages:
        """The images of cameras."""
        return CameraImages(self.state, self.clients.images)

    @cached_property
    def model_images(self) -> ModelImages:
        """The images of models that can be spawned."""
        return ModelImages(files_of_clients(self.clients.parameters))

    @cached_property
    def spawned(self) -> dict[str, str]:
        """URIs of the models of spawned entities, by name."""
        return {}

    def close(self) -> None:
        """End the processes that read meshes and models."""
        self.overlays.close()
        self.model_images.close()


class Session:
    """One open page in a browser."""

    def __init__(
        self, shared: Shared, client: Client, role: Role, link: PageLink = PageLink()
    ) -> None:
        """Create what belongs to a page that was opened by a link."""
        self.state, self.clients, self.shared = shared.state, shared.clients, shared
        self.client = client  # NiceGUI's client
        self.role, self.link = role, link
        self.scene: SceneView  # created by the layout, as is what is shown over it
        self.stage: Element
        self.feed = LiveFeed(client, self._note_age)
        # Returns the camera of the page, for films and images; None for the default view
        self.camera: Callable[[], mujoco.MjvCamera | None] = lambda: None
        self.view: Callable[[], str] = lambda: ""  # returns the view in links to this page
        self.guard: Callable[[Callable[..., object]], Callable[..., None]] = _unguarded
        _SESSIONS[client.id] = self
        client.on_delete(self._close)

    @property
    def can_control(self) -> bool:
        """Whether its requests and commands are accepted."""
        return self.role is Role.CONTROL

    def _close(self) -> None:
        _SESSIONS.pop(self.client.id, None)
        self.shared.camera_images.want(self.client.id, ())

    def _note_age(self, seconds: float) -> None:
        if self.can_control:
            self.shared.note_age(seconds)


_SESSIONS: dict[str, Session] = {}


def current_session() -> Session:
    """Return the session of the page that is being built or handles an event."""
    return _SESSIONS[context.client.id]


def _unguarded(act: Callable[..., object]) -> Callable[..., None]:
    def call(*arguments: Any) -> None:
        act(*arguments)

    return call
