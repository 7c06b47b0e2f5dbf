"""Which state is shown: the present one, or a past one while the simulation runs on."""

from mujoco_ros.sim.shared_memory.past_states import PastState
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.ros.run_state import RunStateClient

_BEFORE = "before_return"  # keyframe with the state before a return
_UNDO_S = 30.0  # simulated time after a return in which it can be undone
_LEAST_S = 0.1  # span of past states from which on one can be shown [s]


class PastView:
    """Shows past states in a shared state, and returns the simulation to one."""

    def __init__(self, state: SharedState, simulation: RunStateClient) -> None:
        self._state, self._simulation = state, simulation
        self._request: Request | None = None
        # Request of the present state, before it is left, and the past state to return to
        self._saving: tuple[Request, PastState] | None = None
        self._before: tuple[float, float] | None = None  # times left and returned to [s]
        self._model: object = None  # of these times

    @property
    def age(self) -> float:
        """Simulated time since the shown state [s]; 0 for the present one."""
        shown = self._state.shown
        return 0.0 if shown is None else max(self._state.peek()[0] - shown.time, 0.0)

    @property
    def span(self) -> tuple[float, float] | None:
        """Times of the first past state and of the present one [s]; None without past states."""
        times, now = self._state.past.times, self._state.peek()[0]
        if not len(times) or now - times[0] < _LEAST_S:
            return None
        return float(times[0]), now

    @property
    def obstacle(self) -> str:
        """Why the simulation cannot return to the shown state; empty if it can."""
        shown = self._state.shown
        if shown is None:
            return "Show a past state first"
        if self._state.past.find(shown.time) != shown:
            return "The simulator does not keep this state any more"
        is_busy = self._request is not None or self._saving is not None
        return "The simulation returns to it" if is_busy else ""

    @property
    def undo_time(self) -> float | None:
        """Time of the state that `undo` restores [s]; None if there is none, or not any more."""
        if self._before is None or self._model is not self._state.model:
            return None
        left, returned = self._before
        return left if -1e-6 <= self._state.peek()[0] - returned <= _UNDO_S else None

    def update(self) -> None:
        """Show the present state after the simulation has returned to the past one, or a reset."""
        if self._saving is not None and self._saving[0].ok is not None:
            (saved, goal), self._saving = self._saving, None
            self._return_to(goal, with_undo=saved.ok is True)
        shown, request = self._state.shown, self._request
        if request is not None and request.ok is not None:
            self._request = None
            if request.ok:
                self._state.show(None)
            else:
                self._before = None
        elif shown is not None and self._state.peek()[0] < shown.time:
            self._state.show(None)

    def show(self, time: float | None) -> str:
        """Show the last state not later than `time` [s], None shows the present one.

        Returns:
            What is wrong, if no such state is kept; then nothing changes.
        """
        if time is None:
            self._state.show(None)
            return ""
        if (span := self.span) is None:
            return f"The state of {time:.3f} s is not kept: history_length is 0, or too short."
        if not span[0] <= time + 1e-6:
            kept = f"those of {span[0]:.3f} s to {span[1]:.3f} s are"
            return f"The state of {time:.3f} s is not kept; {kept}."
        self._state.show(time if time < span[1] else None)
        return ""

    def step(self, states: int) -> None:
        """Show the state that is some states later, or earlier if negative."""
        times, shown = self._state.past.times, self._state.shown
        at = len(times) if shown is None else int(times.searchsorted(shown.time))
        at += states
        if at >= len(times):
            self._state.show(None)
        elif len(times):
            self._state.show(float(times[max(at, 0)]))

    def continue_from(self) -> None:
        """Save the present state, then return the simulation to the shown one, where it pauses."""
        shown = self._state.shown
        if shown is not None and not self.obstacle:
            self._saving = self._simulation.save_keyframe(_BEFORE), shown

    def undo(self) -> None:
        """Return the simulation to the state before the last `continue_from`."""
        if self.undo_time is not None:
            self._before = None
            self._simulation.load_keyframe(_BEFORE)

    def _return_to(self, goal: PastState, *, with_undo: bool) -> None:
        """Return to the state that was shown at the press, whatever is shown now, if it is kept."""
        if self._state.past.find(goal.time) == goal:
            self._before = (self._state.peek()[0], goal.time) if with_undo else None
            self._model = self._state.model
            self._request = self._simulation.load_past(goal.time)
