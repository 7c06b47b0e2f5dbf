"""The physics thread: the only place that reads the wall clock and sleeps."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import mujoco
import numpy as np

from mujoco_ros.native.plan import MANY
from mujoco_ros.sim.command_queue import CommandQueue
from mujoco_ros.sim.simulation import DivergenceError, Simulation
from mujoco_ros.sim.stepping.compiled_steps import RunCells, StepOutcome
from mujoco_ros.sim.stepping.real_time import Histogram, LowPriority, Pacer, RealTimePriority
from mujoco_ros.sim.stepping.run_control import RunControl
from mujoco_ros.sim.stepping.status import Status, control_status, engine_status


class StepListener:
    """Called by the physics thread around each step; override what applies.

    Methods that a subclass does not override are never called, so they cost nothing.
    """

    def wait(self, now: float) -> float:
        """Return how long the next step must wait at most [s]; 0 lets it begin.

        Called before every step, and again after every command and after the time returned. `now`
        is monotonic wall time [s].
        """
        return 0.0

    def before_step(self) -> None:
        """Act on the state that the next step starts from."""

    def after_step(self) -> None:
        """Act on a new, valid sample; not called for a step that diverged."""

    def while_paused(self) -> None:
        """Act while the simulation is paused: after commands, and every 0.1 s."""

    def idle_steps(self) -> int:
        """Return before how many further steps these methods have nothing to do that matters.

        What they would do after such steps, `CompiledSteps` does. Called before them, unless
        neither this method nor another one that is called around steps is overridden.
        """
        return 0

    def before_compiled(self, time: float) -> None:
        """Prepare such steps; the first one begins at a simulated `time` [s]."""


def overrides(
    listeners: Iterable[StepListener], method: Callable[..., object]
) -> list[Callable[..., Any]]:
    """Return the bound methods of those listeners that override `method` of the base class."""
    name = method.__name__
    return [getattr(each, name) for each in listeners if getattr(type(each), name) is not method]


_BEGUN = StepOutcome.UNSOLVED, StepOutcome.WARNED, StepOutcome.PUBLISH
"""Outcomes of a step that began, and that Python completes."""
_LONGEST_SLEEP_S = 0.01
_LONGEST_PAUSE_S = 0.1
"""Commands end a pause at once; this is for code that sets `Simulation.paused` directly."""


class Clock(Protocol):
    """Wall time, as the physics thread uses it."""

    def now(self) -> float:
        """Return the monotonic time [s]."""

    def sleep(self, duration_s: float) -> None:
        """Return after a duration [s]."""

    def wait(self, commands: CommandQueue, timeout_s: float) -> None:
        """Return when there are commands, or after a timeout [s]."""


class WallClock:
    """The monotonic clock of the system."""

    now = staticmethod(time.perf_counter)
    sleep = staticmethod(time.sleep)
    wait = staticmethod(CommandQueue.wait)


class PhysicsThread:
    """Runs a simulation in real time and calls its step listeners."""

    def __init__(
        self,
        simulation: Simulation,
        pacer: Pacer,
        listeners: Sequence[StepListener],
        *,
        run: RunControl | None = None,
        priority: int = 0,
        on_end: Callable[[BaseException | None], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Prepare the thread.

        Args:
            simulation: The simulation; from `start` on it belongs to this thread.
            pacer: Schedules the steps; belongs to this thread as well.
            listeners: Called in this order around each step.
            run: Run control of `simulation`; None creates one.
            priority: Real-time priority to request from the system, the next lower one for the
                other threads of the process; 0 for none.
            on_end: Called in this thread when it ends, with the exception that ended it.
            clock: Wall time.
        """
        self.run = run or RunControl(simulation)  # belongs to this thread
        self._simulation = simulation
        self._pacer = pacer
        self._gates: list[Callable[[float], float]] = overrides(listeners, StepListener.wait)
        self._before_step = overrides(listeners, StepListener.before_step)
        self._after_step = overrides(listeners, StepListener.after_step)
        self._while_paused = overrides(listeners, StepListener.while_paused)
        self._before_compiled = overrides(listeners, StepListener.before_compiled)
        around_steps = (StepListener.wait, StepListener.before_step, StepListener.after_step)
        self._idle = [
            each.idle_steps
            for each in listeners
            if any(overrides([each], method) for method in (*around_steps, StepListener.idle_steps))
        ]
        self._priority = RealTimePriority(priority, "steps")
        self._behind = LowPriority()  # readers must be able to follow
        self._stepping, self._factor = False, pacer.factor
        self._on_end = on_end
        self._clock: Clock = clock or WallClock()
        self._ending = False
        self._period = Histogram()
        self._cost = Histogram()
        # Of compiled steps: the pace with the begin of the last step, and what a single step needs
        self._pace = np.zeros(len(pacer.numbers()) + 1)
        self._cells = RunCells(
            self._pace, simulation.commands.attention, self._period.counts, self._cost.counts
        )
        self._single = RunCells(self._pace * 0.0, *np.zeros((3, 1), dtype=np.int64))
        self._steps, self._waited_s = 0, 0.0  # since the last status
        self._since = 0.0
        self._thread = threading.Thread(target=self._run, name="physics", daemon=True)

    def start(self) -> None:
        """Start stepping."""
        self._thread.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """End the thread, if it was started, and wait for it."""
        self._ending = True
        self._simulation.commands.wake()
        if self._thread.ident is not None:
            self._thread.join(timeout_s)

    def status(self) -> Status:
        """Return the statistics since the last call; for the physics thread, as a command."""
        simulation, pacer, now = self._simulation, self._pacer, self._clock.now()
        elapsed = now - self._since
        # Counted in steps: a reset may set the simulated time back.
        simulated = self._steps * simulation.model.opt.timestep
        status = Status(
            sim_time=simulation.time,
            paused=simulation.paused,
            factor=pacer.factor,
            achieved_factor=simulated / elapsed if elapsed else 0.0,
            elapsed=elapsed,
            waited=self._waited_s,
            steps=self._steps,
            late_steps=pacer.late_steps,
            lag=pacer.lag_s,
            dropped=pacer.dropped_s,
            timestep=float(simulation.model.opt.timestep),
            period=self._period.percentiles(50, 99, 99.9),
            step_cost=self._cost.percentiles(50, 99, 99.9),
            queued=simulation.commands.longest,
            engine=engine_status(simulation),
            control=control_status(simulation, simulated),
        )
        self._period.clear()
        self._cost.clear()
        simulation.commands.longest = 0
        self._steps, self._waited_s = 0, 0.0
        self._since = now
        self._priority.excuse(pacer.dropped_s)
        return status

    def _idle_steps(self) -> int:
        """Return in how many steps no listener has to be called, at most `MANY`."""
        simulation, commands = self._simulation, self._simulation.commands
        # Messages that the thread takes itself are looked for at each step, unless they wait for a
        # tick of the lockstep. Then those that other threads have submitted wait as well.
        is_polled = commands.attention[0] if commands.held else commands.inlet is not None
        if is_polled or self._clock.now is not WallClock.now or not simulation.can_be_compiled:
            return 0
        steps = MANY
        for idle_steps in self._idle:
            steps = min(steps, idle_steps())
            if not steps:
                return 0
        return steps

    def _take_compiled(self, most: int, last: float) -> float:
        """Take compiled steps of an idle simulation, and finish the last one if it needs Python.

        Args:
            most: Largest number of steps.
            last: Wall time at which the step before began [s].

        Returns:
            Wall time at which the last step began [s].
        """
        simulation, pacer, pace = self._simulation, self._pacer, self._pace
        self._behind.want(not pacer.factor and not simulation.commands.held)  # others wait for it
        pace[:-1], pace[-1] = pacer.numbers(), last
        self._cells.keeps[0] = simulation.commands.held
        outcome, steps = self._run_compiled(most, self._cells, ramps=True)
        pacer.take_numbers(pace[:-1])
        last = float(pace[-1])
        is_left_open = outcome in _BEGUN
        if steps or is_left_open:
            simulation.note_idle_steps()
        self._steps += steps
        if is_left_open:
            self._complete(outcome)
            self._steps += 1
            self._cost.add(self._clock.now() - last)
        elif outcome == StepOutcome.IN_PYTHON:
            simulation.step()
        self._priority.check(last, pacer.dropped_s)
        return last

    def _take_single(self) -> None:
        """Take a step of which only the commands are in Python."""
        if self._simulation.prepare_step():
            outcome, _ = self._run_compiled(1, self._single, ramps=False)
            if outcome != StepOutcome.TAKEN:
                self._complete(outcome)

    def _run_compiled(self, most: int, cells: RunCells, *, ramps: bool) -> tuple[int, int]:
        """Take compiled steps; return the `StepOutcome`, and the number of complete steps."""
        simulation = self._simulation
        compiled = simulation.compiled
        assert compiled is not None
        time = float(simulation.data.time)
        for call in self._before_compiled:
            call(time)
        return compiled.run(simulation.sent.values, most, cells, ramps=ramps)

    def _complete(self, outcome: int) -> None:
        """Do what is left of a compiled step."""
        if outcome == StepOutcome.PUBLISH or self._simulation.complete_step(outcome):
            for call in self._after_step:
                call()

    def _reschedule(self, now: float, *, stepping: bool) -> None:
        """Request the real-time priority, or none for a run that never yields the processor."""
        self._stepping, self._factor = stepping, self._pacer.factor
        if self._factor:
            self._behind.want(False)
        self._priority.want(bool(self._factor) and not stepping, now, self._pacer.dropped_s)

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            self._loop()
        except (DivergenceError, mujoco.FatalError) as ended:
            error = ended
            self._simulation.engine_messages.fail(ended)
        except BaseException as ended:
            error = ended
            raise
        finally:
            self.run.end_steps("the simulator is shutting down")
            self._simulation.commands.close()
            self._priority.release()
            self._behind.want(False)
            if self._on_end is not None:
                self._on_end(error)

    def _loop(self) -> None:
        simulation, pacer, run, clock = self._simulation, self._pacer, self.run, self._clock
        commands, step, now_s = simulation.commands, simulation.step, clock.now
        priority = self._priority
        drain, period, cost = commands.drain, self._period.add, self._cost.add
        gates, before_step, after_step = self._gates, self._before_step, self._after_step
        last, blocked = now_s(), False
        self._since = last
        self._reschedule(last, stepping=run.stepping)
        while not self._ending:
            if blocked or simulation.paused or not commands.held:
                drain()
            else:
                commands.collect()
            stepping = run.stepping
            if stepping is not self._stepping or pacer.factor != self._factor:
                self._reschedule(now_s(), stepping=stepping)
            if simulation.paused:
                for call in self._while_paused:
                    call()
                clock.wait(commands, _LONGEST_PAUSE_S)
                pacer.restart()
                last = now_s()
                continue
            idle = 0 if stepping else self._idle_steps()
            now, blocked = now_s(), False
            if gates and not idle:
                timeout = max(gate(now) for gate in gates)
                blocked = timeout > 0.0
                if blocked:
                    self._behind.want(False)  # others wait for it, too
                    clock.wait(commands, timeout)
                    after = now_s()
                    self._waited_s += after - now
                    pacer.excuse(after)
                    continue
            if idle > 1 and (most := min(idle, simulation.idle_steps())) > 1:
                last = self._take_compiled(most, last)
                continue
            if not stepping:
                delay = pacer.wait(now)
                if delay > 0.0:
                    clock.sleep(min(delay, _LONGEST_SLEEP_S))
                    continue
                pacer.started(now)
                priority.check(now, pacer.dropped_s)
            period(now - last)
            last = now
            if idle:
                self._take_single()
            else:
                for call in before_step:
                    call()
                if step():
                    for call in after_step:
                        call()
            self._steps += 1
            cost(now_s() - now)
            if stepping:
                run.count_step()
