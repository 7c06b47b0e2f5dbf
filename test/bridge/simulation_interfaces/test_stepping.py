import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from simulation_interfaces.msg import Result
from simulator_client import PAUSED, PLAYING, STOPPED, SimulatorClient
from simulators import steps_of

FAILED = Result.RESULT_OPERATION_FAILED


@pytest.fixture
def paused(remote: SimulatorClient) -> SimulatorClient:
    remote.ensure_state(PAUSED)
    remote.settle_and_clear()
    return remote


@pytest.mark.parametrize("count", [1, 7, 500])
def test_the_requested_number_of_steps_is_taken(paused: SimulatorClient, count: int):
    assert paused.step().result == Result.RESULT_OK
    assert paused.listener.spin_until(lambda: len(paused.clock) > 0)
    before = steps_of(paused.clock.messages)[-1]
    assert paused.step(count).result == Result.RESULT_OK
    assert paused.state == PAUSED
    assert paused.listener.spin_until(lambda: steps_of(paused.clock.messages)[-1] == before + count)
    paused.listener.spin_for(0.2)
    assert steps_of(paused.clock.messages)[-1] == before + count


def test_the_state_after_the_last_step_is_published_at_any_rate(paused: SimulatorClient):
    for _ in range(20):
        assert paused.step().result == Result.RESULT_OK
    for recording in (paused.clock, paused.joint_states):
        assert paused.listener.spin_until(lambda recording=recording: len(recording) >= 20)
        steps = steps_of(recording.messages)
        assert len(steps) == 20
        assert (np.diff(steps) == 1).all()


def test_topics_keep_their_rates_during_many_steps(paused: SimulatorClient):
    assert paused.step(100).result == Result.RESULT_OK
    assert paused.step(1).result == Result.RESULT_OK
    paused.settle()
    steps = steps_of(paused.clock.messages)
    assert len(steps) <= 52, "500 Hz of 1000, and the last of each"
    assert all(step % 2 == 0 for step in steps[:-2])


@pytest.mark.parametrize("state", [PLAYING, STOPPED])
def test_steps_are_refused_unless_the_simulation_is_paused(remote: SimulatorClient, state: int):
    remote.ensure_state(state)
    result = remote.step()
    assert result.result == FAILED
    assert "only a paused simulation takes steps" in result.error_message
    assert remote.state == state


def test_a_second_request_for_steps_is_refused_while_the_first_one_runs(paused: SimulatorClient):
    first = paused.request("StepSimulation", steps=10**12)
    paused.listener.spin_until(lambda: len(paused.clock) > 0)
    assert paused.state == PLAYING
    second = paused.step()
    assert second.result == FAILED
    assert "takes steps already" in second.error_message
    assert not first.done()
    assert paused.set_state(PAUSED).result == Result.RESULT_OK
    result = paused.listener.result(first).result
    assert result.result == FAILED
    assert result.error_message.startswith("the simulation was paused after ")


def test_the_action_takes_steps_and_sends_feedback_for_each(paused: SimulatorClient):
    handle = paused.simulate_steps(8)
    assert handle.accepted
    response = paused.listener.result(handle.get_result_async())
    assert response.status == GoalStatus.STATUS_SUCCEEDED
    assert response.result.result.result == Result.RESULT_OK
    assert paused.listener.spin_until(lambda: len(paused.feedback(handle)) == 8)
    assert paused.feedback(handle) == [(done, 8 - done) for done in range(1, 9)]
    assert paused.state == PAUSED


def test_the_feedback_of_many_steps_does_not_fall_behind(paused: SimulatorClient):
    handle = paused.simulate_steps(2000)
    response = paused.listener.result(handle.get_result_async())
    assert response.status == GoalStatus.STATUS_SUCCEEDED
    assert paused.listener.spin_until(lambda: (2000, 0) in paused.feedback(handle))
    completed = [done for done, _ in paused.feedback(handle)]
    assert completed == sorted(set(completed))
    assert len(completed) < 1000, "no client can listen that quickly"


def test_the_action_is_aborted_unless_the_simulation_is_paused(remote: SimulatorClient):
    handle = remote.simulate_steps(3)
    response = remote.listener.result(handle.get_result_async())
    assert response.status == GoalStatus.STATUS_ABORTED
    assert response.result.result.result == FAILED
    assert "only a paused simulation" in response.result.result.error_message


def test_a_canceled_action_stops_before_its_last_step(paused: SimulatorClient):
    handle = paused.simulate_steps(10**12)
    assert paused.listener.spin_until(lambda: len(paused.clock) > 0)
    paused.listener.result(handle.cancel_goal_async())
    response = paused.listener.result(handle.get_result_async())
    assert response.status == GoalStatus.STATUS_CANCELED
    assert response.result.result.result == FAILED
    assert response.result.result.error_message.startswith("canceled after ")
    assert paused.state == PAUSED
    assert paused.step().result == Result.RESULT_OK


def test_a_reset_ends_steps(paused: SimulatorClient):
    handle = paused.simulate_steps(10**12)
    assert paused.listener.spin_until(lambda: len(paused.clock) > 0)
    assert paused.call("ResetSimulation").result.result == Result.RESULT_OK
    response = paused.listener.result(handle.get_result_async())
    assert response.status == GoalStatus.STATUS_ABORTED
    assert response.result.result.error_message.startswith("the simulation was reset after ")
    assert paused.state == PAUSED
