"""Lockstep: at every tick, the clock waits for the commands of its sources."""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from mujoco_ros.sim.clock_epochs import NANOSECOND
from mujoco_ros.sim.simulation import Simulation

_LOG = logging.getLogger(__name__)
_CHECK_S = 0.05
"""Wall time between two checks for new subscriptions while the clock waits."""

Policy = Literal["wait", "proceed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceConfig:
    """A source of commands, which must respond to each of its ticks.

    Attributes:
        topic: Topic of its commands.
        robot: Name of the robot that it commands.
        rate: Ticks per simulated second [Hz]; the period is rounded to whole steps.
    """

    topic: str
    robot: str
    rate: float


@dataclass(frozen=True, kw_only=True, slots=True)
class LockstepConfig:
    """Configuration of the lockstep.

    Attributes:
        sources: Sources that the clock waits for; without any there is no lockstep.
        timeout_s: Wall time after which a missing command is logged.
        policy: Whether to keep waiting then, or to proceed without the command.
    """

    sources: tuple[SourceConfig, ...] = ()
    timeout_s: float = 1.0
    policy: Policy = "wait"


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


@dataclass(slots=True)
class _Source:
    """A source and its state; ticks are counted in steps since time zero."""

    config: SourceConfig
    every: int = 1
    tick: int | None = None  # the last one
    time: float = 0.0  # of that tick [s]
    answered: bool = True
    awaited: bool = False
    early: tuple[int, Callable[[float], None]] | None = None  # a command for a later tick
    status: SourceStatus = field(default_factory=SourceStatus)


class Lockstep:
    """Holds the clock at each tick until every source of the tick has answered.

    A tick is a sample whose time is a multiple of the period of a source. The sample is published,
    the clock stops, and the command that answers it acts from the very next step on, however long
    it took. A stamped command answers the first tick at or after its stamp, one without a stamp the
    last tick. One command answers a tick; others for it are dropped and counted.

    Belongs to the physics thread.
    """

    def __init__(self, simulation: Simulation) -> None:
        """Start without sources; a reset of `simulation` calls `forget`."""
        simulation.on_reset.append(self.forget)
        self._simulation = simulation
        self._config = LockstepConfig()
        self._sources: dict[str, _Source] = {}
        self._timestep = float(simulation.model.opt.timestep)
        self._robots: frozenset[str] = frozenset()
        self._awaiting = False
        self._waited = 0.0
        self._asked: float | None = None

    @property
    def robots(self) -> frozenset[str]:
        """Return the robots that the sources command."""
        return self._robots

    @property
    def waiting(self) -> bool:
        """Return whether the clock waits for a command."""
        return self._awaiting

    @property
    def awaited(self) -> tuple[str, ...]:
        """Return the topics whose command is missing."""
        return tuple(topic for topic, source in self._sources.items() if source.awaited)

    @property
    def status(self) -> dict[str, SourceStatus]:
        """Return the counters of the sources, by topic."""
        return {topic: source.status for topic, source in self._sources.items()}

    def configure(self, config: LockstepConfig) -> None:
        """Set the configuration; sources that remain keep their counters."""
        known, self._config = self._sources, config
        self._sources = {
            source.topic: known[source.topic]
            if source.topic in known and known[source.topic].config == source
            else _Source(source)
            for source in config.sources
        }
        self._robots = frozenset(source.robot for source in config.sources)
        self._measure()
        self._awaiting = bool(self.awaited)

    def forget(self) -> None:
        """Wait for no source until the next tick: a reset makes the published samples void."""
        for source in self._sources.values():
            source.tick, source.early = None, None
            source.answered, source.awaited = True, False
        self._awaiting = False

    def begin(self) -> frozenset[str]:
        """Start the ticks of a new sample; return the robots that have one."""
        if not self._sources:
            return self._robots
        simulation = self._simulation
        if simulation.model.opt.timestep != self._timestep:
            self._measure()
        step = simulation.step_number
        ticking = [source for source in self._sources.values() if step % source.every == 0]
        if not ticking:
            return frozenset()
        for source in ticking:
            self._tick(source, step)
        self._awaiting = bool(self.awaited)
        self._waited, self._asked = 0.0, None
        return frozenset(source.config.robot for source in ticking)

    def take(self, topic: str, stamp: int, command: Callable[[float], None]) -> str:
        """Accept a command, and run it at its tick.

        Args:
            topic: The topic of the command.
            stamp: Its stamp [ns of simulated time]; 0 is none.
            command: Called with the simulated time of the first step on which it acts [s].

        Returns:
            Why it is dropped; empty if it is not.
        """
        source = self._sources.get(topic)
        if source is None:
            command(float(self._simulation.data.time))
            return ""
        problem = self._answer_tick(source, stamp, command)
        source.status.surplus += bool(problem)
        return problem

    def wait(self, now: float) -> float:
        """Return how long to wait before the next check [s]; 0 lets the next step begin."""
        if not self._awaiting:
            return 0.0
        if self._asked is not None:
            self._waited += min(now - self._asked, 2 * _CHECK_S)  # it is not called during a pause
        self._asked = now
        left = self._config.timeout_s - self._waited
        if left <= 0.0:
            self._log_silence()
            if self._config.policy == "proceed":
                self._proceed()
                return 0.0
            left = _CHECK_S
        return min(left, _CHECK_S)

    def _measure(self) -> None:
        self._timestep = float(self._simulation.model.opt.timestep)
        for source in self._sources.values():
            source.every = max(1, round(1.0 / (source.config.rate * self._timestep)))

    def _tick(self, source: _Source, step: int) -> None:
        """Start a tick; a command that arrived early answers it."""
        source.tick, source.time = step, self._simulation.time
        source.answered, source.awaited = False, True
        source.status.ticks += 1
        early, source.early = source.early, None
        if early is not None and early[0] == step:
            try:
                self._answer(source, early[1])
            except Exception:
                _LOG.exception("lockstep: a command on '%s' failed", source.config.topic)

    def _answer_tick(self, source: _Source, stamp: int, command: Callable[[float], None]) -> str:
        """Answer a tick with a command; return why it cannot, empty if it does."""
        given = f"stamped {stamp * NANOSECOND:.6f} s" if stamp else "without a stamp"
        last = source.tick
        if last is None:
            return f"dropped a command {given}: there has been no tick yet"
        tick = last + self._ahead(source, stamp) if stamp else last
        at = f"the tick of {source.time:.6f} s"
        if tick < last:
            return f"dropped a command {given}, before {at}; stamp commands as their joint_states"
        if tick > last + source.every:
            return f"dropped a command {given}, ahead of {at}; stamp commands as their joint_states"
        if tick > last and source.early is None:
            source.early = (tick, command)
        elif tick == last and not source.answered:
            self._answer(source, command)
        else:
            return f"dropped a command {given}: its tick already has one; send one for each"
        return ""

    def _ahead(self, source: _Source, stamp: int) -> int:
        """Return the steps from the last tick of a source to the first one at or after a stamp."""
        ahead = (stamp - 1) * NANOSECOND - source.time  # stamps are rounded
        return math.ceil(ahead / (source.every * self._timestep)) * source.every

    def _answer(self, source: _Source, command: Callable[[float], None]) -> None:
        source.status.late += not source.awaited
        source.answered, source.awaited = True, False
        self._awaiting = bool(self.awaited)
        if source.status.silent:
            source.status.silent = False
            _LOG.info("lockstep: '%s' answers again", source.config.topic)
        command(float(self._simulation.data.time))

    def _log_silence(self) -> None:
        """Log the sources that do not answer, once each time they stop."""
        policy, timeout = self._config.policy, self._config.timeout_s
        then = "the clock is stopped" if policy == "wait" else "proceeding without it"
        for source in self._sources.values():
            if source.awaited and not source.status.silent:
                source.status.silent = True
                _LOG.warning(
                    "lockstep: no command on '%s' within %g s for the tick of %.6f s; %s",
                    *(source.config.topic, timeout, source.time, then),
                )

    def _proceed(self) -> None:
        for source in self._sources.values():
            source.status.missed += source.awaited
            source.awaited = False
        self._awaiting = False
