"""Turning elapsed wall time into the steps that are due."""


class Pacer:
    """Decides when the next physics step is due; never reads a clock itself.

    Catch-up after a stall is bounded: a larger lag is dropped and counted.
    """

    def __init__(self, timestep: float, *, factor: float = 1.0, catch_up_s: float = 0.05) -> None:
        """Create a pacer for steps of `timestep` simulated seconds.

        Args:
            timestep: Simulated seconds per step.
            factor: Simulated seconds per wall second; 0 means as fast as possible.
            catch_up_s: Largest lag behind the wall clock that is caught up [s].
        """
        self.catch_up_s = catch_up_s
        self.dropped_s = 0.0
        """Wall time dropped since the start [s]."""
        self.late_steps = 0
        """Steps that started a whole step period or more after they were due (deadline misses)."""
        self.lag_s = 0.0
        """How late the last step started [s]."""
        self._timestep = timestep
        self._due: float | None = None
        self.factor = factor

    @property
    def factor(self) -> float:
        """Simulated seconds per wall second; 0 means as fast as possible."""
        return self._factor

    @factor.setter
    def factor(self, factor: float) -> None:
        if not 0 <= factor < float("inf"):
            raise ValueError(f"real-time factor must be a finite number of 0 or more, got {factor}")
        self._factor = factor
        self._period = self._timestep / factor if factor else 0.0
        self._due = None

    def set_timestep(self, timestep: float) -> None:
        """Set the simulated seconds per step."""
        self._timestep = timestep
        self.factor = self._factor

    def wait(self, now: float) -> float:
        """Return how long to sleep before the next step [s]; 0 when it is due.

        Args:
            now: Monotonic wall time [s].
        """
        if not self._factor or self._due is None:
            return 0.0
        return max(0.0, self._due - now)

    def started(self, now: float) -> None:
        """Register a step that starts at wall time `now` [s], and schedule the next one."""
        if not self._factor:
            self.lag_s = 0.0
            return
        if self._due is None:
            self._due = now
        self.lag_s = now - self._due
        if self.lag_s >= self._period:
            self.late_steps += 1
        if self.lag_s > self.catch_up_s:
            self.dropped_s += self.lag_s - self.catch_up_s
            self._due = now - self.catch_up_s
        self._due += self._period

    def restart(self) -> None:
        """Drop the lag without counting it: the next step is due at once, as after a pause."""
        self._due = None
        self.lag_s = 0.0

    def excuse(self, now: float) -> None:
        """Drop a lag beyond `catch_up_s` without counting it, as after a wait for commands."""
        if self._due is not None and now - self._due > self.catch_up_s:
            self.restart()
