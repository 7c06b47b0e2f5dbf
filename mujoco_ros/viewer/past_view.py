"""Which state is shown: the present one, or a past one while the simulation runs on."""

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import Request, SimulationClient

_LEAST_S = 0.1  # span of past states from which on one can be shown [s]


class PastView:
    """Shows past states in a shared state, and returns the simulation to one."""

    def __init__(self, state: SharedState, simulation: SimulationClient) -> None:
        self._state, self._simulation = state, simulation
        self._request: Request | None = None

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
        return "The simulation returns to it" if self._request is not None else ""

    def update(self) -> None:
        """Show the present state after the simulation has returned to the past one, or a reset."""
        shown, request = self._state.shown, self._request
        if request is not None and request.ok is not None:
            self._request = None
            if request.ok:
                self._state.show(None)
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
        """Return the simulation to the shown state, in which it pauses."""
        shown = self._state.shown
        if shown is not None and not self.obstacle:
            self._request = self._simulation.load_past(shown.time)
