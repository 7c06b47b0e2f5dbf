"""A controller under supervision."""

import numpy as np
import pytest
from hosted import controller
from scripted import ROBOT, seen

from mujoco_ros.controllers.fsm.transition import TransitionRejectedError
from mujoco_ros.controllers.runtime.supervisor import SupervisedController

TABLE = """
rate: 100
initial: IDLE
states:
  IDLE: {class: Hold}
  RAMP: {class: Ramp}
transitions:
  IDLE: {go: {to: RAMP, trigger: request}}
  RAMP: {done: IDLE}
"""


@pytest.fixture
def runner() -> SupervisedController:
    runner = SupervisedController(controller(TABLE))
    runner.configure(ROBOT)
    return runner


def test_what_happens_is_told_once(runner):
    told = []
    runner.on_change = lambda: told.append((runner.state, len(runner.events)))
    runner.step(seen(), 0.0)
    assert told == [], "it was in IDLE before"
    runner.request("go")
    runner.step(seen(), 0.01)
    runner.step(seen(), 0.02)
    assert told == [("RAMP", 1)]


def test_joints_are_told_nothing_before_a_state_tells_them_something(runner):
    values = runner.step(seen(0.3), 0.0)
    assert np.isnan(values).all()
    runner.request("go")
    for tick in range(1, 4):
        values = runner.step(seen(0.2), 0.01 * tick)
    assert values[0].tolist() == pytest.approx([0.32, np.nan], nan_ok=True)
    runner.reset()
    assert np.isnan(runner.step(seen(0.2), 0.0)).all()


def test_while_it_is_paused_that_is_its_state_and_nothing_can_be_asked_for(runner):
    runner.step(seen(), 0.0)
    assert [transition.label for transition in runner.available] == ["go"]
    runner.pause("waiting")
    assert runner.state == "waiting"
    assert runner.available == ()
    with pytest.raises(TransitionRejectedError, match=r"'go' is not available: .* is waiting"):
        runner.request("go")
    runner.go_on()
    assert runner.state == "IDLE"
    assert runner.request("go").goal == "RAMP"


def test_one_that_was_stopped_refuses_with_the_reason(runner, caplog):
    runner.step(seen(), 0.0)
    runner.stop("enough")
    assert runner.step(seen(), 0.01) is None
    assert runner.state == "error"
    assert "the controller was stopped in IDLE: enough" in caplog.text
    with pytest.raises(TransitionRejectedError, match=r"was stopped \(enough\); a reset starts"):
        runner.request("go")
