"""The physics thread with a clock set by the test, and its start and end."""

import threading
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest

from mujoco_ros.sim.command_queue import CommandQueue
from mujoco_ros.sim.simulation import DivergenceError, Simulation
from mujoco_ros.sim.stepping import real_time
from mujoco_ros.sim.stepping.physics_thread import PhysicsThread, StepListener
from mujoco_ros.sim.stepping.real_time import Pacer
from mujoco_ros.sim.stepping.run_control import RunState, Steps
from mujoco_ros.sim.stepping.status import Status

WHEEL = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body name="wheel" pos="0 0 2"><joint name="j" axis="0 0 1"/><geom size="0.1" mass="1"/></body>
    <body name="ball" pos="3 0 0.0999"><freejoint/><geom size="0.1" mass="1"/></body>
  </worldbody>
  <actuator><motor joint="j"/></actuator>
</mujoco>"""
STEP_COST_S = 1e-4


class ManualClock:
    """Wall time that passes only when the thread sleeps or waits, or a step costs some."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.sleeps = 0
        self.waits = 0
        self._plan: list[tuple[float, Callable[[], object]]] = []

    def at(self, time: float, call: Callable[[], object]) -> None:
        """Schedule a call at a time [s] after the start."""
        self._plan.append((1000.0 + time, call))

    def advance(self, duration_s: float) -> None:
        self.time += duration_s
        due = [entry for entry in self._plan if entry[0] <= self.time + 1e-12]
        self._plan = [entry for entry in self._plan if entry not in due]
        for _, call in due:
            call()

    def now(self) -> float:
        return self.time

    def sleep(self, duration_s: float) -> None:
        self.sleeps += 1
        self.advance(duration_s)

    def wait(self, commands: CommandQueue, timeout_s: float) -> None:
        """Advance the time to the next scheduled call, which may submit a command."""
        self.waits += 1
        until = min((when for when, _ in self._plan), default=np.inf)
        self.advance(max(0.0, min(timeout_s, until - self.time)))


class Run(StepListener):
    """A physics thread, run in the thread of the test until a planned end."""

    def __init__(
        self,
        simulation: Simulation,
        factor: float,
        *listeners: StepListener,
        priority: int = 0,
        cost_s: float = STEP_COST_S,
    ) -> None:
        self.simulation = simulation
        self.clock = ManualClock()
        self.pacer = Pacer(simulation.model.opt.timestep, factor=factor)
        self.cost_s = cost_s
        self.times: list[float] = []
        self.ended: list[BaseException | None] = []
        self.thread = PhysicsThread(
            simulation,
            self.pacer,
            [self, *listeners],
            priority=priority,
            on_end=self.ended.append,
            clock=self.clock,
        )

    def after_step(self) -> None:
        self.times.append(self.simulation.time)
        self.clock.advance(self.cost_s)

    def at(self, time: float, command: Callable[[], object]) -> None:
        """Submit a command when that much wall time has passed."""
        self.clock.at(time, lambda: self.simulation.commands.submit(command))

    def until(self, time: float) -> None:
        """Run until that much wall time has passed."""
        self.clock.at(time, lambda: setattr(self.thread, "_ending", True))
        self.thread._run()

    def status_at(self, time: float) -> list[Status]:
        """Return a list that holds the status at a wall time, once that has passed."""
        statuses: list[Status] = []
        self.at(time, lambda: statuses.append(self.thread.status()))
        return statuses


@pytest.fixture
def run(simulate):
    """A function that prepares a thread."""

    def prepare(factor: float, *listeners: StepListener, **options: Any) -> Run:
        own = {name: options.pop(name) for name in ("priority", "cost_s") if name in options}
        simulation = simulate(WHEEL, gains={"j": (10.0, 1.0)}, **options)
        return Run(simulation, factor, *listeners, **own)

    return prepare


# --- pace


@pytest.mark.parametrize("factor", [1.0, 2.0, 0.5])
def test_simulated_time_follows_wall_time_at_the_factor(run, factor):
    running = run(factor)
    statuses = running.status_at(2.0)
    running.until(2.001)
    (status,) = statuses
    assert status.sim_time == pytest.approx(2.0 * factor, abs=2e-3 * factor)
    assert status.achieved_factor == pytest.approx(factor, rel=2e-3)
    assert status.dropped == 0.0
    assert status.late_steps == 0


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_time_that_a_slow_machine_cannot_catch_up_is_dropped_and_counted(run, factor):
    running = run(factor, cost_s=2e-3)  # each step takes twice its period, or four times
    statuses = running.status_at(4.0)
    running.until(4.1)
    (status,) = statuses
    simulated = status.sim_time / factor
    assert simulated + status.dropped + status.lag == pytest.approx(4.0, abs=0.01)
    assert status.dropped > 1.5
    assert status.achieved_factor == pytest.approx(0.5, rel=0.01)


def test_a_stall_is_caught_up_within_the_bound_and_never_faster_than_the_machine(run):
    running = run(1.0)
    running.at(1.0, lambda: running.clock.advance(0.04))
    statuses = running.status_at(1.5)
    running.until(1.501)
    (status,) = statuses
    assert status.dropped == 0.0
    assert status.sim_time == pytest.approx(1.5, abs=2e-3)
    assert np.diff(running.times).max() == pytest.approx(1e-3), "no step is left out"


def test_a_factor_of_zero_runs_as_fast_as_it_can(run):
    running = run(0.0)
    statuses = running.status_at(0.2)
    running.until(0.201)
    (status,) = statuses
    assert status.achieved_factor == pytest.approx(1e-3 / STEP_COST_S, rel=1e-3)
    assert (status.dropped, status.late_steps, status.lag) == (0.0, 0, 0.0)
    assert running.clock.sleeps == 0


def test_the_status_covers_the_time_since_the_last_one(run):
    running = run(1.0)
    statuses = running.status_at(0.2)
    running.at(0.3, lambda: statuses.append(running.thread.status()))
    running.until(0.301)
    first, second = statuses
    assert first.steps == pytest.approx(200, abs=2)
    assert second.steps == pytest.approx(100, abs=2)
    p50, p99, p999 = first.period
    assert 0.0 < p50 <= p99 <= p999
    assert 0.0 < first.step_cost[0] <= first.step_cost[2]
    assert first.engine.contacts == 1
    assert first.engine.constraints >= 1
    assert not first.paused
    assert first.engine.divergences == 0
    assert first.engine.warnings == {}
    assert second.sim_time > first.sim_time


def test_a_reset_does_not_distort_the_achieved_factor(run):
    running = run(1.0)
    running.at(0.1, running.simulation.reset)
    statuses = running.status_at(0.2)
    running.until(0.201)
    (status,) = statuses
    assert status.achieved_factor == pytest.approx(1.0, rel=0.02)
    assert status.steps * 1e-3 > status.sim_time


# --- listeners, pauses and gates


def test_every_step_reaches_the_listeners_once_and_in_order(run):
    running = run(0.0)
    running.until(0.02)
    assert len(running.times) > 100
    np.testing.assert_allclose(np.diff(running.times), 1e-3, atol=1e-9)
    assert running.times[0] == 0.0


def test_listeners_are_called_in_order_and_only_for_what_they_override(run):
    calls: list[str] = []

    class Before(StepListener):
        def before_step(self) -> None:
            calls.append("before")

    class After(StepListener):
        def after_step(self) -> None:
            calls.append("after")

    running = run(1.0, After(), Before())
    running.until(0.0025)
    assert calls == ["before", "after"] * len(running.times)
    assert running.thread._while_paused == []


def test_a_paused_simulation_does_not_step_and_continues_without_a_burst(run):
    running = run(1.0)
    running.at(0.1, running.thread.run.pause)
    running.at(0.4, running.thread.run.play)
    paused, after = running.status_at(0.3), running.status_at(0.5)
    running.until(0.501)
    assert paused[0].paused
    assert paused[0].sim_time == pytest.approx(0.1, abs=2e-3)
    assert after[0].sim_time == pytest.approx(0.2, abs=4e-3), "the pause is not made up for"
    assert after[0].dropped == 0.0, "nor is it counted as dropped"


def test_listeners_are_called_after_commands_while_it_is_paused(run):
    class Watcher(StepListener):
        def while_paused(self) -> None:
            calls.append(running.simulation.references.q[0])

    calls: list[float] = []
    running = run(1.0, Watcher())
    running.at(0.1, running.thread.run.pause)
    running.at(0.25, lambda: running.simulation.references.q.fill(0.25))
    running.until(0.3)
    assert calls[0] == 0.0
    assert calls[-1] == 0.25
    assert len(calls) < 10


def test_a_paused_simulation_waits_until_there_is_a_command(run):
    running = run(1.0)
    running.thread.run.pause()
    running.until(1.0)
    assert running.clock.waits < 15, "it does not poll at the rate of its steps"
    assert running.times == []


class ClosedGate(StepListener):
    """Holds all steps until it is opened."""

    def __init__(self) -> None:
        self.calls = 0
        self.opened = False

    def wait(self, now: float) -> float:
        self.calls += 1
        return 0.0 if self.opened else 30.0

    def open(self) -> None:
        self.opened = True


def test_a_gate_holds_steps_until_a_command_opens_it(run):
    gate = ClosedGate()
    running = run(1.0, gate)
    before = running.status_at(0.2)
    running.at(0.3, gate.open)
    after = running.status_at(0.4)
    running.until(0.401)
    assert before[0].sim_time == 0.0
    assert before[0].waited == pytest.approx(0.2, abs=2e-3)
    assert after[0].waited == pytest.approx(0.1, abs=2e-3)
    assert after[0].sim_time == pytest.approx(0.1, abs=2e-3)
    assert after[0].dropped == 0.0, "waiting for others is not the machine's fault"


def test_a_gate_is_queried_again_only_after_commands(run):
    gate = ClosedGate()
    running = run(1.0, gate)
    running.status_at(0.2)
    running.until(10.0)
    assert gate.calls < 5


# --- steps on request


def test_steps_are_taken_as_fast_as_possible_and_all_published(run):
    running, ends = run(0.001), []
    running.thread.run.pause()
    running.at(0.1, lambda: running.thread.run.take_steps(Steps(100, ends.append)))
    statuses = running.status_at(0.2)
    running.until(0.21)
    assert ends == [""], "at the real-time factor they would take 100 s"
    assert len(running.times) == 100
    assert statuses[0].paused
    assert statuses[0].dropped == 0.0
    assert running.thread.run.state is RunState.PAUSED


def test_a_command_can_end_steps_on_request(run):
    running, ends = run(1.0), []
    running.thread.run.pause()
    running.at(0.1, lambda: running.thread.run.take_steps(Steps(10**9, ends.append)))
    running.at(0.2, lambda: running.thread.run.end_steps("enough"))
    running.until(0.3)
    assert ends == ["enough"]


def test_steps_on_request_end_with_the_thread(run):
    running, ends = run(1.0), []
    running.thread.run.pause()
    running.at(0.1, lambda: running.thread.run.take_steps(Steps(10**9, ends.append)))
    running.until(0.2)
    assert ends == ["the simulator is shutting down"]


# --- errors


def test_divergence_ends_the_thread_with_its_error_if_so_configured(run):
    running = run(0.0, on_divergence="shutdown")
    running.at(0.01, lambda: running.simulation.data.qvel.__setitem__(0, float("nan")))
    running.until(1.0)
    (error,) = running.ended
    assert isinstance(error, DivergenceError)
    assert "diverged" in running.simulation.engine_messages.error
    assert np.isfinite(running.times).all()


def test_divergence_shows_in_the_status_and_is_not_published(run):
    running = run(0.0)
    running.at(0.01, lambda: running.simulation.data.qvel.__setitem__(0, float("nan")))
    statuses = running.status_at(0.02)
    running.until(0.03)
    assert statuses[0].engine.divergences == 1
    steps = np.diff(running.times)
    assert (steps > 0).all()
    assert steps.max() == pytest.approx(2e-3), "one step is missing, the clock continues"


def test_divergence_pauses_if_so_configured(run):
    running = run(0.0, on_divergence="pause")
    running.at(0.01, lambda: running.simulation.data.qvel.__setitem__(0, float("nan")))
    statuses = running.status_at(0.2)
    running.until(0.3)
    assert statuses[0].engine.divergences == 1
    assert statuses[0].paused
    assert statuses[0].sim_time == running.times[-1]


def test_engine_warnings_show_in_the_status(run):
    running = run(0.0)
    full = mujoco.mjtWarning.mjWARN_CONTACTFULL
    running.at(0.01, lambda: running.simulation.data.warning.number.__setitem__(full, 3))
    statuses = running.status_at(0.02)
    running.until(0.03)
    (status,) = statuses
    assert status.engine.warnings == {"CONTACTFULL": 3}
    assert status.engine.divergences == 0


# --- priority


def test_the_real_time_priority_is_requested_for_real_time_alone(run, scheduled):
    running = run(1.0, priority=7)
    running.at(0.1, lambda: setattr(running.pacer, "factor", 0.0))
    running.at(0.2, lambda: setattr(running.pacer, "factor", 2.0))
    running.until(0.3)
    assert scheduled == [7, 0, 7, 0]  # the last one at the end


def test_a_run_that_waits_for_others_has_their_priority(run, monkeypatch):
    wanted = []
    monkeypatch.setattr(real_time.LowPriority, "want", lambda _self, low: wanted.append(low))
    running = run(0.0, ClosedGate())
    running.at(0.1, lambda: wanted.append("waited"))
    running.until(0.2)
    assert False in wanted[: wanted.index("waited")]


def test_steps_on_request_yield_the_processor(run, scheduled):
    running, ends = run(1.0, priority=7), []
    running.thread.run.pause()
    running.at(0.1, lambda: running.thread.run.take_steps(Steps(5, ends.append)))
    running.until(0.3)
    assert ends == [""]
    assert scheduled == [7, 0, 7, 0]  # the last one at the end


def test_a_denied_priority_is_requested_once(run, monkeypatch, caplog):
    caplog.set_level("INFO")
    requests: list[int] = []
    monkeypatch.setattr(real_time, "schedule", lambda priority: bool(requests.append(priority)))
    running = run(1.0, priority=7)
    for number, factor in enumerate((2.0, 3.0, 4.0)):
        running.at(
            0.1 * (number + 1), lambda factor=factor: setattr(running.pacer, "factor", factor)
        )
    running.until(0.5)
    assert requests == [7]
    assert caplog.text.count("no real-time priority") == 1


def test_no_priority_is_requested_unless_it_is_configured(run, scheduled):
    run(1.0).until(0.01)
    assert scheduled == []


def test_a_simulation_too_slow_for_real_time_drops_its_priority(run, scheduled, caplog):
    run(1.0, priority=7, cost_s=0.02).until(1.0)
    assert scheduled == [7, 0]
    assert "dropping the real-time priority for 10 s" in caplog.text


def test_the_priority_returns_after_a_stall(run, scheduled):
    running = run(0.2, priority=7)
    running.at(1.0, lambda: running.clock.advance(2.0))
    running.at(12.9, lambda: scheduled.append(-1))
    running.until(14.0)
    assert scheduled == [7, 0, -1, 7, 0], "it returns ten seconds after the stall"


def times_without_priority(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [it.getMessage().rpartition(" for ")[2] for it in caplog.records]


def test_a_machine_that_stays_too_slow_has_the_priority_less_and_less_often(run, scheduled, caplog):
    run(1.0, priority=7, cost_s=0.1).until(900.0)
    times = [f"{it} s" for it in (10, 20, 40, 80, 160, 300, 300)]
    assert times_without_priority(caplog) == times
    assert scheduled == 7 * [7, 0]


def test_a_stall_after_a_long_time_counts_as_the_first(run, scheduled, caplog):
    running = run(0.01, priority=7)
    for time in (1.0, 20.0, 400.0):
        running.at(time, lambda: running.clock.advance(2.0))
    running.until(401.0)
    assert times_without_priority(caplog) == ["10 s", "20 s", "10 s"]


@pytest.mark.parametrize(("factor", "restored"), [(0.0, []), (0.5, [7, 0])])
def test_another_factor_does_not_restore_the_priority_early(run, scheduled, factor, restored):
    running = run(1.0, priority=7, cost_s=9e-4)
    running.at(1.0, lambda: running.clock.advance(0.6))
    running.at(2.0, lambda: setattr(running.pacer, "factor", factor))
    running.at(11.0, lambda: scheduled.append(-1))
    running.until(13.0)
    assert scheduled == [7, 0, -1, *restored]


# --- the thread


@pytest.fixture
def started(simulate):
    """A thread on the wall clock, stopped at the end of the test."""
    simulation = simulate(WHEEL, gains={"j": (10.0, 1.0)})
    thread = PhysicsThread(simulation, Pacer(1e-3), [])
    thread.start()
    yield thread, simulation.commands
    thread.stop(30.0)


def test_commands_run_in_the_thread_also_while_it_is_paused(started):
    thread, commands = started
    names = [commands.submit(lambda: threading.current_thread().name).result(30.0)]
    commands.submit(thread.run.pause).result(30.0)
    names.append(commands.submit(lambda: threading.current_thread().name).result(30.0))
    assert names == ["physics", "physics"]


def test_a_command_that_fails_does_not_end_the_thread(started):
    _, commands = started

    def fail() -> None:
        raise ValueError("rejected")

    with pytest.raises(ValueError, match="rejected"):
        commands.submit(fail).result(30.0)
    assert commands.submit(lambda: 3).result(30.0) == 3


def test_stop_ends_the_thread_without_an_error(simulate):
    ended: list[BaseException | None] = []
    simulation = simulate(WHEEL, gains={"j": (10.0, 1.0)})
    thread = PhysicsThread(simulation, Pacer(1e-3), [ClosedGate()], on_end=ended.append)
    thread.start()
    simulation.commands.submit(lambda: None).result(30.0)
    thread.stop(30.0)
    assert ended == [None]
    assert "physics" not in [each.name for each in threading.enumerate()]


def test_a_thread_that_was_never_started_can_be_stopped(run):
    run(1.0).thread.stop()


def test_an_exception_of_a_listener_ends_the_thread_and_is_reported(simulate, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda _arguments: None)
    ended: list[BaseException | None] = []

    class Faulty(StepListener):
        def after_step(self) -> None:
            raise RuntimeError("no middleware")

    simulation = simulate(WHEEL, gains={"j": (10.0, 1.0)})
    thread = PhysicsThread(simulation, Pacer(1e-3), [Faulty()], on_end=ended.append)
    thread.start()
    thread.stop(30.0)
    (error,) = ended
    assert str(error) == "no middleware"
