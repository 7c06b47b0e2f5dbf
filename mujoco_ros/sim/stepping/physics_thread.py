"""The physics thread: the only place that reads the wall clock and sleeps."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

import mujoco

from mujoco_ros.sim.simulation import DivergenceError, Simulation
from mujoco_ros.sim.stepping.histogram import Histogram
from mujoco_ros.sim.stepping.pacer import Pacer
from mujoco_ros.sim.stepping.run_control import RunControl
from mujoco_ros.sim.stepping.status import Status, control_status, engine_status
from mujoco_ros.sim.stepping.thread_priority import schedule

_LOG = logging.getLogger(__name__)
_LONGEST_NAP_S = 0.01
_LONGEST_PAUSE_S = 0.1
"""Commands end a pause at once; this is for who sets `Simulation.paused` without one."""
_OVERLOAD_S = 0.2
"""Time dropped between two reports from which on the machine counts as too slow."""


class StepGate(Protocol):
    """Holds up steps until something outside has happened."""

    def wait(self, now: float) -> float:
        """Return for how long the next step has to wait at most [s]; 0 lets it begin.

        Asked before every step, and again after every command: what it waits for comes as one.

        Args:
            now: Monotonic wall time [s].
        """


class PhysicsThread:
    """Runs a simulation in real time and hands every sample on.

    Attributes:
        run: Whether it runs; belongs to this thread.
        gates: What holds up steps; change them before `start`, or by a command.
        idle: Called in this thread while it stands, after commands and now and then; set it before
            `start`.
    """

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
        self.run = RunControl(simulation)
        self.run.on_change = self.reschedule
        self.gates: list[StepGate] = []
        self.idle: Callable[[], None] = lambda: None
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
        self._simulation.commands.wake()
        if self._thread.ident is not None:
            self._thread.join(timeout_s)

    def status(self) -> Status:
        """Return the figures since the last call. Run this in the physics thread, as a command."""
        simulation, pacer, now = self._simulation, self._pacer, time.perf_counter()
        elapsed = now - self._since
        # Counted in steps: a reset may set the simulated time back.
        simulated = self._steps * simulation.model.opt.timestep
        status = Status(
            sim_time=simulation.time,
            paused=simulation.paused,
            factor=pacer.factor,
            achieved_factor=simulated / elapsed if elapsed else 0.0,
            elapsed=elapsed,
            steps=self._steps,
            late_steps=pacer.late_steps,
            lag=pacer.lag_s,
            dropped=pacer.dropped_s,
            timestep=float(simulation.model.opt.timestep),
            period=self._period.percentiles(50, 99, 99.9),
            step_cost=self._cost.percentiles(50, 99, 99.9),
            engine=engine_status(simulation),
            control=control_status(simulation, simulated),
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
        yields = self._pacer.factor and not self.run.stepping
        self._schedule(self._priority if yields else 0)

    def _schedule(self, priority: int) -> None:
        if priority == self._scheduled:
            return
        if schedule(priority):
            self._scheduled = priority
        else:
            self._priority = 0  # asked once, and told once
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
            self.run.end_steps("the simulator is shutting down")
            self._simulation.commands.close()
            self._on_end(error)

    def _loop(self) -> None:
        simulation, pacer, run, publish = self._simulation, self._pacer, self.run, self._publish
        commands, step, clock = simulation.commands, simulation.step, time.perf_counter
        drain, period, cost = commands.drain, self._period.add, self._cost.add
        self.reschedule()
        last = clock()
        self._since = last
        while not self._ending:
            drain()
            if simulation.paused:
                self.idle()
                commands.wait(_LONGEST_PAUSE_S)
                pacer.restart()
                last = clock()
                continue
            now = clock()
            if (patience := max((gate.wait(now) for gate in self.gates), default=0.0)) > 0.0:
                commands.wait(patience)
                pacer.excuse(clock())
                continue
            if not run.stepping:
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
            if run.stepping:
                run.stepped()
