"""Lockstep: at every tick, the clock waits for the commands of its sources."""

import logging
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from mujoco_ros.native.plan import MANY
from mujoco_ros.sim.command_queue import NANOSECOND
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep_sources import (
    Command,
    ManagerSource,
    Source,
    SourceConfig,
    SourceStatus,
)

_LOG = logging.getLogger(__name__)
_CHECK_S = 0.05  # wall time between two checks for new subscriptions while the clock waits
_NUDGE_S = 0.25
"""Wall time of silence after which a controller_manager may have missed the clock, each time."""

_SETTLE_S = 0.0005
"""Wall time between two checks whether all that arrived before an answer has become a command."""
_REPEAT_S = 1.0
"""Wall time without an answer after which the first tick after a reset is published again."""
_LONGEST_HOLD_S = 1.0
"""Longest period of a source between whose ticks commands wait, in simulated time."""
_FARTHEST_S = 60.0
"""How far ahead a stamp of a tick is at most: a stamp of the wall clock is decades ahead."""
_MOST_IDLE = 16
"""Steps after which messages that wait for a tick are collected, before their queues are full."""
_MOST_AHEAD = 1024  # commands that wait for later ticks

Policy = Literal["wait", "proceed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LockstepConfig:
    """Configuration of the lockstep."""

    # Sources that the clock waits for; without any there is no lockstep
    sources: tuple[SourceConfig, ...] = ()
    timeout_s: float = 1.0  # wall time after which a missing command is logged
    policy: Policy = "wait"  # whether to keep waiting then, or to proceed without the command


class Lockstep:
    """Holds the clock at each tick until every source of the tick has answered.

    A tick is a sample whose time is a multiple of the period of a source. The sample is published,
    the clock stops, and the command that answers it acts from the very next step on, however long
    it took. A stamped command answers the first tick at or after its stamp, one without a stamp the
    last tick. One command answers a tick; others for it are dropped and counted. The ticks of a
    controller_manager and its commands are different: see `ManagerSource`.

    All other commands act at ticks, too: `CommandQueue.held` keeps them in between. The answers of
    a tick act when all sources have answered and all that arrived before has become a command,
    after these commands and in the order of the sources. So what acts, and in which order, does not
    depend on the threads that receive it.

    Belongs to the physics thread. A reset of the simulation calls `forget`.
    """

    def __init__(self, simulation: Simulation) -> None:
        simulation.on_reset.append(self.forget)
        self._simulation = simulation
        self._config = LockstepConfig()
        self._sources: dict[str, Source] = {}
        self._timestep = float(simulation.model.opt.timestep)
        self.robots: frozenset[str] = frozenset()
        """Robots that the sources command."""
        self.waiting = False
        """Whether the clock waits for a command."""
        self._waited = 0.0
        self._asked: float | None = None
        self._nudges = 0  # in this tick
        self._is_first = False  # whether this tick is the first one after a reset
        self._repeat_s = _REPEAT_S
        self._before = -math.inf  # time of the tick before this one [s]
        self._ahead: list[tuple[int, Command]] = []  # commands for later ticks, with their stamps
        self._noted: set[str] = set()  # topics with late commands
        self.late = 0
        """Commands of topics that are no sources, whose tick was over when they arrived."""
        self.set_back = 0
        """How often the clock was set back for a silent controller_manager."""
        self.clock_every = 0
        """Steps between two messages of the clock; 0 is no restriction."""
        self.settled: Callable[[], bool] | None = None
        """Whether all that arrived before the answers has become a command; None if always."""
        self.on_join: Callable[[str], object] = bool
        """Called with the topic of a controller_manager that begins to answer."""

    @property
    def stepped(self) -> frozenset[str]:
        """Robots whose client answers ticks: it has noticed a reset when it answers."""
        sources = (source.config for source in self._sources.values())
        return frozenset(source.robot for source in sources if not source.manager)

    @property
    def awaited(self) -> tuple[str, ...]:
        """Topics whose command is missing."""
        return tuple(topic for topic, source in self._sources.items() if source.awaited)

    @property
    def counted(self) -> tuple[str, ...]:
        """Topics of the controller_managers whose command is missing."""
        return tuple(
            topic
            for topic, source in self._sources.items()
            if source.config.manager and source.awaited
        )

    @property
    def status(self) -> dict[str, SourceStatus]:
        """Counters of the sources, by topic."""
        return {topic: source.status for topic, source in self._sources.items()}

    def period(self, topic: str) -> float:
        """Return the simulated time between the ticks of a source [s]; 0 if it is none."""
        source = self._sources.get(topic)
        return 0.0 if source is None else 1.0 / source.config.rate

    def configure(self, config: LockstepConfig) -> None:
        """Set the configuration; sources that remain keep their counters."""
        known, self._config = self._sources, config
        self._sources = {
            source.topic: known[source.topic]
            if source.topic in known and known[source.topic].config == source
            else (ManagerSource if source.manager else Source)(source)
            for source in config.sources
        }
        self.robots = frozenset(source.robot for source in config.sources)
        self._measure()
        self._simulation.commands.held = False  # until the next step
        if not self._sources:
            self._submit_due(math.inf)
        self._look()

    def forget(self) -> None:
        """Wait for no source until the next tick: a reset makes the published samples void.

        A controller_manager still answers its tick, unless the time was set back.
        """
        for source in self._sources.values():
            source.forget(float(self._simulation.data.time))
        self._ahead.clear()
        self._is_first, self._repeat_s, self._before = True, _REPEAT_S, -math.inf
        self._simulation.commands.held = False
        self._look()

    def depart(self, topic: str) -> None:
        """Handle that nothing publishes the commands of a topic any more."""
        if topic in self._sources:
            self._sources[topic].depart()
            self._look()

    def begin(self) -> frozenset[str]:
        """Start the ticks of a new sample; return the robots that have one."""
        if not self._sources:
            return self.robots
        simulation = self._simulation
        if simulation.model.opt.timestep != self._timestep:
            self._measure()
        step, time = simulation.step_number, simulation.time
        sources = self._sources.values()
        off = self.clock_every and step % self.clock_every
        ticking = [] if off else [source for source in sources if source.is_due(step, time)]
        if not ticking:
            longest = _LONGEST_HOLD_S / self._timestep
            simulation.commands.held = any(
                source.present and source.every <= longest for source in sources
            )
            return frozenset()
        simulation.commands.held = False
        self._before = min(source.time for source in ticking) if not self._is_first else -math.inf
        for source in ticking:
            source.start_tick(step, time)
        self._submit_due(time)
        if not self._look() and self.settled is None:
            self._act()
        self._waited, self._asked, self._nudges = 0.0, None, 0
        return frozenset(source.config.robot for source in ticking)

    def take(
        self, topic: str, stamp: int, command: Command, component: Hashable = (), past: str = ""
    ) -> str:
        """Run a command at its tick; return why it is dropped, empty if it is not.

        `stamp` is in ns of simulated time, 0 is none. `command` is called with the simulated time
        of the first step on which it acts [s]. `component` distinguishes the components of a
        controller_manager. `past` is why it is from before a reset; empty if it is not.
        """
        source = self._sources.get(topic)
        if past and (source is None or not source.takes_past):
            return past
        now = float(self._simulation.data.time)
        if source is None:
            if not (self._sources and stamp and self._is_ahead(topic, stamp)):
                command(now)
            elif len(self._ahead) < _MOST_AHEAD:
                self._ahead.append((stamp, command))
            else:
                return f"dropped: {_MOST_AHEAD} commands wait for later ticks"
            return ""
        present = source.present
        try:
            return source.take(stamp, component, command, now)
        finally:
            if not self._look() and self.settled is None:
                self._act()
            if not present:
                self.on_join(topic)

    def idle_steps(self) -> int:
        """Return the number of steps before the next tick, between which commands wait.

        0 if some may act before, a controller_manager counts the ticks, or the timestep changed.
        """
        if not self._sources:
            return MANY
        simulation = self._simulation
        is_measured = simulation.model.opt.timestep == self._timestep
        if not (simulation.commands.held and is_measured) or self.clock_every:
            return 0
        number = simulation.next_step_number
        steps = min(-number % source.every for source in self._sources.values())
        return min(steps, _MOST_IDLE)

    def wait(self, now: float) -> float:
        """Return how long to wait before the next check [s]; 0 lets the next step begin."""
        if self.waiting:
            for source in self._sources.values():
                source.settle(now)
        if not self._look():
            return self._finish()
        if self._asked is not None:
            self._waited += min(now - self._asked, 2 * _CHECK_S)  # it is not called during a pause
        self._asked = now
        left = self._config.timeout_s - self._waited
        if left <= 0.0:
            self._log_silence()
            for source in self._sources.values():
                source.proceed(always=self._config.policy == "proceed")
            return _CHECK_S if self._look() else self._finish()
        return min(left, _CHECK_S)

    def take_repeat(self) -> bool:
        """Return whether to publish the tick again, as it is the first one after a reset.

        A client that waits for the response to its request, and only then for the tick, may have
        received them in the other order. It would wait forever.
        """
        due = self._is_first and self.waiting and self._waited >= self._repeat_s
        if due:
            self._repeat_s += 2.0 * self._repeat_s
        return due

    def take_nudge(self) -> int:
        """Return a change of the clock [ns] that a silent controller_manager needs; 0 is none.

        It may have missed the clock message, which it does not confirm, or the wake-up: clocks of
        rclcpp notify a thread that is about to sleep without a lock. Only a change of the time
        notifies it again. So the clock is set back by the smallest time, and forth, again and
        again: where a program had no processor for long, the middleware loses several messages.
        Once a component has published, its loop is awake. A loop that is merely slow may read the
        time in between, so the first change is late and the second follows soon.
        """
        pairs, forth = divmod(self._nudges, 2)
        if self._waited < (pairs + 1) * _NUDGE_S + forth * _CHECK_S:
            return 0
        if not forth and not any(source.asleep for source in self._sources.values()):
            return 0
        self._nudges += 1
        self.set_back += not forth
        return 1 if forth else -1

    def _look(self) -> bool:
        """Return whether the clock waits for an answer now."""
        self.waiting = any(source.awaited for source in self._sources.values())
        return self.waiting

    def _finish(self) -> float:
        """Run the answers of the tick, or return how long to wait for what arrived before [s]."""
        if any(source.answer is not None for source in self._sources.values()):
            if self.settled is not None and not self.settled():
                return _SETTLE_S
            self._act()
        return 0.0

    def _act(self) -> None:
        """Run the answers of the tick, in the order of the sources."""
        self._is_first = False
        now = float(self._simulation.data.time)
        for source in self._sources.values():
            source.act(now)

    def _is_ahead(self, topic: str, stamp: int) -> bool:
        """Return whether a command is for a later tick; note one whose tick is over."""
        time = stamp * NANOSECOND
        ahead = time - NANOSECOND - self._simulation.time  # stamps are rounded
        if 0.0 < ahead <= _FARTHEST_S:
            return True
        if time <= self._before + NANOSECOND:
            self.late += 1
            if topic not in self._noted:
                self._noted.add(topic)
                _LOG.warning(
                    "lockstep: a command on '%s' stamped %.6f s acts at %.6f s, as its tick is "
                    "over; send commands before the answer to their tick",
                    *(topic, time, self._simulation.time),
                )
        return False

    def _submit_due(self, time: float) -> None:
        """Submit the commands that were kept for a tick at a time [s], in their order."""
        ahead, self._ahead = self._ahead, []
        now = float(self._simulation.data.time)
        for stamp, command in ahead:
            if (stamp - 1) * NANOSECOND <= time:
                self._simulation.commands.submit(partial(command, now), urgent=True)
            else:
                self._ahead.append((stamp, command))

    def _measure(self) -> None:
        self._timestep = float(self._simulation.model.opt.timestep)
        sources = self._sources.values()
        for source in sources:
            source.measure(self._timestep)
        managed = any(source.config.manager for source in sources)
        self.clock_every = math.gcd(*(source.every for source in sources)) if managed else 0

    def _log_silence(self) -> None:
        """Log the sources that do not answer, once each time they stop."""
        policy, timeout = self._config.policy, self._config.timeout_s
        then = "the clock is stopped" if policy == "wait" else "proceeding without it"
        for source in self._sources.values():
            if source.expected and not source.status.silent:
                source.status.silent = True
                _LOG.warning(
                    "lockstep: no command on %s within %g s for the tick of %.6f s; %s",
                    *(source.missing, timeout, source.time, then),
                )
