"""Feeds Studio from the shared state instead of its own simulation."""

import dataclasses
import time
from collections.abc import Callable

import mujoco
import numpy as np
from mujoco.studio import messages

from mujoco_ros.sim.shared_memory.reader import SharedState, Update
from mujoco_ros.sim.state.model_edits import APPEARANCE_FIELDS
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.scene_title import scene_title

MODEL_PATH = "simulation"
"""Studio keeps the camera while the path of the model stays the same."""

_TITLE = "mujoco_ros"

# The inputs of mj_forward and the values sent to the page.
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
# Minimum period of changes of appearance, which send the whole model to the page [s].
_APPEARANCE_PERIOD_S = 0.5


@dataclasses.dataclass(frozen=True)
class ModelEdited(messages.Event):
    """Options or gains of the model changed, but not its appearance."""

    model: mujoco.MjModel


class Feed:
    """Feeds Studio with the shared state, as a ``ViewerEndpoint``: without a thread or steps."""

    def __init__(
        self,
        state: SharedState,
        displays: EntityDisplays,
        now: Callable[[], float] = time.monotonic,
        on_frame: Callable[[bool], object] | None = None,
    ) -> None:
        """Feed from a state; `on_frame` may take long, and learns if a frame has new content."""
        self._state, self._now, self._on_frame = state, now, on_frame
        self._displays, self._display_changes = displays, 0
        self._shown: mujoco.MjModel | None = None
        self._appearance = b""
        self._appearance_due = -np.inf
        self._edits = 0
        self._fresh = self._is_new = True

    @property
    def title(self) -> str:
        """Title of the page or window, with the scene and its first robots."""
        return f"{scene_title(self._state)} \u2013 {_TITLE}"

    def get_sim_events(self) -> list[messages.Event]:
        """Return the events since the last frame; called once per frame."""
        events = self._events()
        if self._on_frame is not None:
            self._on_frame(self._is_new)
        self._is_new = False
        return events

    def note_connection_change(self) -> None:
        """Mark the next frame as new: the first frame of a connection may take long."""
        self._is_new = True

    def _events(self) -> list[messages.Event]:
        if self._state.ended:
            return [messages.ExitEvent()]
        self._fresh |= self._state.update() is not Update.NOTHING
        if self._state.model is not self._shown or self._displays.changes != self._display_changes:
            return [self._show()]
        if self._state.edits == self._edits or self._now() < self._appearance_due:
            return []
        if _appearance(self._shown) != self._appearance:
            return [self._show()]
        self._edits = self._state.edits
        return [ModelEdited(self._shown)]

    def get_sim_snapshots(self) -> list[messages.Snapshot]:
        """Return the newest state, once."""
        if not self._fresh:
            return []
        self._fresh = False
        model, data = self._state.model, self._state.data
        state = np.empty(mujoco.mj_stateSize(model, _STATE))
        mujoco.mj_getState(model, data, state, _STATE)
        return [messages.StateSnapshot(state=state, state_sig=_STATE)]

    def send_to_sim(self, message: messages.Message) -> None:
        """Drop messages to Studio's own simulation."""

    def close(self) -> None:
        """Do nothing: the owner of the shared state closes it."""

    def _show(self) -> messages.ModelEvent:
        self._shown, self._edits = self._state.model, self._state.edits
        self._display_changes = self._displays.changes
        self._appearance = _appearance(self._shown)
        self._appearance_due = self._now() + _APPEARANCE_PERIOD_S
        self._is_new = True
        self._fresh = True  # Studio creates new data with a model
        return messages.ModelEvent(model=self._displays.displayed_model(), path=MODEL_PATH)


def _appearance(model: mujoco.MjModel) -> bytes:
    return b"".join(getattr(model, name).tobytes() for name in APPEARANCE_FIELDS)
