"""The page: Studio's viewer for browsers, behind a `WebServerGuard`."""

import contextlib
import io
import logging
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from mujoco.studio import messages, plugin, viewer_protocol, web_viewer
from mujoco.studio.dear_imgui import dear_imgui as imgui
from mujoco.studio.web import web_server
from websockets.http11 import Response

from mujoco_ros.viewer.docks import DOCKS
from mujoco_ros.viewer.feed import Feed
from mujoco_ros.viewer.web import page_files
from mujoco_ros.viewer.web.listening import PrivateSocket
from mujoco_ros.viewer.web.server_guard import Handler, WebServerGuard

# Period of the checks for a browser while none is connected [s].
_IDLE_PERIOD_S = 0.1
# Period of the state for spectators while no browser shows the panels [s].
_SPECTATOR_PERIOD_S = 1.0 / 30.0
# Period of the state while a page draws the last frame of the panels [s].
_STATE_PERIOD_S = 1.0 / 60.0
_NO_KEYS = {"None", "Mask"}
_KEYS = [key for name, key in imgui.Key.__members__.items() if name not in _NO_KEYS]


class PanelsHidden(messages.Event):
    """No browser shows the panels: none is connected, or all are spectators."""


class PageHalted(messages.Event):
    """The page in control draws no more, as in a hidden tab."""


class _NoPanels:
    """Replaces Studio's panels while no frame is being built."""

    def end_frame(self) -> None:
        pass


class Page(web_viewer.WebViewer):
    """Studio's web viewer, idle without browsers and closed to dropped files."""

    _headless_ui: Any

    def __init__(
        self, guard: WebServerGuard, feed: Feed, plugins: Sequence[plugin.ViewerPlugin]
    ) -> None:
        self._guard, self._feed, self._connections = guard, feed, 0
        config = viewer_protocol.ViewerConfig(title=feed.title, gfx="web")
        with contextlib.redirect_stdout(io.StringIO()):  # prints a banner with all interfaces
            super().__init__(config, feed, plugins=list(plugins))
        for event in self.get_sim_events():  # else the first page gets an empty scene
            self.dispatch(event)

    def prepare_next_frame(self) -> bool:
        """Begin a frame; return whether a browser shows the panels and has drawn the last frame."""
        if self._guard.connections != self._connections:
            self._connections = self._guard.connections
            self._feed.note_connection_change()
        is_connected = self._connections > 0
        if is_connected and not self._guard.frames.wait(_STATE_PERIOD_S):
            if self._guard.frames.has_halted:
                self.dispatch(PageHalted())
            self._stream_state()
            return False
        # Panels count as connected for a moment before their private socket rejects them.
        if self._guard.panel_connections > 0 and super().prepare_next_frame():
            self._guard.frames.note_built(is_pressed=_is_pressed())
            return True
        self.dispatch(PanelsHidden())
        if is_connected:
            self._stream_state()
        is_watched = is_connected or self._guard.further_connections > 0
        time.sleep(_SPECTATOR_PERIOD_S if is_watched else _IDLE_PERIOD_S)
        return False

    def sync(self) -> None:
        """Stream the state, end the frame, and send what the panels leave of the scene."""
        self._guard.uncovered = DOCKS.uncovered
        super().sync()

    def _stream_state(self) -> None:
        """Stream the state without the panels, which Studio streams only together."""
        panels, self._headless_ui = self._headless_ui, _NoPanels()
        try:
            self.sync()
        finally:
            self._headless_ui = panels

    def get_sim_snapshots(self) -> list[messages.Snapshot]:
        """Return the newest state if a browser is connected: mj_forward would load an idle page."""
        if not self._guard.connections:
            return []
        snapshots: list[messages.Snapshot] = super().get_sim_snapshots()
        return snapshots

    def get_drop_file(self) -> str:
        """Return no file: worlds are loaded over ROS."""
        return ""

    @messages.handler(priority=messages.Priority.INTERNAL)
    def _on_post_model(self, event: messages.PostModelEvent) -> None:
        """Serve the new model, without Studio's line on standard output."""
        self._update_model()


def _is_pressed() -> bool:
    """Return whether a button of the mouse or a key is pressed in the frame that is being built."""
    return imgui.IsAnyMouseDown() or any(map(imgui.IsKeyDown, _KEYS))


def open_page(
    guard: WebServerGuard,
    feed: Feed,
    plugins: Sequence[plugin.ViewerPlugin],
    teleop: Handler | None = None,
) -> Page:
    """Return the page, served through `guard` from now on, with pages of `teleop` beside it.

    Studio listens on all interfaces and accepts all requests. It has no options for that, so
    functions of its module are replaced.
    """
    web_server.bind_public_socket = lambda _host, _port: guard.socket
    web_server.bind_loopback_socket = lambda _port: _private_socket(guard)

    def finish(path: str, response: Response) -> None:
        page_files.add_script(path, response, title=feed.title)

    web_server.serve = partial(
        guard.serve,
        finish=finish,
        responses={
            page_files.MATERIALS: page_files.respond_with_materials,
            **page_files.responses(),
        },
        handlers={} if teleop is None else {page_files.CONNECTION: teleop},
        watched=page_files.watched(),
    )
    logging.getLogger("WebServer").setLevel(logging.WARNING)
    return Page(guard, feed, plugins)


def _private_socket(guard: WebServerGuard) -> PrivateSocket:
    """Return the socket to which Studio's panels connect inside this process.

    It accepts while a page shows the panels: connected ones are built without a page, too, and poll
    at 3 kHz, else at 1 Hz. Studio reconnects them for every page.
    """
    listening = PrivateSocket(is_open=lambda: guard.panel_connections > 0)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    return listening
