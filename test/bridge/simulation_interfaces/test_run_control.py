from types import SimpleNamespace
from typing import Any

import pytest
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import SetSimulationState
from simulator_client import PAUSED, PLAYING, STOPPED, SimulatorClient
from simulators import WAIT_LIMIT_S, SimulatorLauncher, steps_of
from threads import RecordingResponder, Threads

from mujoco_ros.bridge.simulation_interfaces.run_control import RunControlServices
from mujoco_ros.sim.command_queue import CommandQueue
from mujoco_ros.sim.stepping.run_control import RunState

OK = Result.RESULT_OK
ALREADY = SetSimulationState.Response.ALREADY_IN_TARGET_STATE
INCORRECT = SetSimulationState.Response.INCORRECT_TRANSITION


def test_a_simulation_plays_at_first(remote: SimulatorClient):
    assert remote.state == PLAYING
    assert remote.listener.spin_until(lambda: len(remote.clock) > 10)


def test_a_paused_simulation_does_not_step_and_resumes_from_its_state(remote: SimulatorClient):
    assert remote.set_state(PAUSED).result == OK
    assert remote.state == PAUSED
    remote.settle_and_clear()
    remote.listener.spin_for(0.3)
    assert steps_of(remote.clock.messages) == []
    assert remote.set_state(PLAYING).result == OK
    assert remote.listener.spin_until(lambda: len(remote.clock) > 50)
    assert len(remote.resets) == 0


def test_resuming_does_not_catch_up_the_pause(remote: SimulatorClient):
    remote.ensure_state(PAUSED)
    before = remote.time() if len(remote.clock) else 0.0
    remote.listener.spin_for(1.0)
    remote.clock.raw.clear()
    begin = remote.listener.node.get_clock().now()
    remote.ensure_state(PLAYING)
    assert remote.listener.spin_until(lambda: len(remote.clock) > 100)
    wall = (remote.listener.node.get_clock().now() - begin).nanoseconds * 1e-9
    first = remote.clock.messages[0].clock
    passed = remote.time() - (first.sec + 1e-9 * first.nanosec)
    assert before == 0.0 or remote.time() > before
    assert passed < wall + 0.06, "no more than the usual catching up"


def test_a_stopped_simulation_is_reset_and_does_not_step(remote: SimulatorClient):
    assert remote.listener.spin_until(lambda: len(remote.clock) > 100)
    assert remote.set_state(STOPPED).result == OK
    assert remote.state == STOPPED
    assert remote.listener.spin_until(lambda: len(remote.resets) == 1)
    remote.settle()
    before = steps_of(remote.clock.messages)[-1]
    remote.clear_recordings()
    remote.listener.spin_for(0.2)
    assert steps_of(remote.clock.messages) == []
    assert remote.set_state(PLAYING).result == OK
    assert remote.listener.spin_until(lambda: len(remote.clock) > 10)
    # An overloaded machine loses messages, maybe the first.
    assert steps_of(remote.clock.messages)[0] < before
    assert remote.state == PLAYING


def test_the_first_step_after_a_stop_is_the_first_of_the_simulation(remote: SimulatorClient):
    remote.ensure_state(STOPPED)
    remote.ensure_state(PAUSED)
    remote.settle_and_clear()
    assert remote.step().result == OK
    remote.settle()
    assert steps_of(remote.clock.messages) == [0]


@pytest.mark.parametrize("state", [PLAYING, PAUSED, STOPPED])
def test_the_present_state_cannot_be_set_again(remote: SimulatorClient, state: int):
    remote.ensure_state(state)
    result = remote.set_state(state)
    assert result.result == ALREADY
    assert result.error_message.endswith("already")
    assert remote.state == state


@pytest.mark.parametrize(
    "state", [SimulationState.STATE_NO_WORLD, SimulationState.STATE_LOADING_WORLD, 77]
)
def test_a_state_that_clients_cannot_set_is_refused(remote: SimulatorClient, state: int):
    result = remote.set_state(state)
    assert result.result == INCORRECT
    assert "STOPPED, PLAYING, PAUSED, QUITTING" in result.error_message
    assert remote.state == PLAYING


@pytest.mark.parametrize("present", [PLAYING, PAUSED, STOPPED])
def test_quitting_sends_a_response_and_ends_the_process(start: SimulatorLauncher, present: int):
    remote = SimulatorClient(start)
    remote.ensure_state(present)
    assert remote.set_state(SimulationState.STATE_QUITTING).result == OK
    assert remote.simulator.process.wait(WAIT_LIMIT_S) == 0
    assert remote.simulator.warnings() == []


@pytest.mark.parametrize("present", [PAUSED, STOPPED])
def test_an_interrupt_ends_a_paused_simulation(start: SimulatorLauncher, present: int):
    remote = SimulatorClient(start)
    remote.ensure_state(present)
    assert remote.simulator.stop() == 0
    assert remote.simulator.warnings() == []


def test_an_interrupt_during_steps_answers_the_waiting_clients(start: SimulatorLauncher):
    remote = SimulatorClient(start)
    remote.ensure_state(PAUSED)
    remote.settle_and_clear()
    response = remote.request("StepSimulation", steps=10**12)
    assert remote.listener.spin_until(lambda: len(remote.clock) > 0)
    assert remote.simulator.stop() == 0
    result = remote.listener.result(response).result
    assert result.result == Result.RESULT_OPERATION_FAILED
    assert "shutting down" in result.error_message


def test_a_stop_that_is_refused_as_busy_changes_nothing():
    threads, handlers, undone = Threads(CommandQueue(1)), {}, []
    interfaces: Any = SimpleNamespace(
        serve=lambda name, handler, *_: handlers.update({name: handler}), action=lambda *_: None
    )
    run = SimpleNamespace(
        state=RunState.PLAYING,
        stepping=False,
        pause=lambda: undone.append("pause"),
        stop=lambda time: undone.append("stop"),
    )

    def delete_spawned(done):
        undone.append("delete")
        done(None)

    resetting: Any = SimpleNamespace(time=0.0, delete_spawned=delete_spawned)
    context: Any = SimpleNamespace(
        node=threads.node,
        quit=lambda: None,
        run=run,
        simulation=SimpleNamespace(commands=threads.commands),
    )
    RunControlServices(context, interfaces, resetting, lambda: None)
    request = SetSimulationState.Request(state=SimulationState(state=STOPPED))

    def stop() -> tuple[int, str]:
        responder = RecordingResponder(SetSimulationState.Response())
        responder.attempt(lambda: handlers["SetSimulationState"](request, responder))
        for _ in range(3):
            threads.physics()
            threads.executor()
        return responder.result

    threads.commands.submit(lambda: None)
    code, message = stop()
    assert code == Result.RESULT_OPERATION_FAILED
    assert message.startswith("busy")
    assert undone == []
    assert stop() == (OK, "")
    assert undone == ["pause", "delete", "stop"]
