import numpy as np
import pytest

from mujoco_ros.identification.replay import DelayedReferences

TIMES = np.arange(0.0, 1.0, 0.001)
VALUES = np.random.default_rng(1).normal(size=(len(TIMES), 2))


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_a_delay_of_whole_steps_shifts_the_commands(steps):
    held = DelayedReferences(TIMES, VALUES, "hold").at(TIMES, 0.001, 0.001 * steps)
    assert held[steps:] == pytest.approx(VALUES[: len(TIMES) - steps], abs=1e-9)
    assert held[:steps] == pytest.approx(np.tile(VALUES[0], (steps, 1)), abs=1e-9)


def test_half_a_step_is_the_mean_of_two_commands():
    held = DelayedReferences(TIMES, VALUES, "hold").at(TIMES[1:], 0.001, 0.0005)
    assert held == pytest.approx(0.5 * (VALUES[1:] + VALUES[:-1]), abs=1e-9)


def test_linear_references_are_between_the_commands():
    linear = DelayedReferences(TIMES[::10], VALUES[::10], "linear")
    between = linear.at(TIMES[:10], 0.001, 0.0)
    assert between == pytest.approx(np.linspace(VALUES[0], VALUES[10], 10, endpoint=False))


def test_commands_hold_after_the_last_one():
    late = DelayedReferences(TIMES, VALUES, "hold").at(np.array([5.0]), 0.001, 0.0)
    assert late[0] == pytest.approx(VALUES[-1])
