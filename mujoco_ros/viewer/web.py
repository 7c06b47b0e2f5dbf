"""The page: Studio's viewer for browsers, behind a door."""

import contextlib
import io
import logging
import time
from collections.abc import Sequence

from mujoco.studio import messages, plugin, viewer_protocol, web_viewer
from mujoco.studio.web import web_server

from mujoco_ros.viewer.door import Door, PrivateSocket
from mujoco_ros.viewer.feed import Feed

TITLE = "mujoco_ros"

# While nobody looks, a frame is prepared so often [s]: what a browser waits for at most.
_IDLE_PERIOD_S = 0.05


class Unseen(messages.Event):
    """No browser is there to see or to touch anything."""


class Page(web_viewer.WebViewer):
    """Studio's web viewer, quiet while nobody looks, and deaf to files dropped on it."""

    def __init__(self, door: Door, feed: Feed, plugins: Sequence[plugin.ViewerPlugin]) -> None:
        """Serve at `door` what `feed` brings."""
        self._door = door
        config = viewer_protocol.ViewerConfig(title=TITLE, gfx="web")
        with contextlib.redirect_stdout(io.StringIO()):  # a banner, which tells of all interfaces
            super().__init__(config, feed, plugins=list(plugins))
        for event in self.get_sim_events():  # else a page that is early gets an empty scene first
            self.dispatch(event)

    def prepare_next_frame(self) -> bool:
        """Begin a frame; return whether a browser is there for it."""
        if self._door.visitors and super().prepare_next_frame():
            return True
        self.dispatch(Unseen())
        time.sleep(_IDLE_PERIOD_S)
        return False

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


def open_page(door: Door, feed: Feed, plugins: Sequence[plugin.ViewerPlugin]) -> Page:
    """Return the page, served at `door` from now on.

    Studio listens on all interfaces and answers everybody; the functions by which it would are
    replaced in its module, as it has no others to offer.
    """
    web_server.bind_public_socket = lambda _host, _port: door.socket
    web_server.bind_loopback_socket = lambda _port: _private_socket()
    web_server.serve = door.serve
    logging.getLogger("WebServer").setLevel(logging.WARNING)
    return Page(door, feed, plugins)


def _private_socket() -> PrivateSocket:
    """Return what Studio's panels connect to, inside this process."""
    listening = PrivateSocket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    return listening
