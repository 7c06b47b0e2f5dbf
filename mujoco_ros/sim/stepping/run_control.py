"""Run control: play, pause, stop, single steps, and reset."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from mujoco_ros.sim.simulation import Simulation


class RunState(Enum):
    """State of the simulation."""

    STOPPED = auto()
    """Paused in the initial state of the scene."""
    PAUSED = auto()
    """Paused in any other state."""
    PLAYING = auto()
    """Running in real time, or taking requested steps."""


class RunError(RuntimeError):
    """The request is not possible in the current run state."""


@dataclass(eq=False, slots=True)
class Steps:
    """A request for a number of steps; the physics thread counts them, any thread may read them."""

    count: int
    # Called in the physics thread after the last step, with the reason for an early end; empty if
    # all steps were taken
    on_end: Callable[[str], object]
    on_step: Callable[[], object] | None = None  # called in the physics thread after each step
    completed: int = 0  # number of steps taken so far

    @property
    def remaining(self) -> int:
        """Number of steps still to be taken."""
        return self.count - self.completed


class RunControl:
    """Decides whether the simulation runs.

    Belongs to the physics thread, except `state` and `stepping`, which any thread may read.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._stopped = False
        self._steps: Steps | None = None
        self._divergences = 0

    @property
    def state(self) -> RunState:
        """The run state."""
        if not self._simulation.paused:
            return RunState.PLAYING
        return RunState.STOPPED if self._stopped else RunState.PAUSED

    @property
    def stepping(self) -> bool:
        """Whether it takes requested steps, as fast as possible."""
        return self._steps is not None

    def is_last(self) -> bool:
        """Return whether the present step is the last requested one."""
        return self._steps is not None and self._steps.remaining == 1

    def play(self) -> None:
        """Run in real time."""
        self.end_steps("the simulation was played")
        self._stopped = self._simulation.paused = False

    def pause(self) -> None:
        """Pause in the present state."""
        self.end_steps("the simulation was paused")
        self._stopped, self._simulation.paused = False, True

    def leave_start(self) -> None:
        """Pause a stopped simulation, whose state is no longer the initial one."""
        if self.state is RunState.STOPPED:
            self.pause()

    def stop(self, *, time: float | None) -> None:
        """Reset, and pause in the initial state; `time` [s] is to be set, None leaves it."""
        self.pause()
        self.reset(time=time)
        self._stopped = True

    def reset(self, *, time: float | None, state: bool = True) -> None:
        """Return to the initial state of the scene; a playing simulation continues from there.

        `time` [s] is to be set, None leaves it. If only the time is reset, goals, trajectories,
        streams and external wrenches end, and references are kept.
        """
        self.end_steps("the simulation was reset")
        simulation = self._simulation
        before = float(simulation.data.time)
        if state:
            simulation.reset(time=before if time is None else time)
        elif time is not None:
            simulation.release_commands()
            simulation.set_time(time)
            simulation.emit(simulation.plant.reset_event(before, state=False))

    def take_steps(self, steps: Steps) -> None:
        """Take steps as fast as possible, and pause again.

        Raises:
            RunError: The simulation is not paused.
        """
        if self.state is not RunState.PAUSED:
            present = "takes steps already" if self.stepping else f"is {self.state.name.lower()}"
            raise RunError(f"only a paused simulation takes steps, and it {present}")
        if not steps.remaining:
            steps.on_end("")
            return
        self._steps = steps
        self._divergences = self._simulation.divergences
        self._simulation.paused = False

    def count_step(self) -> None:
        """Count a requested step, and end the request after its last one."""
        steps = self._steps
        if steps is None:
            return
        simulation = self._simulation
        if simulation.paused and simulation.is_at_end_of_time:
            self.end_steps("the simulated time is at the end of ROS time, 2^31 s")
            return
        steps.completed += 1
        if steps.on_step is not None:
            steps.on_step()
        if simulation.divergences != self._divergences:
            self.end_steps("the simulation diverged")
        elif not steps.remaining:
            self.end_steps("")
        elif simulation.paused:  # by an extension that failed, or at the end of a log
            self.end_steps("the simulation was paused")

    def end_steps(self, reason: str, only: Steps | None = None) -> None:
        """End the request for steps, or `only` this one, for a reason; and pause again."""
        steps = self._steps
        if steps is None or (only is not None and steps is not only):
            return
        self._steps = None
        self._simulation.paused = True
        steps.on_end(reason)
