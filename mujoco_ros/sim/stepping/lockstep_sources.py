"""Sources of commands that the clock waits for in lockstep."""

import logging
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from mujoco_ros.sim.clock_epochs import NANOSECOND

_LOG = logging.getLogger(__name__)

Command = Callable[[float], None]
"""Called with the simulated time of the first step on which a command acts [s]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceConfig:
    """A source of commands, which must respond to each of its ticks.

    Attributes:
        topic: Topic of its commands.
        robot: Name of the robot that it commands.
        rate: Ticks per simulated second [Hz]; the period is rounded to whole steps.
        manager: Whether it is a controller_manager of ros2_control, whose period is rounded up.
    """

    topic: str
    robot: str
    rate: float
    manager: bool = False


@dataclass(slots=True)
class SourceStatus:
    """Counters of one source.

    Attributes:
        ticks: Number of ticks.
        missed: Ticks that proceeded without its command.
        late: Commands that arrived after their tick had proceeded without them.
        surplus: Commands for a tick that already had one, or that had ended.
        silent: Whether its last tick ran into the timeout.
    """

    ticks: int = 0
    missed: int = 0
    late: int = 0
    surplus: int = 0
    silent: bool = False


class Source:
    """A source that responds to each of its ticks with one command, matched by its stamp.

    Attributes:
        config: Its configuration.
        every: Steps from one tick to the next.
        awaited: Whether the clock waits for it.
        answer: Its command for the present tick, until it acts.
        status: Its counters.
        time: Time of its last tick [s].
    """

    takes_past = False
    """Whether commands from before a reset count, too."""

    def __init__(self, config: SourceConfig) -> None:
        """Start without a tick."""
        self.config = config
        self.every = 1
        self.awaited = False
        self.answer: Command | None = None
        self.status = SourceStatus()
        self.time = 0.0
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

        Args:
            stamp: Its stamp [ns of simulated time]; 0 is none.
            command: Called when it acts.
            now: Time of the first step on which it acts, if it acts at once [s].
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
