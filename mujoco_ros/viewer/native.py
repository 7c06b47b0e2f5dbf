"""The window: Studio's viewer on the display of this machine."""

import collections.abc
import os
from collections.abc import Sequence

import numpy as np
from mujoco.studio import plugin, viewer_protocol

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.feed import Feed

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
_SIZE = (1280, 800)
# Renders into memory. The other backends of MuJoCo 4.0.0 find no target in the window.
_GRAPHICS = "opengl_software"


class NoDisplayError(UserInputError):
    """A window cannot be opened on this machine."""


def open_window(feed: Feed, plugins: Sequence[plugin.ViewerPlugin]) -> viewer_protocol.Viewer:
    """Return the window.

    Raises:
        NoDisplayError: If there is no display.
    """
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
