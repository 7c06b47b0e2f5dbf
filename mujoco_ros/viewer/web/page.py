"""The page: Studio's viewer for browsers, behind a door."""

import contextlib
import io
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mujoco.studio import messages, plugin, viewer_protocol, web_viewer
from mujoco.studio.web import web_server
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from mujoco_ros.viewer.feed import Feed
from mujoco_ros.viewer.web.page_script import add_script
from mujoco_ros.viewer.web.server_guard import PrivateSocket, WebServerGuard

TITLE = "mujoco_ros"

# While nobody looks, a frame is prepared so often [s]: what a browser waits for at most.
_IDLE_PERIOD_S = 0.1
# Who only watches gets a state so often [s].
_WATCHING_PERIOD_S = 1.0 / 30.0


class Unseen(messages.Event):
    """Nobody has the panels before him: no browser is there, or all of them only watch."""


class _NoFrame:
    """Stands for Studio's panels while there is no frame to end."""

    def end_frame(self) -> None:
        pass


class Page(web_viewer.WebViewer):
    """Studio's web viewer, quiet while nobody looks, and deaf to files dropped on it."""

    _headless_ui: Any

    def __init__(
        self, door: WebServerGuard, feed: Feed, plugins: Sequence[plugin.ViewerPlugin]
    ) -> None:
        """Serve at `door` what `feed` brings."""
        self._door, self._feed, self._visitors = door, feed, 0
        config = viewer_protocol.ViewerConfig(title=TITLE, gfx="web")
        with contextlib.redirect_stdout(io.StringIO()):  # a banner, which tells of all interfaces
            super().__init__(config, feed, plugins=list(plugins))
        for event in self.get_sim_events():  # else a page that is early gets an empty scene first
            self.dispatch(event)

    def prepare_next_frame(self) -> bool:
        """Begin a frame; return whether a browser is there for it."""
        if self._door.visitors != self._visitors:
            self._visitors = self._door.visitors
            self._feed.greet()
        watched = self._visitors > 0
        if watched and super().prepare_next_frame():
            return True
        self.dispatch(Unseen())
        if watched:
            self._show_scene()
        time.sleep(_WATCHING_PERIOD_S if watched else _IDLE_PERIOD_S)
        return False

    def _show_scene(self) -> None:
        """Stream the state without the panels, which Studio does only together."""
        panels, self._headless_ui = self._headless_ui, _NoFrame()
        try:
            self.sync()
        finally:
            self._headless_ui = panels

    def get_sim_snapshots(self) -> list[messages.Snapshot]:
        """Return the newest state if a browser is there for it: to forward it takes its time."""
        if not self._door.visitors:
            return []
        snapshots: list[messages.Snapshot] = super().get_sim_snapshots()
        return snapshots

    def get_drop_file(self) -> str:
        """Return no file: worlds are loaded over ROS."""
        return ""

    @messages.handler(priority=messages.Priority.INTERNAL)
    def _on_post_model(self, event: messages.PostModelEvent) -> None:
        """Serve the new model, without a word on the standard output."""
        self._update_model()


def open_page(door: WebServerGuard, feed: Feed, plugins: Sequence[plugin.ViewerPlugin]) -> Page:
    """Return the page, served at `door` from now on.

    Studio listens on all interfaces and answers everybody; the functions by which it would are
    replaced in its module, as it has no others to offer.
    """
    web_server.bind_public_socket = lambda _host, _port: door.socket
    web_server.bind_loopback_socket = lambda _port: _private_socket(door)
    web_server.serve = partial(_serve, door)
    logging.getLogger("WebServer").setLevel(logging.WARNING)
    return Page(door, feed, plugins)


def _serve(
    door: WebServerGuard,
    handler: Any,
    *,
    process_response: Callable[[ServerConnection, Request, Response], Response | None],
    **options: Any,
) -> Any:
    """Serve at `door`, the page with its script."""

    def finished(connection: ServerConnection, request: Request, response: Response) -> Response:
        answer = process_response(connection, request, response) or response
        add_script(request.path, answer)
        return answer

    return door.serve(handler, process_response=finished, **options)


def _private_socket(door: WebServerGuard) -> PrivateSocket:
    """Return what Studio's panels connect to, inside this process.

    Connected, their thread looks 3000 times a second for what comes; otherwise, it tries once a
    second. For a new page, they are connected anew anyway.
    """
    listening = PrivateSocket(is_open=lambda: door.visitors > 0)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    return listening
