"""The physics thread: the only place that reads the wall clock and sleeps."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import mujoco

from mujoco_ros.control.events import Source
from mujoco_ros.sim.histogram import Histogram
from mujoco_ros.sim.pacer import Pacer
from mujoco_ros.sim.scheduling import schedule
from mujoco_ros.sim.simulation import DivergenceError, Simulation

_LOG = logging.getLogger(__name__)
_LONGEST_NAP_S = 0.01
_OVERLOAD_S = 0.2
"""Time dropped between two reports from which on the machine counts as too slow."""


@dataclass(frozen=True, kw_only=True)
class Status:
    """How the simulation kept time since the last status was taken; durations in wall seconds.

    Attributes:
        sim_time: Simulated time of the last sample [s].
        factor: Real-time factor asked for; 0 is as fast as possible.
        achieved_factor: Simulated over wall time since the last status.
        steps: Steps since the last status.
        late_steps: Steps that began a whole period or more late, since the start.
        lag: How late the last step began.
        dropped: Wall time given up, since the start.
        period: Time between the beginnings of two steps, percentiles 50, 99, 99.9.
        step_cost: Time one step took with all that is published, percentiles 50, 99, 99.9.
        warnings: Engine warnings since the last reset: name to count.
        saturated: Steps in which a joint's torque was at its limit, since the start.
        holders: Of each robot, who commands which joints.
    """

    sim_time: float
    paused: bool
    factor: float
    achieved_factor: float
    steps: int
    late_steps: int
    lag: float
    dropped: float
    period: tuple[float, ...]
    step_cost: tuple[float, ...]
    divergences: int
    contacts: int
    constraints: int
    warnings: dict[str, int]
    saturated: dict[str, int]
    holders: dict[str, dict[Source, tuple[str, ...]]]


class PhysicsThread:
    """Runs a simulation in real time and hands every sample on."""

    def __init__(
        self,
        simulation: Simulation,
        pacer: Pacer,
        publish: Callable[[], None],
        *,
        priority: int = 0,
        on_end: Callable[[BaseException | None], None] = lambda _error: None,
    ) -> None:
        """Prepare the thread.

        Args:
            simulation: What to step; from `start` on it belongs to this thread.
            pacer: When to step; belongs to this thread as well.
            publish: Called after each step whose `Simulation.sample` is good.
            priority: Real-time priority to ask the system for; 0 for none.
            on_end: Called in this thread when it ends, with what ended it.
        """
        self._simulation = simulation
        self._pacer = pacer
        self._publish = publish
        self._priority = priority
        self._scheduled = 0
        self._give_up_at = _OVERLOAD_S
        self._on_end = on_end
        self._ending = False
        self._period = Histogram()
        self._cost = Histogram()
        self._steps = 0
        self._since = 0.0
        self._thread = threading.Thread(target=self._run, name="physics", daemon=True)

    def start(self) -> None:
        """Start stepping."""
        self._thread.start()

    def stop(self, timeout_s: float = 1.0) -> None:
        """End the thread, if it was started, and wait for it."""
        self._ending = True
        if self._thread.ident is not None:
            self._thread.join(timeout_s)

    def status(self) -> Status:
        """Return the figures since the last call. Run this in the physics thread, as a command."""
        simulation, pacer, now = self._simulation, self._pacer, time.perf_counter()
        elapsed = now - self._since
        # Counted in steps: a reset may set the simulated time back.
        simulated = self._steps * simulation.model.opt.timestep
        warnings = {
            kind.name.removeprefix("mjWARN_"): int(simulation.data.warning[kind].number)
            for kind in mujoco.mjtWarning.__members__.values()
            if kind != mujoco.mjtWarning.mjNWARNING
        }
        status = Status(
            sim_time=simulation.time,
            paused=simulation.paused,
            factor=pacer.factor,
            achieved_factor=simulated / elapsed if elapsed else 0.0,
            steps=self._steps,
            late_steps=pacer.late_steps,
            lag=pacer.lag_s,
            dropped=pacer.dropped_s,
            period=self._period.percentiles(50, 99, 99.9),
            step_cost=self._cost.percentiles(50, 99, 99.9),
            divergences=simulation.divergences,
            contacts=int(simulation.data.ncon),
            constraints=int(simulation.data.nefc),
            warnings={name: count for name, count in warnings.items() if count},
            saturated=simulation.saturation.steps(),
            holders={
                robot.name: control.holders()
                for robot, control in zip(
                    simulation.layout.robots, simulation.controls, strict=True
                )
            },
        )
        self._period.clear()
        self._cost.clear()
        self._steps = 0
        self._since = now
        self._give_up_at = pacer.dropped_s + _OVERLOAD_S
        return status

    def reschedule(self) -> None:
        """Take the real-time priority, or leave it for a run that would never yield the processor.

        Run this in the physics thread, as a command, after the real-time factor has changed.
        """
        self._give_up_at = self._pacer.dropped_s + _OVERLOAD_S
        self._schedule(self._priority if self._pacer.factor else 0)

    def _schedule(self, priority: int) -> None:
        if priority == self._scheduled:
            return
        if schedule(priority):
            self._scheduled = priority
        else:
            _LOG.info(
                "the system permits no real-time priority (an 'rtprio' limit would); steps may be "
                "late while other programs are busy"
            )

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            self._loop()
        except (DivergenceError, mujoco.FatalError) as ended:
            error = ended
        except BaseException as ended:
            error = ended
            raise
        finally:
            self._simulation.commands.close()
            self._on_end(error)

    def _loop(self) -> None:
        simulation, pacer, publish = self._simulation, self._pacer, self._publish
        drain, step, clock = simulation.commands.drain, simulation.step, time.perf_counter
        period, cost = self._period.add, self._cost.add
        self.reschedule()
        last = clock()
        self._since = last
        while not self._ending:
            drain()
            if simulation.paused:
                time.sleep(_LONGEST_NAP_S)
                pacer.restart()
                last = clock()
                continue
            now = clock()
            nap = pacer.wait(now)
            if nap > 0.0:
                time.sleep(min(nap, _LONGEST_NAP_S))
                continue
            pacer.started(now)
            if pacer.dropped_s > self._give_up_at and self._scheduled:
                _LOG.warning("too slow for real time: giving up the real-time priority")
                self._schedule(0)
            period(now - last)
            last = now
            if step():
                publish()
            self._steps += 1
            cost(clock() - now)
