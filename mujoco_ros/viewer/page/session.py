"""What belongs to one open page: its role, its panels, and what sends their changes."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import mujoco
from nicegui import context
from nicegui.client import Client
from nicegui.element import Element

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.camera_images import EncodedImages
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.control_slot import ControlSlot
from mujoco_ros.viewer.declared_displays import DeclaredDisplays
from mujoco_ros.viewer.dragged_bodies import DraggedBodies
from mujoco_ros.viewer.dragged_frames import DraggedFrames
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.file_request import files_of_clients
from mujoco_ros.viewer.history_saving import HistorySaving
from mujoco_ros.viewer.marker_handles import MarkerHandles
from mujoco_ros.viewer.model_images import ModelImages
from mujoco_ros.viewer.overlays.drawn_overlays import DrawnOverlays
from mujoco_ros.viewer.page.link import LinkedView
from mujoco_ros.viewer.page.live import LiveFeed
from mujoco_ros.viewer.page.scene_view import SceneView
from mujoco_ros.viewer.past_view import PastView
from mujoco_ros.viewer.plots.plotted import Plotted
from mujoco_ros.viewer.targets import Targets
from mujoco_ros.viewer.teleop.frame_motion import FrameMotion
from mujoco_ros.viewer.web.access import Role


@dataclass(frozen=True)
class Shared:
    """What all pages of a viewer share."""

    state: SharedState  # the simulated state, as of the last update
    clients: Clients  # clients of the simulator and of other nodes
    note_age: Callable[[float], object]  # gets the age of what a page shows [s]
    control: ControlSlot = field(default_factory=ControlSlot)  # which page has control

    @cached_property
    def declared(self) -> DeclaredDisplays:
        """What declared panels display."""
        return DeclaredDisplays(self.clients.panels, self.clients.panel_fields)

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
    def bodies(self) -> DraggedBodies:
        """What pulls and moves bodies."""
        return DraggedBodies(self.state, self.clients.commands)

    @cached_property
    def handles(self) -> DraggedFrames:
        """The frames with handles."""
        return DraggedFrames(lambda: (self.targets, self.markers))

    @cached_property
    def targets(self) -> Targets:
        """The frames that are published."""
        return Targets(self.clients.commands)

    @cached_property
    def markers(self) -> MarkerHandles:
        """The interactive marker that is selected."""
        return MarkerHandles(self.state, self.clients.markers, self.clients.drawings)

    @cached_property
    def motion(self) -> FrameMotion:
        """What moves targets and mocap bodies with a velocity."""
        return FrameMotion(self.state, self.clients.commands, self.targets.poses, self.targets.put)

    @cached_property
    def camera_images(self) -> EncodedImages:
        """The images of cameras."""
        return EncodedImages(self.state, self.clients.images)

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


_ABSENT_S = 5.0  # after which a page that is hidden, closed or silent loses control
_LOADING_S = 15.0  # longest time that a browser needs to load the page, besides


class Session:
    """One open page in a browser."""

    def __init__(
        self, shared: Shared, client: Client, role: Role, link: LinkedView | None = None
    ) -> None:
        """Create what belongs to a page that was opened by a link."""
        self.state, self.clients, self.shared = shared.state, shared.clients, shared
        self.client = client  # NiceGUI's client
        self.role, self.link = role, link or LinkedView()
        self.scene: SceneView  # created by the layout, as is what is shown over it
        self.stage: Element
        self.feed = LiveFeed(client, self._note_age)
        # Returns the camera of the page, for films and images; None for the default view
        self.camera: Callable[[], mujoco.MjvCamera | None] = lambda: None
        self.view: Callable[[], str] = lambda: ""  # returns the view in links to this page
        self.guard: Callable[[Callable[..., object]], Callable[..., None]] = _unguarded
        self.is_hidden = False  # whether the browser shows another tab
        self._absent_since = time.monotonic() + _LOADING_S  # which a page is before it is loaded
        self._new_until = time.monotonic() + _ABSENT_S  # the last page is closed after this loads
        self._has_connected = False
        client.on_connect(self._note_connection)
        self._had_control = self._has_left = False  # it has lost control because it was absent
        _SESSIONS[client.id] = self
        client.on_delete(self._close)
        self._take_control()

    @property
    def control(self) -> ControlSlot:
        """Which page has control."""
        return self.shared.control

    @property
    def is_read_only(self) -> bool:
        """Whether it can never have control."""
        return self.role is not Role.CONTROL

    @property
    def can_control(self) -> bool:
        """Whether its requests and commands are accepted."""
        return self.control.owner is self

    def follow_control(self, now: float) -> None:
        """Release control if the page is absent, and enable what needs control [s]."""
        is_present = (
            self.client.has_socket_connection and not self.is_hidden and not self.feed.is_silent
        )
        if is_present:
            self._absent_since = math.inf
            if self._has_left or now < self._new_until:
                self._has_left = False
                self._take_control()
        else:
            self._absent_since = min(self._absent_since, now)
            if now - self._absent_since > _ABSENT_S:
                self._has_left |= self.can_control
                self.control.release(self)
        if self._had_control != self.can_control:
            self._had_control = self.can_control
            self.feed.follow_control()

    def _take_control(self) -> None:
        """Take control if it is free, or from a page that is closed, as one that is reloaded."""
        if self.is_read_only:
            return
        owner = self.control.owner
        if isinstance(owner, Session) and not owner.is_loading and owner.is_closed:
            self.control.release(owner)
        self.control.take_control(self)

    @property
    def is_closed(self) -> bool:
        """Whether the browser has no connection."""
        return not self.client.has_socket_connection

    @property
    def is_loading(self) -> bool:
        """Whether the browser has not connected yet."""
        return not self._has_connected and time.monotonic() < self._new_until + _LOADING_S

    def _note_connection(self) -> None:
        self._has_connected = True

    def _close(self) -> None:
        _SESSIONS.pop(self.client.id, None)
        self.control.release(self)
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
