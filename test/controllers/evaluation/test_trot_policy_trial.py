"""The conditions of the trial of trot_policy."""

from types import SimpleNamespace

import numpy as np
import pytest

from mujoco_ros.controllers.evaluation.trial import EpisodeRecorder
from mujoco_ros.controllers.evaluation.trials import trial
from mujoco_ros.controllers.evaluation.trials.trot_policy import (
    POLICY_TROTS,
    PolicyTrots,
    PolicyTrotTrial,
)
from mujoco_ros.controllers.evaluation.variations import free_base
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.sim.simulation import Simulation


def test_conditions_are_drawn_within_their_ranges_and_follow_the_seed():
    tried = trial("trot_policy")
    drawn = [tried.conditions(seed) for seed in range(40)]
    assert drawn == [tried.conditions(seed) for seed in range(40)]
    assert {it["x"] for it in drawn} == {0.6}
    assert all(0.5 <= it["friction"] <= 1.5 and abs(it["com_y"]) <= 0.02 for it in drawn)
    strongest = [max(it[f"push_{number}"] for number in range(5)) for it in drawn]
    assert 0.4 < max(strongest) <= 0.5
    assert all(4.0 < it["push_at_1"] < 8.0 for it in drawn)
    assert "push_5" not in drawn[0]


def test_the_physics_of_an_episode_differ_from_those_of_the_robot():
    tried = trial("trot_policy")
    model, conditions = assemble(tried.scene_config()).model, tried.conditions(1)
    base = free_base(model)
    mass, com = float(model.body_mass[base]), model.body_ipos[base].copy()
    armature, friction = model.dof_armature.copy(), model.geom_friction.copy()
    tried.edit(model, conditions)
    tried.disturb(model, conditions)
    assert model.body_mass[base] == pytest.approx(conditions["trunk_mass"] * mass)
    offset = [conditions[f"com_{axis}"] for axis in "xyz"]
    np.testing.assert_allclose(model.body_ipos[base] - com, offset)
    np.testing.assert_allclose(model.dof_armature, conditions["armature"] * armature)
    np.testing.assert_allclose(model.geom_friction[:, 0], conditions["friction"] * friction[:, 0])


@pytest.mark.parametrize(
    ("changes", "flaw"),
    [
        ({}, ""),
        ({"height": 0.5}, "fell"),
        ({"tilt": 0.5}, "fell"),
        ({"velocity_error": 0.15}, "velocity"),
        ({"velocity_error": np.nan}, "velocity"),
        ({"yaw_rate_error": 0.11}, "turn"),
        ({"velocity_error": 0.13, "yaw_rate_error": 0.09}, ""),
    ],
)
def test_a_wrong_velocity_is_a_failure(changes, flaw):
    measures = {
        "height": 0.95,
        "tilt": 0.02,
        "speed": 0.6,
        "velocity_error": 0.02,
        "yaw_rate": 0.3,
        "yaw_rate_error": 0.01,
    }
    assert PolicyTrotTrial().flaw({**measures, **changes}) == flaw


def test_the_path_is_measured_along_the_heading():
    simulation = Simulation(trial("trot_policy").scene_config())
    host = SimpleNamespace(
        ticks=0,
        supervised=SimpleNamespace(
            state="WALK",
            machine=SimpleNamespace(state="WALK"),
            controller=SimpleNamespace(store={}),
        ),
    )
    recorder = EpisodeRecorder(simulation, host)
    base = simulation.layout.robots[0].bases[0].qpos
    for angle in np.linspace(0.0, 2.0 * np.pi, 1000):  # a circle to the left
        place = np.sin(angle), 1.0 - np.cos(angle)
        simulation.sample.qpos[base : base + 2] = place
        simulation.sample.qpos[base + 3 : base + 7] = np.cos(angle / 2), 0, 0, np.sin(angle / 2)
        host.ticks += 1
        assert recorder.record()
    np.testing.assert_allclose(recorder.travelled, [2.0 * np.pi, 0.0], atol=0.03)


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"push": (0.2, 0.1)}, r"push from 0\.2 to 0\.1 is reversed"),
        ({"trunk_mass": (0.0, 1.0)}, "trunk_mass must be positive, got 0"),
        ({"push_period": 0.0}, "push_period must be positive, got 0"),
    ],
)
def test_ranges_that_make_no_sense_are_an_error(ranges, message):
    with pytest.raises(UserInputError, match=message):
        PolicyTrots(**ranges)


def test_all_named_conditions_have_pushes():
    assert all(it.push == (0.0, 0.5) and it.duration == 20.0 for it in POLICY_TROTS.values())
