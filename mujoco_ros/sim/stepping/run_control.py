"""Whether the simulation runs: played, paused, stopped, advanced by so many steps, and reset."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from mujoco_ros.sim.simulation import Simulation


class RunState(Enum):
    """What the simulation does."""

    STOPPED = auto()
    """It stands at the start of the scene."""
    PAUSED = auto()
    """It stands."""
    PLAYING = auto()
    """It goes on by itself, or takes steps it was asked for."""


class RunError(RuntimeError):
    """What was asked is not possible in the present state."""


@dataclass(eq=False, slots=True)
class Steps:
    """Steps to take; counted by the physics thread, and any thread may read how far it is.

    Attributes:
        count: How many.
        on_end: Called in the physics thread after the last one, with why it was the last; empty if
            all were taken.
        on_step: Called in the physics thread after each.
        completed: How many were taken.
    """

    count: int
    on_end: Callable[[str], object]
    on_step: Callable[[], object] | None = None
    completed: int = 0

    @property
    def remaining(self) -> int:
        """How many are still to be taken."""
        return self.count - self.completed


class RunControl:
    """Decides whether the simulation runs.

    All of it is for the physics thread, but `state` and `stepping`, which any thread may read.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._stopped = False
        self._steps: Steps | None = None
        self._divergences = 0

    @property
    def state(self) -> RunState:
        """What the simulation does."""
        if not self._simulation.paused:
            return RunState.PLAYING
        return RunState.STOPPED if self._stopped else RunState.PAUSED

    @property
    def stepping(self) -> bool:
        """Whether it takes steps it was asked for, as fast as possible."""
        return self._steps is not None

    def is_last(self) -> bool:
        """Return whether the present step is the last of those it was asked for."""
        return self._steps is not None and self._steps.remaining == 1

    def play(self) -> None:
        """Go on."""
        self.end_steps("the simulation was played")
        self._stopped = self._simulation.paused = False

    def pause(self) -> None:
        """Stand still at the present state."""
        self.end_steps("the simulation was paused")
        self._stopped, self._simulation.paused = False, True

    def stop(self, *, time: float | None) -> None:
        """Stand still at the start of the scene.

        Args:
            time: Simulated time to set [s]; None to leave it.
        """
        self.pause()
        self.reset(time=time)
        self._stopped = True

    def reset(self, *, time: float | None, state: bool = True) -> None:
        """Return to the start of the scene, and go on if it goes on.

        Args:
            time: Simulated time to set [s]; None to leave it.
            state: Whether to reset everything but the time as well. What goes by the time ends
                otherwise too: goals, trajectories, streams and external wrenches; references stay
                where they are.
        """
        self.end_steps("the simulation was reset")
        simulation = self._simulation
        before = float(simulation.data.time)
        if state:
            simulation.reset(time=before if time is None else time)
        elif time is not None:
            simulation.release_commands()
            simulation.set_time(time)
            simulation.emit(simulation.reset_event(before, state=False))

    def take(self, steps: Steps) -> None:
        """Take steps as fast as possible, and pause again.

        Raises:
            RunError: The simulation is not paused.
        """
        if self.state is not RunState.PAUSED:
            what = "takes steps already" if self.stepping else f"is {self.state.name.lower()}"
            raise RunError(f"only a paused simulation takes steps, and it {what}")
        if not steps.remaining:
            steps.on_end("")
            return
        self._steps = steps
        self._divergences = self._simulation.divergences
        self._simulation.paused = False

    def stepped(self) -> None:
        """Note that one of the steps was taken."""
        steps = self._steps
        if steps is None:
            return
        steps.completed += 1
        if steps.on_step is not None:
            steps.on_step()
        if self._simulation.divergences != self._divergences:
            self.end_steps("the simulation diverged")
        elif not steps.remaining:
            self.end_steps("")

    def end_steps(self, reason: str, only: Steps | None = None) -> None:
        """Take no more steps, and pause again.

        Args:
            reason: Why.
            only: Do nothing if other steps than these are being taken.
        """
        steps = self._steps
        if steps is None or (only is not None and steps is not only):
            return
        self._steps = None
        self._simulation.paused = True
        steps.on_end(reason)
