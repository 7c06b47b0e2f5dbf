"""The shipped policy trots with the commanded velocity."""

import time
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="`make setup` installs onnxruntime")

import onnxruntime

from mujoco_ros.controllers import catalogue
from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.evaluation.episode import run_episode
from mujoco_ros.controllers.evaluation.trials import trial
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

FOLDER = catalogue._FOLDER / "trot_policy"
FILE = FOLDER / "trot_policy.onnx"


@pytest.fixture(scope="module")
def assembly():
    return assemble(load_scene("quadruped"))


def test_the_file_is_small_and_has_the_shapes_of_the_table():
    assert FILE.stat().st_size <= 1_000_000
    session = onnxruntime.InferenceSession(FILE)
    assert [it.shape for it in session.get_inputs()] == [[1, 47]]
    assert [it.shape for it in session.get_outputs()] == [[1, 12]]
    assert set(session.get_modelmeta().custom_metadata_map) >= {"seed", "steps"}


def test_it_trots_under_pushes_with_the_commanded_velocity(assembly):
    tried = trial("trot_policy")
    first = run_episode(tried, assembly, 5, time.process_time)
    assert first.success, first.reason
    assert first.duration == pytest.approx(20.0, abs=0.1)
    assert max(first.conditions[f"push_{number}"] for number in range(5)) > 0.2


def trotting(assembly: Assembly) -> tuple[Simulation, ControllerHost]:
    """Return a robot that trots, without its true base and without contacts."""
    simulation = Simulation(replace(assembly, model=copy(assembly.model)))
    host = ControllerHost(simulation, load("trot_policy", settings={"WALK": {"velocity_x": 0.6}}))
    host.observation_filter = lambda it: replace(it, base=None, touches={})
    return simulation, host


def test_it_needs_neither_the_true_base_nor_contacts_and_the_same_bits_follow(assembly):
    (simulation, host), (other, again) = trotting(assembly), trotting(assembly)
    start = simulation.data.qpos[0]
    while simulation.time < 2.0:
        assert host.tick()
        assert again.tick()
    np.testing.assert_array_equal(other.data.qpos, simulation.data.qpos)
    while simulation.time < 5.0:
        assert host.tick()
    assert host.supervised.error == ""
    assert host.supervised.machine.state == "WALK"
    assert simulation.data.qpos[0] - start > 2.0


def test_a_fallen_robot_is_damped(assembly):
    simulation = Simulation(assembly)
    host = ControllerHost(simulation, load("trot_policy"))
    for _ in range(20):
        assert host.tick()
    half = 0.25 * np.pi  # on its side
    simulation.data.qpos[2:7] = 0.3, np.cos(half), np.sin(half), 0.0, 0.0
    for _ in range(400):
        assert host.tick()
    assert host.supervised.machine.state == "FALLEN"
    assert host.supervised.machine.outcome == "fell"
    np.testing.assert_allclose(
        simulation.references.q, simulation.sample.qpos[7:19], atol=0.01, err_msg="it follows"
    )
