"""`walk` moves a humanoid of others, by YAML files alone."""

import os
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import mujoco_ros
from mujoco_ros.controllers.catalogue import load, load_table
from mujoco_ros.controllers.library.walk.walk_states import WALKER
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

FOLDER = Path(mujoco_ros.__file__).resolve().parents[1] / "examples" / "talos"
PACKAGE = "example-robot-data"


@pytest.fixture(scope="module")
def installed() -> None:
    """Skip without the robot."""
    try:
        metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        report = pytest.fail if os.environ.get("CI") else pytest.skip
        report(f"{PACKAGE} is not installed; requirements/models.txt has it")


def test_its_table_is_that_of_walk_with_other_names():
    own, shipped = load_table(str(FOLDER / "walk.yaml")), load_table("walk")
    assert own.rate == shipped.rate
    states, others = own.root.children, shipped.root.children
    assert [name for name in others if states[name] != others[name]] == ["STAND"]
    assert states["STAND"].transitions == others["STAND"].transitions


@pytest.mark.usefixtures("installed")
def test_talos_walks_turns_and_stops_on_its_own_signals():
    simulation = Simulation(load_scene(str(FOLDER / "scene.yaml")))
    velocity = {"velocity_x": 0.2, "velocity_yaw": 0.1}
    controller = load(str(FOLDER / "walk.yaml"), settings={"WALK": velocity})
    host = ControllerHost(simulation, controller)
    host.observation_filter = lambda observation: replace(observation, base=None)
    (robot,) = simulation.layout.robots
    start = simulation.data.qpos[robot.bases[0].qpos :][:3].copy()
    for step in range(9500):
        if step in (1000, 6000):
            host.supervised.request("walk" if step == 1000 else "stop")
        assert host.step()
    assert host.supervised.error == ""
    went = [event.transition.goal for event in host.supervised.log.since(0)]
    assert went == ["WALK", "STOP", "STAND"]
    axes = simulation.data.xmat[robot.bases[0].body].reshape(3, 3)
    assert axes[2, 2] > 0.999
    assert np.arctan2(axes[1, 0], axes[0, 0]) == pytest.approx(0.1 * 5.0, abs=0.15)
    moved = simulation.data.qpos[robot.bases[0].qpos :][:3] - start
    assert np.hypot(*moved[:2]) == pytest.approx(0.2 * 5.0, rel=0.2)
    estimate = controller.store.get(WALKER).estimator.base.pose.position
    assert np.hypot(*(estimate - moved)[:2]) < 0.05
