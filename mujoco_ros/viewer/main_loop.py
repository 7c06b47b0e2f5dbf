"""The viewer: a page or a window around the shared state, until it is closed or the state ends."""

from collections.abc import Callable

from mujoco.studio import plugin, viewer_protocol

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.app import Application
from mujoco_ros.viewer.feed import Feed
from mujoco_ros.viewer.heartbeat import Heartbeat
from mujoco_ros.viewer.link import SimulatorLink
from mujoco_ros.viewer.native import open_window
from mujoco_ros.viewer.panels import panels
from mujoco_ros.viewer.panels.overlays import Overlays
from mujoco_ros.viewer.panels.targets import Targets
from mujoco_ros.viewer.web.page import open_page
from mujoco_ros.viewer.web.server_guard import WebServerGuard


def plugins(state: SharedState, link: SimulatorLink) -> list[plugin.ViewerPlugin]:
    """Return all that the viewer shows around the scene; the application makes their places."""
    return [
        Application(state, link),
        *panels(state, link),
        Overlays(state, link),
        Targets(state, link),
    ]


def serve_page(
    state: SharedState, link: SimulatorLink, host: str, port: int, say: Callable[[str], object]
) -> None:
    """Serve the page until the state ends; tell where it is.

    Raises:
        ModelError: If it cannot be served there.
    """
    door = WebServerGuard(host, port)
    page = open_page(door, _feed(state), plugins(state, link))
    say(f"the viewer is at {door.whereabouts}")
    viewer_protocol.run_viewer_loop(page)


def show_window(state: SharedState, link: SimulatorLink) -> None:
    """Show the window until it is closed, or the state ends.

    Raises:
        NoDisplayError: If there is no display.
    """
    viewer_protocol.run_viewer_loop(open_window(_feed(state), plugins(state, link)))


def _feed(state: SharedState) -> Feed:
    heart = Heartbeat(state)
    return Feed(state, on_frame=lambda is_new: heart.frame(is_new=is_new))
