import numpy as np
import pytest
from scripted_states import ROBOT, seen, table

from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.model.errors import UserInputError

PAUSE = """
rate: 100
initial: PAUSE
states: {PAUSE: {class: Wait, duration: 0.05}, END: {class: Hold, outcome: ok}}
transitions: {PAUSE: {done: END}}
"""


def test_wait_ends_after_its_time_and_hold_never():
    controller = FsmController(table(PAUSE))
    controller.configure(ROBOT)
    states = []
    for tick in range(10):
        references = controller.step(seen(), 3.0 + tick * 0.01)
        references.dq[:] = 1.0
        references.tau[:] = 2.0
        states.append(controller.machine.state)
    assert states == ["PAUSE"] * 6 + ["END"] * 4, "5 periods, and the transition in the next tick"


def test_hold_sets_velocities_to_zero_and_keeps_efforts():
    controller = FsmController(table(PAUSE))
    controller.configure(ROBOT)
    controller.step(seen(), 0.0).values[1:] = 2.0
    for tick in range(1, 7):
        references = controller.step(seen(), tick * 0.01)
    assert np.array_equal(references.dq, [0.0, 0.0])
    assert np.array_equal(references.tau, [2.0, 2.0])


def test_a_negative_time_is_rejected():
    with pytest.raises(UserInputError, match=r"states.PAUSE: duration -0.05 is negative"):
        table(PAUSE.replace("0.05", "-0.05"))
