"""The conditions of the trial of walk."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.evaluation.trial import EpisodeRecorder, EstimateError
from mujoco_ros.controllers.evaluation.trials import trial
from mujoco_ros.controllers.evaluation.trials.legged import WALKS, Walks, WalkTrial
from mujoco_ros.controllers.evaluation.variations import (
    delayed_commands,
    free_base,
    scale_masses,
    tilt_floor,
)
from mujoco_ros.controllers.interface.observation import BaseReading, Pose
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.sim.simulation import Simulation

BOX = """<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1"/>
<body pos="0.3 0 0.1"><freejoint/><geom name="box" type="box" size="0.1 0.1 0.1"/></body>
</worldbody></mujoco>"""


def test_conditions_are_drawn_within_their_ranges_and_follow_the_seed():
    tried = WalkTrial(ranges=WALKS["randomised"])
    drawn = [tried.conditions(seed) for seed in range(40)]
    assert drawn == [tried.conditions(seed) for seed in range(40)]
    assert all(0.6 <= it["friction"] <= 1.4 and it["delay"] == 0.005 for it in drawn)
    pushes = [it["push_4"] for it in drawn]
    assert 0.0 <= min(pushes) < max(pushes) <= 0.1
    assert all(1.0 < it["push_at_0"] < it["push_at_4"] < 16.0 for it in drawn)
    assert "push_5" not in drawn[0]


def test_a_pushed_robot_gets_the_impulse_of_its_conditions():
    tried = WalkTrial(ranges=Walks(push=(0.1, 0.1)))
    simulation, conditions = Simulation(tried.scene_config()), tried.conditions(3)
    base, impulse = free_base(simulation.model), np.zeros(3)
    for step in range(4200):
        assert simulation.step()
        if step % 5 == 4:
            tried.act(simulation, lambda _label: None, conditions)
        impulse += simulation.data.xfrc_applied[base, :3] * 0.001
    mass = float(simulation.model.body_subtreemass[base])
    assert np.hypot(*impulse[:2]) == pytest.approx(0.1 * mass, rel=0.06)


def test_a_tilted_floor_stays_below_the_base():
    model = mujoco.MjModel.from_xml_string(BOX)
    tilt_floor(model, 0.1, np.pi / 2)  # rises to the left
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    floor = data.geom("floor").xmat.reshape(3, 3)
    np.testing.assert_allclose(floor[:, 2], (0.0, -np.sin(0.1), np.cos(0.1)), atol=1e-12)
    assert floor[:, 2] @ data.geom("box").xpos == pytest.approx(0.1)
    np.testing.assert_allclose(data.geom("box").xmat.reshape(3, 3)[:, 2], floor[:, 2], atol=1e-12)


def test_masses_are_scaled_with_their_inertias():
    model = mujoco.MjModel.from_xml_string(BOX)
    mass, inertia = model.body_mass.copy(), model.body_inertia.copy()
    scale_masses(model, np.array([1.0, 1.05]))
    np.testing.assert_allclose(model.body_mass, mass * (1.0, 1.05))
    np.testing.assert_allclose(model.body_inertia[1], 1.05 * inertia[1])


@pytest.mark.parametrize(("delay", "late"), [(0.0, 0), (0.005, 1), (0.012, 3)])
def test_commands_are_delayed_by_whole_ticks(delay, late):
    apply = delayed_commands(delay)
    given = [np.full((3, 2), float(tick)) for tick in range(10)]
    acts = [float(apply(0.005 * tick, values)[0, 0]) for tick, values in enumerate(given)]
    assert acts == [max(0.0, tick - late) for tick in range(10)]


def test_the_error_of_an_estimate_is_relative_to_its_start():
    error, turn = EstimateError(), np.array([np.cos(0.005), np.sin(0.005), 0.0, 0.0])
    for number in range(11):
        estimate = BaseReading(
            pose=Pose(position=np.array([1.02 * number - 3.0, 0.0, 0.0]), quat_wxyz=turn),
            linear=np.array([1.0, 0.0, 0.3]),
            angular=np.zeros(3),
        )
        truth = np.array([1.0 * number, 2.0, 0.8, 1.0, 0.0, 0.0, 0.0])
        error.add(estimate, truth, np.array([1.0, 0.4, 0.0, 0.0, 0.0, 0.0]))
    metrics = error.metrics()
    assert metrics["estimate_drift"] == pytest.approx(0.2)
    assert metrics["estimate_path"] == pytest.approx(10.0)
    assert metrics["estimate_relative_drift"] == pytest.approx(0.02)
    assert metrics["estimate_tilt"] == pytest.approx(0.01, rel=1e-3)
    assert metrics["estimate_velocity"] == pytest.approx(0.5)
    assert EstimateError().metrics() == {}


def test_plates_are_in_the_world_of_their_conditions():
    model = assemble(trial("walk", "forwards_on_plates").scene_config()).model
    assert model.geom("across00").size[2] == 0.005


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"push": (0.2, 0.1)}, r"push from 0\.2 to 0\.1 is reversed"),
        ({"mass": (0.0, 1.0)}, "mass must be positive, got 0"),
        ({"delay": (-0.1, 0.0)}, r"delay must not be negative, got -0\.1"),
        ({"duration": 0.0}, "duration must be positive, got 0"),
    ],
)
def test_ranges_that_make_no_sense_are_an_error(ranges, message):
    with pytest.raises(UserInputError, match=message):
        Walks(**ranges)


@pytest.mark.parametrize(
    ("changes", "flaw"),
    [
        ({}, ""),
        ({"height": 0.7}, "fell"),
        ({"tilt": 0.2}, "fell"),
        ({"walked": 2.0}, "distance"),
        ({"turned": 0.0}, "turn"),
        ({"turned": 17.0}, "turn"),
        ({"turned": -20.9}, "turn"),
        ({"turned": 18.0}, ""),
    ],
)
def test_a_wrong_distance_or_turn_is_a_failure(changes, flaw):
    measures = {
        "height": 1.0,
        "tilt": 0.01,
        "walked": 3.0,
        "commanded": 3.1,
        "turned": 20.5,
        "commanded_turn": 20.9,
    }
    assert WalkTrial().flaw({**measures, **changes}) == flaw


def test_the_turn_of_a_base_is_counted_over_whole_turns():
    simulation = Simulation(WalkTrial().scene_config())
    host = SimpleNamespace(
        ticks=0,
        supervised=SimpleNamespace(
            state="STAND",
            machine=SimpleNamespace(state="STAND"),
            controller=SimpleNamespace(store={}),
        ),
    )
    recorder = EpisodeRecorder(simulation, host)
    base = simulation.layout.robots[0].bases[0].qpos
    for angle in np.linspace(0.0, 14.0, 100):
        quat = np.array([np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle)])
        simulation.sample.qpos[base + 3 : base + 7] = quat
        host.ticks += 1
        assert recorder.record()
    assert recorder.turned == pytest.approx(14.0)
