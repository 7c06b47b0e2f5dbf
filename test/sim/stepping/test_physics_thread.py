"""The physics thread, for moments of real time; nothing depends on how fast the machine is."""

import threading
import time
from typing import Any

import numpy as np
import pytest

from mujoco_ros.sim.simulation import DivergenceError, Simulation
from mujoco_ros.sim.stepping import physics_thread as loop
from mujoco_ros.sim.stepping.pacer import Pacer
from mujoco_ros.sim.stepping.physics_thread import PhysicsThread
from mujoco_ros.sim.stepping.run_control import RunState, Steps
from mujoco_ros.sim.stepping.status import Status
from mujoco_ros.sim.stepping.step_listener import StepListener

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


class Run(StepListener):
    """A physics thread that is stopped at the end of a test."""

    def __init__(
        self,
        simulation: Simulation,
        factor: float,
        *listeners: StepListener,
        priority: int = 0,
        cost_s: float = 0.0,
    ) -> None:
        self.simulation = simulation
        self.pacer = Pacer(simulation.model.opt.timestep, factor=factor)
        self.cost_s = cost_s
        self.times: list[float] = []
        self.ended: list[BaseException | None] = []
        self.end = threading.Event()
        self.thread = PhysicsThread(
            simulation, self.pacer, [self, *listeners], priority=priority, on_end=self._ended
        )

    def after_step(self) -> None:
        assert threading.current_thread().name == "physics"
        self.times.append(self.simulation.time)
        if self.cost_s:
            time.sleep(self.cost_s)

    def _ended(self, error: BaseException | None) -> None:
        self.ended.append(error)
        self.end.set()

    def tell(self, command):
        return self.simulation.commands.submit(command).result(30.0)

    def status(self) -> Status:
        return self.tell(self.thread.status)


@pytest.fixture
def run(simulate):
    """A function that starts a thread."""
    runs = []

    def start(
        factor: float,
        *listeners: StepListener,
        priority: int = 0,
        cost_s: float = 0.0,
        **options: Any,
    ) -> Run:
        simulation = simulate(WHEEL, gains={"j": (10.0, 1.0)}, **options)
        runs.append(Run(simulation, factor, *listeners, priority=priority, cost_s=cost_s))
        runs[-1].thread.start()
        return runs[-1]

    yield start
    for each in runs:
        each.thread.stop(30.0)
        assert each.end.is_set()


@pytest.mark.parametrize("factor", [1.0, 2.0, 0.5])
def test_simulated_time_and_dropped_time_add_up_to_wall_time(run, factor):
    running = run(factor)
    look = lambda: (running.thread.status(), time.perf_counter())  # noqa: E731
    first, begin = running.tell(look)
    behind = np.inf
    deadline = begin + 30.0
    # What it is behind by is made up for or dropped, as soon as it has the processor for a while.
    while behind > 0.05:
        assert time.perf_counter() < deadline
        time.sleep(0.4)
        status, now = running.tell(look)
        wall, simulated = now - begin, status.sim_time - first.sim_time
        behind = wall - (status.dropped - first.dropped) - simulated / factor
        assert behind > -0.05 - 2e-3 / factor, "never faster than asked for, but to catch up"
        assert status.factor == factor
        assert status.achieved_factor <= factor * 1.35, "catching up must stay bounded"
        assert 0 < status.steps <= simulated * 1000 + 1


def test_a_factor_of_zero_runs_as_fast_as_it_can(run):
    running = run(0.0)
    time.sleep(0.2)
    status = running.status()
    assert status.achieved_factor > 1.5
    assert status.dropped == 0.0
    assert status.late_steps == 0
    assert status.lag == 0.0


def test_the_status_tells_what_happened_since_the_last_one(run):
    running = run(1.0)
    time.sleep(0.2)
    first = running.status()
    published = len(running.times)
    assert 0 < first.steps <= published
    p50, p99, p999 = first.period
    assert 0.0 < p50 <= p99 <= p999
    assert 0.0 < first.step_cost[0] <= first.step_cost[2]
    assert first.engine.contacts == 1
    assert first.engine.constraints >= 1
    assert not first.paused
    assert first.engine.divergences == 0
    assert first.engine.warnings == {}
    second = running.status()
    assert second.steps < first.steps
    assert second.sim_time >= first.sim_time


def test_every_step_is_published_once_and_in_order(run):
    running = run(0.0)
    time.sleep(0.1)
    running.thread.stop(30.0)
    assert len(running.times) > 10
    np.testing.assert_allclose(np.diff(running.times), 1e-3, atol=1e-9)
    assert running.times[0] == 0.0


def test_a_paused_simulation_stands_still_and_goes_on_without_a_burst(run):
    running = run(1.0)
    time.sleep(0.1)

    def pause(paused: bool) -> float:
        running.simulation.paused = paused
        return running.simulation.data.time

    paused_at = running.tell(lambda: pause(True))
    time.sleep(0.3)
    status = running.status()
    assert status.paused
    assert running.simulation.data.time == paused_at
    dropped = status.dropped
    begin = time.perf_counter()
    running.tell(lambda: pause(False))
    while running.simulation.data.time == paused_at:
        time.sleep(0.005)
    status = running.status()
    wall = time.perf_counter() - begin
    assert status.sim_time - paused_at <= wall + 2e-3, "the pause must not be made up for"
    assert status.dropped - dropped <= wall, "nor be counted as dropped"


def test_listeners_are_called_after_commands_while_it_is_paused(run):
    class Watcher(StepListener):
        def while_paused(self) -> None:
            calls.append(running.simulation.references.q[0])

    calls: list[int] = []
    running = run(1.0, Watcher())
    time.sleep(0.02)
    assert calls == []
    running.tell(running.thread.run.pause)
    running.tell(lambda: running.simulation.references.q.fill(0.25))
    deadline = time.monotonic() + 10.0
    while 0.25 not in calls:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    running.tell(running.thread.run.play)


def test_commands_run_between_steps_and_while_paused(run):
    running = run(1.0)
    names = [running.tell(lambda: threading.current_thread().name)]
    running.simulation.paused = True
    names.append(running.tell(lambda: threading.current_thread().name))
    assert names == ["physics", "physics"]


def test_a_paused_simulation_sleeps_until_there_is_a_command(run):
    running = run(1.0)
    restarts = []
    running.tell(running.thread.run.pause)
    running.pacer.restart = lambda: restarts.append(None)
    time.sleep(0.35)
    assert len(restarts) < 10, "it looks around far less often than it could step"
    begin = time.perf_counter()
    for _ in range(100):
        running.tell(lambda: None)
    assert time.perf_counter() - begin < 3.0, "commands wake it"


def test_steps_are_taken_as_fast_as_possible_and_all_published(run):
    running = run(0.001)
    running.tell(running.thread.run.pause)
    before, ended = len(running.times), threading.Event()
    running.tell(lambda: running.thread.run.take(Steps(100, lambda _reason: ended.set())))
    assert ended.wait(30.0), "at the factor asked for they would take 100 s"
    assert len(running.times) == before + 100
    status = running.status()
    assert status.paused
    assert status.dropped == 0.0
    assert running.thread.run.state is RunState.PAUSED


def test_commands_run_between_steps_that_are_asked_for(run):
    running, ends = run(1.0), []
    running.tell(running.thread.run.pause)
    running.tell(lambda: running.thread.run.take(Steps(10**9, ends.append)))
    running.tell(lambda: running.thread.run.end_steps("enough"))
    assert ends == ["enough"]


def test_steps_end_with_the_thread(run):
    running, ends = run(1.0), []
    running.tell(running.thread.run.pause)
    running.tell(lambda: running.thread.run.take(Steps(10**9, ends.append)))
    running.thread.stop(30.0)
    assert ends == ["the simulator is shutting down"]


class ClosedGate(StepListener):
    """Lets nothing pass until it is opened."""

    def __init__(self) -> None:
        self.asked = 0
        self.opened = False

    def wait(self, now: float) -> float:
        self.asked += 1
        return 0.0 if self.opened else 30.0

    def open(self) -> None:
        self.opened = True


def test_a_gate_holds_up_steps_until_a_command_opens_it(run):
    gate = ClosedGate()
    running = run(1.0, gate)
    stood = running.tell(lambda: running.simulation.data.time)
    time.sleep(0.2)
    assert running.tell(lambda: running.simulation.data.time) == stood
    assert gate.asked < 10, "it is asked again after commands alone"
    running.tell(gate.open)
    while running.simulation.data.time == stood:
        time.sleep(0.005)
    status = running.status()
    assert status.dropped < 0.2, "time spent on waiting for others is not the machine's fault"


def test_a_gate_does_not_keep_the_thread_from_ending(run):
    running = run(1.0, ClosedGate())
    begin = time.perf_counter()
    running.thread.stop(30.0)
    assert time.perf_counter() - begin < 15.0


def test_a_command_that_fails_does_not_end_the_thread(run):
    running = run(1.0)

    def fail() -> None:
        raise ValueError("refused")

    with pytest.raises(ValueError, match="refused"):
        running.tell(fail)
    assert running.tell(lambda: 3) == 3
    assert not running.end.is_set()


def test_stop_ends_the_thread_without_an_error(run):
    running = run(1.0)
    running.tell(lambda: None)
    running.thread.stop(30.0)
    assert running.ended == [None]
    assert "physics" not in [thread.name for thread in threading.enumerate()]
    steps = len(running.times)
    time.sleep(0.02)
    assert len(running.times) == steps


def test_a_thread_that_was_never_started_can_be_stopped(simulate):
    Run(simulate(WHEEL, gains={"j": (10.0, 1.0)}), 1.0).thread.stop()


def test_divergence_ends_the_thread_with_its_error_if_told_to_shut_down(run):
    running = run(0.0, on_divergence="shutdown")
    running.tell(lambda: running.simulation.data.qvel.__setitem__(0, float("nan")))
    assert running.end.wait(30.0)
    (error,) = running.ended
    assert isinstance(error, DivergenceError)
    assert np.isfinite(running.times).all()


def test_divergence_shows_in_the_status_and_is_not_published(run):
    running = run(0.0)
    running.tell(lambda: running.simulation.data.qvel.__setitem__(0, float("nan")))
    status = running.status()
    while not status.engine.divergences:
        status = running.status()
    assert status.engine.divergences == 1
    running.thread.stop(30.0)
    steps = np.diff(running.times)
    assert (steps > 0).all()
    assert steps.max() == pytest.approx(2e-3), "one step is missing, the clock goes on"


def test_divergence_pauses_if_told_to(run):
    running = run(0.0, on_divergence="pause")
    running.tell(lambda: running.simulation.data.qvel.__setitem__(0, float("nan")))
    status = running.status()
    while not status.engine.divergences:
        status = running.status()
    assert status.paused
    assert status.sim_time == running.times[-1]


def test_engine_warnings_show_in_the_status(run):
    running = run(0.0)
    running.tell(lambda: running.simulation.references.tau.__setitem__(0, float("nan")))
    status = running.status()
    while not status.engine.warnings:
        status = running.status()
    assert set(status.engine.warnings) == {"BADCTRL"}
    assert status.engine.warnings["BADCTRL"] >= 1
    assert any("CTRL" in message for message in running.simulation.engine_messages)
    assert status.engine.divergences == 0


def test_the_achieved_factor_is_not_fooled_by_a_reset(run):
    running = run(1.0)
    time.sleep(0.1)
    running.tell(running.simulation.reset)
    time.sleep(0.1)
    status = running.status()
    assert status.achieved_factor > 0.0
    assert status.steps * 1e-3 > status.sim_time


@pytest.fixture
def scheduled(monkeypatch):
    """The priorities asked of the operating system, which grants none of them here."""
    asked: list[int] = []

    def schedule(priority: int) -> bool:
        asked.append(priority)
        return True

    monkeypatch.setattr(loop, "schedule", schedule)
    return asked


def test_real_time_priority_is_taken_for_real_time_alone(run, scheduled):
    running = run(1.0, priority=7)
    running.tell(lambda: None)
    assert scheduled == [7]

    def set_factor(factor: float) -> None:
        running.pacer.factor = factor

    for factor, expected in ((0.0, [7, 0]), (2.0, [7, 0, 7])):
        running.tell(lambda factor=factor: set_factor(factor))
        running.tell(lambda: None)  # after the loop has followed
        assert scheduled == expected


def test_steps_as_fast_as_possible_yield_the_processor(run, scheduled):
    running, ended = run(1.0, priority=7), threading.Event()
    running.tell(running.thread.run.pause)
    running.tell(lambda: running.thread.run.take(Steps(5, lambda _reason: ended.set())))
    assert ended.wait(30.0)
    running.tell(lambda: None)
    running.tell(lambda: None)  # after the loop has followed
    assert scheduled == [7, 0, 7]


def test_what_the_system_refuses_is_asked_for_once(run, monkeypatch, caplog):
    caplog.set_level("INFO")
    asked: list[int] = []
    monkeypatch.setattr(loop, "schedule", lambda priority: bool(asked.append(priority)))
    running = run(1.0, priority=7)
    for factor in (2.0, 3.0, 4.0):
        running.tell(lambda factor=factor: setattr(running.pacer, "factor", factor))
    assert asked == [7]
    assert caplog.text.count("no real-time priority") == 1


def test_no_priority_is_asked_for_unless_it_is_configured(run, scheduled):
    run(1.0).tell(lambda: None)
    assert scheduled == []


def test_a_simulation_too_slow_for_real_time_gives_its_priority_up(run, scheduled, caplog):
    run(1.0, priority=7, cost_s=0.02)
    deadline = time.monotonic() + 30.0
    while scheduled != [7, 0]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert "giving up the real-time priority" in caplog.text


def test_what_publishing_raises_ends_the_thread_and_is_told(simulate, monkeypatch):
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
