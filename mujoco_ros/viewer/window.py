"""MuJoCo Studio's window, fed from the shared state instead of Studio's own simulation."""

import collections.abc
import os
import time
from collections.abc import Callable

import mujoco
import numpy as np
from mujoco.studio import app, messages, viewer_protocol

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.process.heartbeat import Heartbeat
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.scene_title import scene_title

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
_SIZE = (1280, 800)
# Renders into memory. The other backends of MuJoCo 4.0.0 find no target in the window.
_GRAPHICS = "opengl_software"
# The inputs of mj_forward, and what Studio displays of the state.
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


_FRAME_S = 1.0 / 30.0  # period of the window: its renderer takes more than a core otherwise
_EDIT_PERIOD_S = 0.5  # between two edited models, which Studio uploads as a whole


class NoDisplayError(UserInputError):
    """A window cannot be opened on this machine."""


class Feed:
    """Feeds Studio with the shared state, as a ``ViewerEndpoint``: without a thread or steps."""

    def __init__(
        self,
        state: SharedState,
        now: Callable[[], float] = time.monotonic,
        rest: Callable[[float], object] = time.sleep,
    ) -> None:
        """Feed from a state, which it updates; frames are heartbeats.

        `now` is monotonic [s]; `rest` gets the time until the next frame may begin [s].
        """
        self._state, self._now, self._heart = state, now, Heartbeat(state.beat, now)
        self._rest, self._frame_due = rest, now()
        self._shown: mujoco.MjModel | None = None
        self._edits, self._edits_due = 0, 0.0

    def get_sim_events(self) -> list[messages.Event]:
        """Return the events since the last frame; called once per frame."""
        state = self._state
        self._rest(max(0.0, self._frame_due - self._now()))
        if state.ended:
            return [messages.ExitEvent()]
        state.update()
        is_new, now = state.model is not self._shown, self._now()
        self._frame_due = now + _FRAME_S
        self._heart.frame(is_new=is_new)
        if not is_new and (state.edits == self._edits or now < self._edits_due):
            return []
        self._shown, self._edits, self._edits_due = state.model, state.edits, now + _EDIT_PERIOD_S
        # Studio keeps the camera while the path of the model stays the same.
        return [messages.ModelEvent(model=state.model, path=str(state.metadata["scene"]))]

    def get_sim_snapshots(self) -> list[messages.Snapshot]:
        """Return the state in each frame: what Studio's tools do to its copy does not last."""
        model, data = self._state.model, self._state.data
        values = np.empty(mujoco.mj_stateSize(model, _STATE))
        mujoco.mj_getState(model, data, values, _STATE)
        return [messages.StateSnapshot(state=values, state_sig=_STATE)]

    def send_to_sim(self, message: messages.Message) -> None:
        """Drop messages to Studio's own simulation."""

    def close(self) -> None:
        """Do nothing: the owner of the shared state closes it."""


def show_window(state: SharedState) -> None:
    """Show the window until it is closed or the simulator ends.

    Raises:
        NoDisplayError: This machine has no display, or no library of OpenGL for it.
    """
    if not any(os.environ.get(name) for name in _DISPLAYS):
        raise NoDisplayError(
            f"no display for the viewer's window: {' and '.join(_DISPLAYS)} are not set; "
            "the page needs no display"
        )
    # Studio's renderer refers to a type of Python 3.12 and newer.
    vars(collections.abc).setdefault("Buffer", np.ndarray)
    try:  # its libraries may be missing on a machine without a display
        from mujoco.studio import native_viewer
    except ImportError as error:
        raise NoDisplayError(f"the viewer's window cannot be loaded: {error}") from error
    width, height = _SIZE
    config = viewer_protocol.ViewerConfig(
        title=f"{scene_title(state)} \u2013 mujoco_ros", width=width, height=height, gfx=_GRAPHICS
    )
    try:
        window = native_viewer.NativeViewer(config, Feed(state), plugins=[app.App()])
    except RuntimeError as error:
        raise NoDisplayError(f"the viewer's window cannot be opened: {error}") from error
    viewer_protocol.run_viewer_loop(window)
