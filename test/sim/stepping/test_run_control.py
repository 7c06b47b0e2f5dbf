from collections.abc import Callable

import numpy as np
import pytest

from mujoco_ros.control.events import CommandSource, SimulationReset
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.model.scene.limits import END_OF_TIME_S
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.run_control import RunControl, RunError, RunState, Steps

ARM = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body name="upper"><joint name="j" axis="0 0 1"/><geom size="0.1" mass="1"/></body>
  </worldbody>
  <actuator><motor joint="j"/></actuator>
</mujoco>"""


class Stepper:
    """The cycle of the physics thread without a clock."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.run = RunControl(simulation)

    def turn(self, count: int = 1) -> None:
        for _ in range(count):
            if not self.simulation.paused:
                self.simulation.step()
                if self.run.stepping:
                    self.run.count_step()

    def resets(self) -> list[SimulationReset]:
        return [event for event in self.simulation.events if isinstance(event, SimulationReset)]


class Asked(Steps):
    """Steps that record their callbacks."""

    def __init__(self, count: int) -> None:
        self.ends: list[str] = []
        self.seen: list[tuple[int, int]] = []
        super().__init__(
            count, self.ends.append, lambda: self.seen.append((self.completed, self.remaining))
        )


@pytest.fixture
def stepper(simulate: Callable[..., Simulation]) -> Stepper:
    simulation = simulate(ARM, gains={"j": (10.0, 1.0)})
    simulation.events.clear()
    return Stepper(simulation)


def test_it_plays_pauses_and_stops(stepper):
    run = stepper.run
    assert run.state is RunState.PLAYING
    stepper.turn(5)
    run.pause()
    assert run.state is RunState.PAUSED
    stepper.turn(5)
    assert stepper.simulation.data.time == pytest.approx(0.005)
    assert stepper.resets() == [], "a pause keeps the state"
    run.stop(time=0.0)
    assert run.state is RunState.STOPPED
    assert stepper.simulation.data.time == 0.0
    assert len(stepper.resets()) == 1
    run.pause()
    assert run.state is RunState.PAUSED
    assert len(stepper.resets()) == 1, "it was at the start already"
    run.stop(time=0.0)
    run.play()
    assert run.state is RunState.PLAYING
    stepper.turn(3)
    assert stepper.simulation.data.time == pytest.approx(0.003)


def test_a_pause_after_divergence_is_not_a_stop(simulate):
    stepper = Stepper(simulate(ARM, gains={"j": (10.0, 1.0)}, on_divergence="pause"))
    stepper.run.stop(time=0.0)
    stepper.run.play()
    stepper.simulation.data.qvel[0] = np.nan
    stepper.turn()
    assert stepper.run.state is RunState.PAUSED


def test_steps_are_taken_one_by_one_and_the_simulation_is_paused_again(stepper):
    stepper.run.pause()
    steps = Asked(3)
    stepper.run.take_steps(steps)
    assert stepper.run.stepping
    assert stepper.run.state is RunState.PLAYING
    stepper.turn(10)
    assert stepper.simulation.data.time == pytest.approx(0.003)
    assert steps.seen == [(1, 2), (2, 1), (3, 0)]
    assert steps.ends == [""]
    assert not stepper.run.stepping
    assert stepper.run.state is RunState.PAUSED
    assert not stepper.run.stepping


def test_the_last_step_is_marked_while_it_is_taken(stepper):
    stepper.run.pause()
    assert not stepper.run.is_last()
    lasts: list[bool] = []
    step = stepper.simulation.step
    stepper.simulation.step = lambda: lasts.append(stepper.run.is_last()) or step()
    stepper.run.take_steps(Asked(3))
    stepper.turn(5)
    assert lasts == [False, False, True]
    stepper.run.play()
    stepper.turn(2)
    assert lasts[3:] == [False, False]


def test_a_request_for_zero_steps_ends_at_once(stepper):
    stepper.run.pause()
    steps = Asked(0)
    stepper.run.take_steps(steps)
    assert steps.ends == [""]
    assert stepper.run.state is RunState.PAUSED


@pytest.mark.parametrize(
    ("prepare", "what"),
    [
        (lambda run: run.play(), "is playing"),
        (lambda run: run.stop(time=0.0), "is stopped"),
        (lambda run: run.take_steps(Asked(2)), "takes steps already"),
    ],
    ids=["playing", "stopped", "stepping"],
)
def test_steps_are_refused_unless_the_simulation_is_paused(stepper, prepare, what):
    stepper.run.pause()
    prepare(stepper.run)
    refused = Asked(1)
    with pytest.raises(RunError, match=what):
        stepper.run.take_steps(refused)
    stepper.turn(2)
    assert refused.completed == 0
    assert refused.ends == []


@pytest.mark.parametrize(
    ("interrupt", "reason", "state"),
    [
        (lambda run: run.play(), "the simulation was played", RunState.PLAYING),
        (lambda run: run.pause(), "the simulation was paused", RunState.PAUSED),
        (lambda run: run.stop(time=0.0), "the simulation was paused", RunState.STOPPED),
        (lambda run: run.reset(time=0.0), "the simulation was reset", RunState.PAUSED),
        (lambda run: run.end_steps("canceled"), "canceled", RunState.PAUSED),
    ],
    ids=["play", "pause", "stop", "reset", "cancel"],
)
def test_steps_that_are_interrupted_end_once_with_the_reason(stepper, interrupt, reason, state):
    stepper.run.pause()
    steps = Asked(10)
    stepper.run.take_steps(steps)
    stepper.turn(4)
    interrupt(stepper.run)
    stepper.turn(20)
    assert steps.ends == [reason]
    assert (steps.completed, steps.remaining) == (4, 6)
    assert stepper.run.state is state


def test_an_interruption_of_earlier_steps_does_not_end_the_current_ones(stepper):
    stepper.run.pause()
    first, second = Asked(2), Asked(2)
    stepper.run.take_steps(first)
    stepper.turn(2)
    stepper.run.take_steps(second)
    stepper.run.end_steps("canceled", only=first)
    stepper.turn(2)
    assert second.ends == [""]


@pytest.mark.parametrize("on_divergence", ["reset", "pause"])
@pytest.mark.parametrize("last", [False, True])
def test_steps_end_when_the_simulation_diverges(simulate, on_divergence, last):
    stepper = Stepper(simulate(ARM, gains={"j": (10.0, 1.0)}, on_divergence=on_divergence))
    stepper.run.pause()
    steps = Asked(1 if last else 5)
    stepper.run.take_steps(steps)
    stepper.simulation.data.qvel[0] = np.nan
    stepper.turn(10)
    assert steps.ends == ["the simulation diverged"]
    assert stepper.run.state is RunState.PAUSED


def test_a_reset_does_not_change_playing_or_paused(stepper):
    stepper.turn(5)
    stepper.run.reset(time=0.0)
    assert stepper.run.state is RunState.PLAYING
    stepper.run.pause()
    stepper.run.reset(time=0.0)
    assert stepper.run.state is RunState.PAUSED


def test_a_reset_restores_the_initial_state_and_sets_the_requested_time(stepper):
    stepper.simulation.references.q[0] = 1.0
    stepper.turn(50)
    assert stepper.simulation.data.qpos[0] > 0.0
    stepper.run.reset(time=0.0)
    (event,) = stepper.resets()
    assert (event.time, event.before, event.state) == (0.0, pytest.approx(0.05), True)
    assert stepper.simulation.data.qpos[0] == 0.0
    assert stepper.simulation.references.q[0] == 0.0


def test_a_reset_of_the_state_alone_continues_the_time(stepper):
    stepper.simulation.references.q[0] = 1.0
    stepper.turn(50)
    stepper.run.reset(time=None)
    (event,) = stepper.resets()
    assert event.time == event.before == pytest.approx(0.05)
    assert stepper.simulation.data.qpos[0] == 0.0
    stepper.turn()
    assert stepper.simulation.time == pytest.approx(0.05), "no stamp comes twice"


def test_a_reset_of_the_time_alone_keeps_the_state_and_ends_timed_commands(stepper):
    control = stepper.simulation.controls[0]
    turn = joint_command(control.joints, "clamp", ["j"], [[], [2.0], []])
    control.command(CommandSource.VELOCITY, turn, 0.0)
    stepper.turn(50)
    qpos, reference = float(stepper.simulation.data.qpos[0]), float(control.references.q[0])
    assert reference > 0.05
    stepper.run.reset(time=0.0, state=False)
    (event,) = stepper.resets()
    assert (event.time, event.before, event.state) == (0.0, pytest.approx(0.05), False)
    assert stepper.simulation.data.qpos[0] == qpos
    assert not control.active
    stepper.turn(10)
    assert control.references.q[0] == reference
    assert control.references.dq[0] == 0.0
    assert stepper.simulation.time == pytest.approx(0.009)


def test_a_reset_without_scopes_emits_no_event(stepper):
    stepper.turn(5)
    stepper.run.reset(time=None, state=False)
    assert stepper.resets() == []
    assert stepper.simulation.data.time == pytest.approx(0.005)


def test_a_reset_of_the_time_alone_ends_a_stream_of_efforts_at_the_measured_position(stepper):
    (control,) = stepper.simulation.controls
    push = joint_command(control.joints, "clamp", ["j"], [[], [], [5.0]])
    control.command(CommandSource.EFFORT, push, 0.0)
    stepper.turn(50)
    stepper.run.reset(time=0.0, state=False)
    assert control.references.tau[0] == 0.0
    assert control.references.q[0] == stepper.simulation.data.qpos[0] > 0.0


def test_requested_steps_end_at_the_end_of_ros_time(stepper):
    stepper.run.pause()
    stepper.simulation.set_time(END_OF_TIME_S - 0.0035)
    steps = Asked(100)
    stepper.run.take_steps(steps)
    stepper.turn(100)
    assert steps.ends == ["the simulated time is at the end of ROS time, 2^31 s"]
    assert len(steps.seen) == steps.completed == 3
    assert stepper.run.state is RunState.PAUSED


def test_requested_steps_end_when_a_step_pauses_the_simulation(stepper, monkeypatch):
    def step() -> bool:
        stepper.simulation.paused = True  # as an extension that fails
        return Simulation.step(stepper.simulation)

    monkeypatch.setattr(stepper.simulation, "step", step)
    stepper.run.pause()
    steps = Asked(3)
    stepper.run.take_steps(steps)
    stepper.turn(3)
    assert steps.ends == ["the simulation was paused"]
    assert steps.completed == 1
