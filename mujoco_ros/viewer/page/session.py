"""What belongs to one open page: its role, its panels, and what sends their changes."""

import math
import time
from collections.abc import Callable
from typing import Any

from nicegui import context
from nicegui.client import Client
from nicegui.element import Element

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.camera_images import EncodedImages
from mujoco_ros.viewer.control_slot import ControlSlot
from mujoco_ros.viewer.declared_displays import DeclaredDisplays
from mujoco_ros.viewer.dragged_bodies import DraggedBodies
from mujoco_ros.viewer.dragged_frames import DraggedFrames
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.file_request import files_of_clients
from mujoco_ros.viewer.frame_motion import FrameMotion
from mujoco_ros.viewer.history_saving import HistorySaving
from mujoco_ros.viewer.marker_handles import MarkerHandles
from mujoco_ros.viewer.model_images import ModelImages
from mujoco_ros.viewer.overlays.drawn_overlays import DrawnOverlays
from mujoco_ros.viewer.page.access import Role
from mujoco_ros.viewer.page.link import LinkedView
from mujoco_ros.viewer.page.live import LiveFeed
from mujoco_ros.viewer.page.scene_view import SceneView
from mujoco_ros.viewer.past_view import PastView
from mujoco_ros.viewer.plots.plotted import Plotted
from mujoco_ros.viewer.ros.node import ViewerNode
from mujoco_ros.viewer.targets import Targets


class Shared:
    """What all pages of a viewer share."""

    def __init__(
        self, state: SharedState, clients: ViewerNode, note_age: Callable[[float], object]
    ) -> None:
        self.state = state  # the simulated state, as of the last update
        self.clients = clients  # the clients of the simulator and of other nodes
        self.note_age = note_age  # gets the age of what a page shows [s]
        self.control = ControlSlot()  # which page has control
        parameters, commands, drawings = clients.parameters, clients.commands, clients.drawings
        self.declared = DeclaredDisplays(clients.panels, clients.panel_fields)
        self.plotted = Plotted(state, parameters, clients.fields)
        self.past = PastView(state, clients.simulation)  # which state the pages show
        self.saving = HistorySaving(state, parameters)
        self.displays = EntityDisplays(state)
        self.overlays = DrawnOverlays(
            *(state, parameters, drawings, self.displays), lambda: clients.diagnostics.temperatures
        )
        self.bodies = DraggedBodies(state, commands, parameters)
        self.targets = Targets(commands)
        self.markers = MarkerHandles(state, clients.markers, drawings)
        self.handles = DraggedFrames((self.targets, self.markers))
        self.motion = FrameMotion(state, commands, self.targets)
        self.camera_images = EncodedImages(state, clients.images)
        self.model_images = ModelImages(files_of_clients(lambda: parameters.known))
        self.spawned: dict[str, str] = {}  # URIs of the models of spawned entities, by name
        self.recent_worlds: list[str] = []  # URIs of worlds that pages loaded, newest first

    def close(self) -> None:
        """End the processes that read meshes and models."""
        self.overlays.close()
        self.model_images.close()


_ABSENT_S = 5.0  # after which a page that is hidden, closed or silent loses control
_REFUSAL_S = 4.0  # how long a page says that a key needs control
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
        self.feed = LiveFeed(client)
        self.guard: Callable[[Callable[..., object]], Callable[..., None]] = _unguarded
        self.robot = ""  # name of the robot that panels show; empty before one is selected
        self.is_hidden = False  # whether the browser shows another tab
        self._absent_since = time.monotonic() + _LOADING_S  # which a page is before it is loaded
        self._new_until = time.monotonic() + _ABSENT_S  # the last page is closed after this loads
        self.has_connected = False  # whether a browser has ever connected to it
        client.on_connect(self._note_connection)
        self._refused_at = -math.inf
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
            if self._has_left or self.is_new:
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

    def refuse(self) -> None:
        """Note that a key had no effect, because it needs control."""
        self._refused_at = time.monotonic()

    @property
    def refusal(self) -> str:
        """Why a key of the last seconds had no effect; empty without one."""
        if self.can_control or time.monotonic() - self._refused_at > _REFUSAL_S:
            return ""
        if self.is_read_only:
            return "This page is read-only: keys do not act on the simulation."
        return "This page has no control: take or request it above to act on the simulation."

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
    def is_new(self) -> bool:
        """Whether it was opened so recently that it takes control from a page that closes."""
        return time.monotonic() < self._new_until

    @property
    def is_loading(self) -> bool:
        """Whether the browser has not connected yet."""
        return not self.has_connected and time.monotonic() < self._new_until + _LOADING_S

    def _note_connection(self) -> None:
        if not self.has_connected:
            self._new_until = time.monotonic() + _ABSENT_S
        self.has_connected = True

    def _close(self) -> None:
        _SESSIONS.pop(self.client.id, None)
        self.control.release(self)
        self.shared.camera_images.want(self.client.id, ())


_SESSIONS: dict[str, Session] = {}


def current_session() -> Session:
    """Return the session of the page that is being built or handles an event."""
    return _SESSIONS[context.client.id]


def _unguarded(act: Callable[..., object]) -> Callable[..., None]:
    def call(*arguments: Any) -> None:
        act(*arguments)

    return call
