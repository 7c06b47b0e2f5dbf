"""The viewer: a web page or a window of the shared state."""

import collections.abc
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np
from mujoco.studio import plugin, viewer_protocol

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_cache import state_folder
from mujoco_ros.process.heartbeat import Heartbeat
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.app import Application
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.docks import DOCKS
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.feed import Feed
from mujoco_ros.viewer.panels import panels
from mujoco_ros.viewer.panels.drive import DrivePanel
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.plots.plots import PlotsPanel
from mujoco_ros.viewer.panels.targets import TargetsPanel
from mujoco_ros.viewer.teleop.frame_motion import FrameMotion
from mujoco_ros.viewer.teleop.server import TeleopServer
from mujoco_ros.viewer.teleop.status import PageStatus
from mujoco_ros.viewer.view_settings import DisplayFlags, HasSettings, ViewSettings
from mujoco_ros.viewer.web.access import Role
from mujoco_ros.viewer.web.page import open_page
from mujoco_ros.viewer.web.server_guard import WebServerGuard

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
_SIZE = (1280, 800)
# Renders into memory. The other backends of MuJoCo 4.0.0 find no target in the window.
_GRAPHICS = "opengl_software"


class NoDisplayError(UserInputError):
    """A window cannot be opened on this machine."""


def open_window(feed: Feed, plugins: Sequence[plugin.ViewerPlugin]) -> viewer_protocol.Viewer:
    """Return the window; raise NoDisplayError without a display."""
    if not any(os.environ.get(name) for name in _DISPLAYS):
        raise NoDisplayError(
            f"no display for the viewer's window: {' and '.join(_DISPLAYS)} are not set; "
            "viewer:=web needs no display"
        )
    # Studio's renderer refers to a type of Python 3.12 and newer.
    vars(collections.abc).setdefault("Buffer", np.ndarray)
    try:  # its libraries may be missing on a machine without a display
        from mujoco.studio import native_viewer
    except ImportError as error:
        raise NoDisplayError(f"the viewer's window cannot be loaded: {error}") from error
    width, height = _SIZE
    config = viewer_protocol.ViewerConfig(
        title=feed.title, width=width, height=height, gfx=_GRAPHICS
    )
    try:
        return native_viewer.NativeViewer(config, feed, plugins=list(plugins))
    except RuntimeError as error:
        raise NoDisplayError(f"the viewer's window cannot be opened: {error}") from error


_LOG = logging.getLogger(__name__)
_RETRY_S = 1.0  # time between two attempts to reach the page [s]


def serve_page(
    state: SharedState,
    clients: Clients,
    host: str,
    port: int,
    *,
    log: Callable[[str], object],
    on_lag: Callable[[float], object],
) -> None:
    """Serve the page until the simulator ends; `on_lag` is called with its age [s] in a thread."""
    guard = WebServerGuard(host, port, on_lag=on_lag, token_folder=state_folder("viewer_access"))
    displays = EntityDisplays(state)
    shown = panels(state, clients, displays)
    teleop = _teleop(state, clients, shown)
    plugins = _plugins(state, clients, shown)
    page = open_page(guard, _feed(state, displays, teleop.tick), plugins, teleop.handle)
    if obstacle := guard.obstacle:
        _LOG.warning("no browser can reach the page at %s: %s", guard.url, obstacle)
        threading.Thread(target=_announce, args=(guard, log), daemon=True).start()
    else:
        _announce(guard, log)
    viewer_protocol.run_viewer_loop(page)


def _announce(guard: WebServerGuard, log: Callable[[str], object]) -> None:
    """Report the address of the page as soon as a browser can reach it."""
    while guard.obstacle:
        time.sleep(_RETRY_S)
    if guard.tokens is not None:  # the log is a topic, which bags record
        control = guard.tokens.link(guard.url, Role.CONTROL)
        watch = guard.tokens.link(f"{guard.url}watch", Role.WATCH)
        sys.stderr.write(f"page: {control}\nread-only page: {watch}\n")
    log(f"the viewer is at {guard.text}")


def show_window(state: SharedState, clients: Clients) -> None:
    """Show the window until it is closed or the simulator ends."""
    displays = EntityDisplays(state)
    plugins = _plugins(state, clients, panels(state, clients, displays))
    viewer_protocol.run_viewer_loop(open_window(_feed(state, displays), plugins))


def _teleop(state: SharedState, clients: Clients, shown: Sequence[Panel]) -> TeleopServer:
    """Return the server of the pages for phones, which share targets, plots and velocities."""
    (targets,) = (panel for panel in shown if isinstance(panel, TargetsPanel))
    (plots,) = (panel for panel in shown if isinstance(panel, PlotsPanel))
    (drive,) = (panel for panel in shown if isinstance(panel, DrivePanel))
    motion = FrameMotion(state, clients.commands, targets.targets, targets.put)
    status = PageStatus(state, clients, plots.sample, lambda: motion.names)
    return TeleopServer(clients, motion, status, drive.fastest)


def _plugins(
    state: SharedState, clients: Clients, shown: Sequence[Panel]
) -> list[plugin.ViewerPlugin]:
    application, flags = Application(state, clients, shown), DisplayFlags()
    parts: dict[str, HasSettings] = {"View": application, "Display": flags, "Tabs": DOCKS}
    parts |= {panel.title: panel for panel in shown if panel.settings()}
    kept = ViewSettings(state_folder("viewer"), lambda: str(state.metadata["scene"]), parts)
    return [application, flags, *shown, kept]  # the application arranges the others


def _feed(
    state: SharedState, displays: EntityDisplays, each_frame: Callable[[], object] = lambda: None
) -> Feed:
    heart = Heartbeat(state.beat)

    def on_frame(is_new: bool) -> None:
        each_frame()
        heart.frame(is_new=is_new)

    return Feed(state, displays, on_frame=on_frame)
