"""`walk_grasp` carries a box from one table to another, on the signals of the robot alone."""

import time
from dataclasses import replace

import mujoco
import pytest

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.evaluation.episode import Episode, run_episode
from mujoco_ros.controllers.evaluation.trial import Conditions
from mujoco_ros.controllers.evaluation.trials.walk_grasp import CARRIES, Carries, WalkGraspTrial
from mujoco_ros.controllers.library.walk_grasp.hands import HandsConfig
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.rendering.gl import RenderingError, open_context
from mujoco_ros.sim.simulation import Simulation

SEED = 1_000_000
LEG = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
LEGS = [f"{side}_{joint}" for side in ("left", "right") for joint in LEG]


class TrialWithoutBox(WalkGraspTrial):
    """The box is far behind the tables."""

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        WalkGraspTrial.edit(self, model, {**conditions, "box_x": 30.0})


@pytest.fixture(scope="module")
def _opengl() -> None:
    try:
        open_context().close()
    except RenderingError as error:
        pytest.skip(f"no OpenGL: {error}")


def run(trial: WalkGraspTrial) -> Episode:
    return run_episode(trial, assemble(trial.scene_config()), SEED, time.process_time)


@pytest.mark.usefixtures("_opengl")
def test_a_pushed_robot_carries_the_box_to_the_second_table():
    episode = run(WalkGraspTrial(replace(CARRIES["pushed"], x=(-0.8, -0.8))))
    assert episode.outcome == "success", episode
    assert episode.claimed
    assert {"LOOK", "APPROACH", "STEP_UP", "LIFT", "FIND_GOAL", "LOWER", "CHECK"} <= set(
        episode.phases
    )
    assert episode.measures["place_error"] < 0.05
    assert episode.measures["estimate_relative_drift"] < 0.02


@pytest.mark.usefixtures("_opengl")
def test_a_box_that_cannot_be_found_is_named_after_the_search():
    settings = {
        "SEARCH": {"most": 1},
        "LOOK": {"missed": 1, "sweep": [[0.0, 0.4]]},
        "TURN": {"yaw": 0.3},
    }
    episode = run(TrialWithoutBox(CARRIES["pushed"], settings))
    assert episode.outcome == "not_found", episode
    assert "TURN" in episode.phases
    assert not episode.claimed


@pytest.mark.parametrize(
    ("begin", "message"),
    [
        ({"camera": "tail_camera"}, "camera 'tail_camera' not found.*head_camera"),
        ({"neck": ["neck_yaw", "neck"]}, "neck: joint 'neck' not found"),
        ({"neck": ["neck_yaw"]}, "neck must be two joints"),
        ({"neck": ["neck_pitch", "left_gripper"], "joints": LEGS}, "must be among 'joints'"),
        ({"waist": ["waist"]}, "joint 'waist' not found"),
        ({"markers": []}, "at least one marker"),
        ({"goal_markers": []}, "at least one marker"),
    ],
)
def test_what_the_robot_lacks_is_named(begin, message):
    simulation = Simulation(load_scene("walk_grasp"))
    with pytest.raises(UserInputError, match=message):
        ControllerHost(simulation, load("walk_grasp", settings={"BEGIN": begin}))


def test_wrong_settings_are_named():
    hands = {"bodies": ("a", "b"), "force_sensors": ("a", "b"), "point": (0.0, 0.0, 0.0)}
    with pytest.raises(UserInputError, match="bodies must be two names"):
        HandsConfig(**{**hands, "bodies": ("a",)})
    with pytest.raises(UserInputError, match="axis must not be zero"):
        HandsConfig(**hands, axis=(0.0, 0.0, 0.0))
    with pytest.raises(UserInputError, match="squeeze must be positive"):
        HandsConfig(**hands, squeeze=0.0)
    with pytest.raises(UserInputError, match="box_mass must be positive"):
        Carries(box_mass=(0.0, 1.0))
    with pytest.raises(UserInputError, match="table from 1 to 0 is reversed"):
        Carries(table=(1.0, 0.0))


def test_a_robot_that_falls_after_its_task_holds_its_joints():
    simulation = Simulation(load_scene("walk_grasp"))
    host = ControllerHost(simulation, load("walk_grasp"))
    host.tick()
    host.supervised.request("abort")
    while simulation.time < 0.5:
        host.tick()
    assert host.supervised.state == "FAILED"
    before = simulation.references.values.copy()
    simulation.data.qvel[1] = 3.0  # sideways
    while simulation.time < 3.0:
        host.tick()
    held = simulation.references.values.copy()
    assert not (held[0] == before[0]).all()
    assert not held[1:].any(), "at rest, without torques"
    while simulation.time < 3.5:
        host.tick()
    assert (simulation.references.values == held).all()
    host.close()
