"""The environment of the training, where brax and MuJoCo MJX are installed."""

import numpy as np
import pytest

pytest.importorskip("brax", reason="brax is missing; `make train-test` installs it")
pytest.importorskip("mujoco.mjx", reason="mujoco-mjx is missing; `make train-test` installs it")

import jax

from training.environment import CRITIC, POLICY, TrotEnvironment
from training.policy_table import load_policy_table
from training.robot_model import make_robot
from training.settings import Settings


def test_a_robot_stands_with_the_default_pose_and_its_observations_are_finite():
    table, settings = load_policy_table(), Settings()
    environment = TrotEnvironment(make_robot(table, settings.timestep), table, settings)
    state = jax.jit(environment.reset)(jax.random.PRNGKey(3))
    step = jax.jit(environment.step)
    for _ in range(25):
        state = step(state, np.zeros(12))
        assert not state.done
    assert state.obs[POLICY].shape == (environment.observation_size[POLICY],) == (47,)
    assert all(np.isfinite(state.obs[name]).all() for name in (POLICY, CRITIC))
    assert state.reward > 0.0
