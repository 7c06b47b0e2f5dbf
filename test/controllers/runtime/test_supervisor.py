"""A controller under supervision."""

import numpy as np
import pytest
from sample_states import controller
from scripted_states import ROBOT, seen

from mujoco_ros.controllers.fsm.table import TransitionRejectedError
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
def supervised() -> SupervisedController:
    supervised = SupervisedController(controller(TABLE), lambda: 7.0)
    supervised.configure(ROBOT)
    return supervised


def test_a_change_is_reported_once(supervised):
    changes = []
    supervised.on_change.append(lambda: changes.append((supervised.state, supervised.log.count)))
    supervised.step(seen(), 0.0)
    assert changes == [], "it was in IDLE before"
    supervised.request("go")
    supervised.step(seen(), 0.01)
    supervised.step(seen(), 0.02)
    assert changes == [("RAMP", 1)]


def test_no_joint_is_commanded_until_a_state_requests_motion(supervised):
    values = supervised.step(seen(0.3), 0.0)
    assert np.isnan(values).all()
    supervised.request("go")
    for tick in range(1, 4):
        values = supervised.step(seen(0.2), 0.01 * tick)
    assert values[0].tolist() == pytest.approx([0.32, np.nan], nan_ok=True)
    supervised.reset()
    assert np.isnan(supervised.step(seen(0.2), 0.0)).all()


def test_a_pause_is_a_state_without_available_transitions(supervised):
    supervised.step(seen(), 0.0)
    assert [transition.label for transition in supervised.available] == ["go"]
    supervised.pause("waiting")
    assert supervised.state == "waiting"
    assert supervised.available == ()
    with pytest.raises(TransitionRejectedError, match=r"'go' is not available: .* is waiting"):
        supervised.request("go")
    supervised.resume()
    assert supervised.state == "IDLE"
    assert supervised.request("go").goal == "RAMP"


def test_a_stopped_controller_rejects_requests_with_the_reason(supervised, caplog):
    supervised.step(seen(), 0.0)
    supervised.stop("enough")
    assert supervised.step(seen(), 0.01) is None
    assert supervised.state == "error"
    assert "controller 'test' stopped in IDLE: enough" in caplog.text
    with pytest.raises(TransitionRejectedError, match=r"was stopped \(enough\); a reset restarts"):
        supervised.request("go")
