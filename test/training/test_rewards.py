"""Terms of the reward of known motions."""

from dataclasses import fields

import numpy as np
import pytest

from training.rewards import Motion, reward_terms, wanted_foot_heights
from training.settings import Weights

HEIGHT, SWING = 0.385, 0.08


def motion(**changes):
    """Return a motion with the commanded velocity, the wanted gait and no cost."""
    phase = changes.pop("phase", np.array(0.25))
    best = Motion(
        linear=np.array([0.6, 0.0, 0.0]),
        angular=np.zeros(3),
        gravity=np.array([0.0, 0.0, -1.0]),
        height=np.array(HEIGHT),
        q=np.zeros(12),
        dq=np.zeros(12),
        effort=np.zeros(12),
        action=np.zeros(12),
        previous_action=np.zeros(12),
        foot_heights=wanted_foot_heights(phase, SWING, np),
        foot_velocities=np.zeros((4, 2)),
        command=np.array([0.6, 0.0, 0.0]),
        is_standing=np.array(0.0),
        phase=phase,
    )
    return best._replace(**changes)


def terms(**changes):
    return reward_terms(motion(**changes), height=HEIGHT, swing_height=SWING, xp=np)


def test_every_term_has_a_weight():
    assert list(terms()) == [field.name for field in fields(Weights)]


def test_the_wanted_motion_has_the_largest_reward_and_no_cost():
    best = terms()
    assert all(best[name] == pytest.approx(1.0) for name in list(best)[:4])
    assert all(best[name] == 0.0 for name in list(best)[4:])


def test_diagonal_feet_swing_together():
    heights = wanted_foot_heights(np.array(0.25), SWING, np)
    np.testing.assert_allclose(heights, [SWING, 0.0, 0.0, SWING], atol=1e-12)
    heights = wanted_foot_heights(np.array(0.75), SWING, np)
    np.testing.assert_allclose(heights, [0.0, SWING, SWING, 0.0], atol=1e-12)
    assert not wanted_foot_heights(np.array(0.0), SWING, np).any()


@pytest.mark.parametrize(
    ("changes", "name", "value"),
    [
        ({"linear": np.array([0.4, 0.1, 0.0])}, "velocity", np.exp(-0.5)),
        ({"angular": np.array([0.0, 0.0, 0.2])}, "yaw_rate", np.exp(-0.4)),
        ({"foot_heights": np.zeros(4)}, "gait", np.exp(-2.0 * SWING**2 / 0.005)),
        ({"gravity": np.array([0.6, 0.0, -0.8])}, "upright", 0.8),
        ({"gravity": np.array([0.0, 0.0, 0.6])}, "upright", 0.0),
        ({"linear": np.array([0.6, 0.0, 0.5])}, "vertical_velocity", 0.25),
        ({"angular": np.array([0.3, 0.4, 0.0])}, "tilt_rate", 0.25),
        ({"gravity": np.array([0.6, 0.0, -0.8])}, "tilt", 0.36),
        ({"height": np.array(HEIGHT - 0.1)}, "height", 0.01),
        ({"effort": np.full(12, 2.0)}, "effort", 48.0),
        ({"effort": np.full(12, -2.0), "dq": np.full(12, 3.0)}, "power", 72.0),
        ({"action": np.full(12, 0.5)}, "action_rate", 3.0),
        ({"q": np.arange(12.0)}, "hips", 0.0 + 9.0 + 36.0 + 81.0),
        ({"foot_velocities": np.full((4, 2), 0.5)}, "slip", 2 * 0.5),
        ({"q": np.full(12, -0.1), "is_standing": np.array(1.0)}, "standing", 1.2),
    ],
)
def test_a_change_of_the_motion_changes_its_term(changes, name, value):
    assert terms(**changes)[name] == pytest.approx(value)


def test_a_robot_that_shall_stand_keeps_its_feet_on_the_ground():
    standing = {"is_standing": np.array(1.0), "command": np.zeros(3), "linear": np.zeros(3)}
    assert terms(**standing, foot_heights=np.zeros(4))["gait"] == pytest.approx(1.0)
    assert terms(**standing)["gait"] < 0.1
