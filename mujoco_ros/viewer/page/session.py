"""What belongs to one open page: its role, its panels, and what sends their changes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco
from nicegui import context
from nicegui.client import Client

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.history_saving import HistorySaving
from mujoco_ros.viewer.page.link import LinkedView
from mujoco_ros.viewer.page.live import LiveFeed
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


class Session:
    """One open page in a browser."""

    def __init__(
        self, shared: Shared, client: Client, role: Role, link: LinkedView | None = None
    ) -> None:
        """Create what belongs to a page that was opened by a link."""
        self.state, self.clients, self.shared = shared.state, shared.clients, shared
        self.client = client  # NiceGUI's client
        self.role, self.link = role, link or LinkedView()
        self.feed = LiveFeed(client, self._note_age)
        # Returns the camera of the page, for films and images; None for the default view
        self.camera: Callable[[], mujoco.MjvCamera | None] = lambda: None
        self.view: Callable[[], str] = lambda: ""  # returns the view in links to this page
        self.guard: Callable[[Callable[..., object]], Callable[..., None]] = _unguarded
        _SESSIONS[client.id] = self
        client.on_delete(lambda: _SESSIONS.pop(client.id, None))

    @property
    def can_control(self) -> bool:
        """Whether its requests and commands are accepted."""
        return self.role is Role.CONTROL

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
