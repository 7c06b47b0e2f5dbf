"""Sources of commands that the clock waits for in lockstep."""

import logging
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Literal

from mujoco_ros.sim.command_queue import NANOSECOND

_LOG = logging.getLogger(__name__)

Command = Callable[[float], None]
"""Called with the simulated time of the first step on which a command acts [s]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceConfig:
    """A source of commands, which must respond to each of its ticks."""

    topic: str  # topic of its commands
    robot: str  # name of the robot that it commands
    rate: float  # ticks per simulated second [Hz]; the period is rounded to whole steps
    # Whether it is a controller_manager of ros2_control, whose period is rounded up
    manager: bool = False


@dataclass(slots=True)
class SourceStatus:
    """Counters of one source."""

    ticks: int = 0  # number of ticks
    missed: int = 0  # ticks that proceeded without its command
    late: int = 0  # commands that arrived after their tick had proceeded without them
    surplus: int = 0  # commands for a tick that already had one, or that had ended
    silent: bool = False  # whether its last tick ran into the timeout


class Source:
    """A source that responds to each of its ticks with one command, matched by its stamp."""

    takes_past = False
    """Whether commands from before a reset count, too."""

    def __init__(self, config: SourceConfig) -> None:
        self.config = config
        self.every = 1  # steps from one tick to the next
        self.awaited = False  # whether the clock waits for it
        self.answer: Command | None = None  # its command for the present tick, until it acts
        self.status = SourceStatus()
        self.time = 0.0  # time of its last tick [s]
        self._timestep = 0.0
        self._tick: int | None = None  # the last one, in steps since time zero
        self._answered = True
        self._early: tuple[int, Command] | None = None  # a command for a later tick

    @property
    def present(self) -> bool:
        """Whether its commands are counted already."""
        return True

    @property
    def expected(self) -> bool:
        """Whether a response is missing."""
        return self.awaited

    @property
    def asleep(self) -> bool:
        """Whether it may have missed the clock message of its tick."""
        return False

    @property
    def missing(self) -> str:
        """Whose command is missing, for the log."""
        return f"'{self.config.topic}'"

    def measure(self, timestep: float) -> None:
        """Set the simulated time of a step [s]."""
        self._timestep = timestep
        self.every = max(1, round(1.0 / (self.config.rate * timestep)))

    def is_due(self, step: int, _time: float) -> bool:
        """Return whether a sample is a tick."""
        return step % self.every == 0

    def start_tick(self, step: int, time: float) -> None:
        """Start a tick; a command that arrived early answers it."""
        self._tick, self.time = step, time
        self._answered, self.awaited = False, True
        self.status.ticks += 1
        early, self._early = self._early, None
        if early is not None and early[0] == step:
            self._answer(early[1], time + self._timestep)

    def take(self, stamp: int, _component: Hashable, command: Command, now: float) -> str:
        """Answer a tick with a command; return why it cannot, empty if it does.

        The stamp is in ns of simulated time, 0 is none. `now` is the time of the first step on
        which the command acts, if it acts at once [s].
        """
        problem = self._match(stamp, command, now)
        self.status.surplus += bool(problem)
        return problem

    def _match(self, stamp: int, command: Command, now: float) -> str:
        given = f"stamped {stamp * NANOSECOND:.6f} s" if stamp else "without a stamp"
        last = self._tick
        if last is None:
            return f"dropped a command {given}: there has been no tick yet"
        tick = last + self._ahead(stamp) if stamp else last
        at = f"the tick of {self.time:.6f} s"
        if tick < last:
            return f"dropped a command {given}, before {at}; stamp commands as their joint_states"
        if tick > last + self.every:
            return f"dropped a command {given}, ahead of {at}; stamp commands as their joint_states"
        if tick > last and self._early is None:
            self._early = (tick, command)
        elif tick == last and not self._answered:
            self._answer(command, now)
        else:
            return f"dropped a command {given}: its tick already has one; send one for each"
        return ""

    def settle(self, _now: float) -> None:
        """Act on wall time that has passed while the clock waits [s]."""

    def proceed(self, *, always: bool) -> bool:
        """Let the clock proceed without its command if the policy asks for it; return whether."""
        if always:
            self.status.missed += self.awaited
            self.awaited = False
        return not self.awaited

    def forget(self, _time: float) -> None:
        """Wait for it no more until the next tick, after a reset to a time [s]."""
        self._tick, self._early, self.answer = None, None, None
        self._answered, self.awaited = True, False

    def act(self, now: float) -> None:
        """Run its command of the tick; `now` is the time of the step on which it acts first [s]."""
        answer, self.answer = self.answer, None
        if answer is not None:
            try:
                answer(now)
            except Exception:
                _LOG.exception("lockstep: a command on '%s' failed", self.config.topic)

    def depart(self) -> None:
        """Handle that nothing publishes its commands any more."""

    def _ahead(self, stamp: int) -> int:
        """Return the steps from the last tick to the first one at or after a stamp."""
        ahead = (stamp - 1) * NANOSECOND - self.time  # stamps are rounded
        return math.ceil(ahead / (self.every * self._timestep)) * self.every

    def _answer(self, command: Command, now: float) -> None:
        is_late, self._answered, self.awaited = not self.awaited, True, False
        self.status.late += is_late
        self._end_silence()
        if is_late:
            command(now)
        else:
            self.answer = command

    def _end_silence(self) -> None:
        if self.status.silent:
            self.status.silent = False
            _LOG.info("lockstep: '%s' answers again", self.config.topic)


_NANOSECONDS = 1e9
_SETTLED_S = 0.2  # wall time without a command after which the manager is taken to sleep
_OUTDATED = 100  # ticks in a row with old stamps only, after which it joins again
_ROUNDING = 1e-6


def whole_steps(rate: float, timestep: float) -> int:
    """Return the steps of `timestep` [s] after which a manager of some rate [Hz] wakes."""
    return max(1, math.ceil(1.0 / (rate * timestep) - _ROUNDING))


class ManagerSource(Source):
    """A controller_manager, which answers a tick with one command of each hardware component.

    In simulated time its loop sleeps until /clock reaches the time of its last cycle and a period.
    While the clock stands at a tick, it does one cycle, in which each of its components publishes
    once. So commands are counted. They are not matched by their stamps: each component reads the
    time from a subscription of its own, which may be a message behind the loop.

    Before its first command the clock does not wait, because a controller_manager needs a running
    clock to start. Then the clock stands, at each tick, until no command has come for a while. If
    one is stamped with this very tick, the loop sleeps since then, and counting begins: the next
    tick is a period later. All that published are its components.

    It joins again if a component is new, if one publishes twice in a tick or after its tick has
    proceeded, or if all stamps stay behind.
    """

    takes_past = True

    def __init__(self, config: SourceConfig) -> None:
        super().__init__(config)
        self._phase: Literal["absent", "joining", "running"] = "absent"
        self._components: dict[Hashable, bool] = {}  # whether it has answered the tick
        self._outdated = 0  # ticks in a row with old stamps only
        self._most_outdated = _OUTDATED
        self._current = False  # whether a command of this tick has its stamp
        self._stamp = 0  # of the tick [ns]
        self._exact = False  # while joining: whether a command was stamped with the tick
        self._received = False  # while joining: whether a command came since the last `settle`
        self._quiet_since = 0.0
        self._skipped = False  # whether the tick before had no complete answer

    @property
    def present(self) -> bool:
        """Whether its commands are counted already."""
        return self._phase == "running"

    @property
    def expected(self) -> bool:
        """Whether a response is missing."""
        return self.awaited and self._phase == "running"

    @property
    def asleep(self) -> bool:
        """Whether no component has answered: its loop may have missed the clock message."""
        return self.expected and not any(self._components.values())

    @property
    def missing(self) -> str:
        """The components whose command is missing, for the log."""
        silent = [name for name, answered in self._components.items() if not answered]
        if len(silent) == len(self._components):
            return super().missing
        components = "; ".join(_listed(names) for names in silent)
        return f"{super().missing} from the component of {components}"

    def measure(self, timestep: float) -> None:
        """Set the simulated time of a step [s]."""
        changed, self._timestep = timestep != self._timestep, timestep
        # The manager wakes at the first clock message after its period.
        self.every = whole_steps(self.config.rate, timestep)
        if changed and self._phase == "running":
            self._join()

    def is_due(self, step: int, time: float) -> bool:
        """Return whether a sample is a tick."""
        if self._phase == "running":
            return time - self.time > (self.every - 0.5) * self._timestep
        return self._phase == "joining" or step % self.every == 0

    def start_tick(self, step: int, time: float) -> None:
        """Start a tick, for which the clock waits unless there is no manager."""
        self._tick, self.time = step, time
        self._stamp = round(time * _NANOSECONDS)
        if self._phase == "running":
            self.status.ticks += 1
            self._outdated = 0 if self._current else self._outdated + 1
            self._current = False
            for component in self._components:
                self._components[component] = False
        elif self._phase == "joining":
            self._components.clear()
            self._exact, self._received = False, True
        self.awaited = self._phase != "absent"

    def take(self, stamp: int, component: Hashable, command: Command, now: float) -> str:
        """Take a command of a component, which acts at once: the clock stands at its tick."""
        if self._phase == "absent":
            self._join()
        elif self._phase == "joining":
            self._receive(stamp, component)
        elif component not in self._components:
            self._join()
            self._receive(stamp, component)
        elif self._components[component]:
            self.status.surplus += 1
            self._join()
            self._receive(stamp, component)
        else:
            self._count(stamp, component)
        command(now)
        return ""

    def settle(self, now: float) -> None:
        """End a wait for further commands after wall time without one."""
        if self._phase != "joining" or not self.awaited:
            return
        if self._received:
            self._received, self._quiet_since = False, now
        elif now - self._quiet_since >= _SETTLED_S:
            self.awaited = False
            if self._exact:
                self._run()

    def proceed(self, *, always: bool) -> bool:
        """Let the clock proceed without the missing commands; return whether it does.

        Also if it is to wait for every command, one tick may go without: a controller_manager
        skips a component, or a cycle, while its hardware is being changed. It sleeps then, and
        only the next tick wakes it.
        """
        if self.expected and (always or not self._skipped):
            self._skipped = True
            self.status.missed += 1
            self.awaited = False
        return not self.awaited

    def forget(self, time: float) -> None:
        """Wait for it no more if the time was set back: it sleeps until the former time."""
        if self._phase != "absent" and time < self.time - 0.5 * self._timestep:
            self._leave("the time was set back, and it sleeps until the former time")

    def depart(self) -> None:
        """Wait no more for a manager that has ended."""
        if self._phase != "absent":
            self._leave("it has ended")

    def _count(self, stamp: int, component: Hashable) -> None:
        """Count the first command of a component in a tick."""
        self._components[component] = True
        self._current |= not stamp or stamp >= self._stamp
        if not self.awaited:
            self.status.late += 1
            self._join()
        elif self._outdated >= self._most_outdated:
            self._most_outdated *= 2  # where the loop is always quicker than its components' clocks
            self._join()
            self._receive(stamp, component)
        elif all(self._components.values()):
            self.awaited = self._skipped = False
            self._end_silence()

    def _join(self) -> None:
        """Begin to wait until the manager sleeps, at this tick or at the next one."""
        self._phase = "joining"
        self._components.clear()
        self._exact, self._received = False, True

    def _receive(self, stamp: int, component: Hashable) -> None:
        self._received = True
        self._components[component] = True
        self._exact |= self.awaited and stamp == self._stamp

    def _run(self) -> None:
        self._phase, self._skipped = "running", False
        self._outdated, self._current = 0, True
        self._end_silence()
        count = len(self._components)
        _LOG.info(
            "lockstep: from %.6f s on the clock waits for %s, with %d component%s",
            *(self.time, super().missing, count, "s" * (count != 1)),
        )

    def _leave(self, reason: str) -> None:
        self._phase, self.awaited = "absent", False
        self._components.clear()
        self._end_silence()
        _LOG.info("lockstep: the clock does not wait for %s: %s", super().missing, reason)


def _listed(names: Hashable) -> str:
    return ", ".join(names) if isinstance(names, tuple) else str(names)
