"""The shared state in the place of Studio's channel to a simulation of its own."""

import dataclasses
import time
from collections.abc import Callable

import mujoco
import numpy as np
from mujoco.studio import messages

from mujoco_ros.sim.shared_memory.model_values import LOOKS
from mujoco_ros.sim.shared_memory.reader import SharedState, Update

SCENE = "simulation"
"""What Studio takes for the model's file: while it stays the same, so does the camera."""

# What the engine needs to get everything else anew; what the page gets as well.
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
# A new look of something is a new model for the page: so often at most [s].
_LOOKS_PERIOD_S = 0.5


@dataclasses.dataclass(frozen=True)
class Edited(messages.Event):
    """The model has other numbers in it: options or gains, which are not seen."""

    model: mujoco.MjModel


class Feed:
    """Hands Studio what the simulator does; Studio's own wishes end here.

    It has the methods of Studio's ``ViewerEndpoint``. A viewer so fed needs no second thread, and
    never steps: what its plugins want of the simulation goes over ROS.
    """

    def __init__(
        self,
        state: SharedState,
        now: Callable[[], float] = time.monotonic,
        on_frame: Callable[[bool], object] = lambda _is_new: None,
    ) -> None:
        """Feed from a shared state.

        Args:
            state: What is shown.
            now: The clock that looks are updated by [s].
            on_frame: Called once a frame, with whether something is in it for the first time.
        """
        self._state, self._now, self._on_frame = state, now, on_frame
        self._shown: mujoco.MjModel | None = None
        self._looks = b""
        self._looks_due = -np.inf
        self._edits = 0
        self._fresh = self._is_new = True

    def get_sim_events(self) -> list[messages.Event]:
        """Return a new model if there is one, and the end; to be called once a frame."""
        events = self._events()
        self._on_frame(self._is_new)
        self._is_new = False
        return events

    def greet(self) -> None:
        """Take notice that somebody new looks, or nobody any more."""
        self._is_new = True

    def _events(self) -> list[messages.Event]:
        if self._state.ended:
            return [messages.ExitEvent()]
        self._fresh |= self._state.update() is not Update.NOTHING
        if self._state.model is not self._shown:
            return [self._show()]
        if self._state.edits == self._edits or self._now() < self._looks_due:
            return []
        if _looks(self._shown) != self._looks:
            return [self._show()]
        self._edits = self._state.edits
        return [Edited(self._shown)]

    def get_sim_snapshots(self) -> list[messages.Snapshot]:
        """Return the newest state if it was not returned before."""
        if not self._fresh:
            return []
        self._fresh = False
        model, data = self._state.model, self._state.data
        state = np.empty(mujoco.mj_stateSize(model, _STATE))
        mujoco.mj_getState(model, data, state, _STATE)
        return [messages.StateSnapshot(state=state, state_sig=_STATE)]

    def send_to_sim(self, message: messages.Message) -> None:
        """Let go what Studio would tell its own simulation."""

    def close(self) -> None:
        """Do nothing: who opened the shared state closes it."""

    def _show(self) -> messages.ModelEvent:
        self._shown, self._edits = self._state.model, self._state.edits
        self._looks = _looks(self._shown)
        self._looks_due = self._now() + _LOOKS_PERIOD_S
        self._is_new = True
        self._fresh = True  # Studio makes data of its own with a model
        return messages.ModelEvent(model=self._shown, path=SCENE)


def _looks(model: mujoco.MjModel) -> bytes:
    return b"".join(getattr(model, name).tobytes() for name in LOOKS)
