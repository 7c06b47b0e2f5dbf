"""Whatever hooks and methods do: the process lives, and no number is NaN.

``EXTENSION_FAULTS=100000 pytest test/extensions/test_random_faults.py`` runs more of them.
"""

import logging
import os
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from native_faults import NativeFaults, native_fault
from random_faults import HOOKS, METHODS, RandomFaults, random_fault

from mujoco_ros.extensions import extension_set, hook_table
from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.model.scene.config import scene_from_text
from mujoco_ros.native import library
from mujoco_ros.sim.simulation import Simulation

FAULTS = int(os.environ.get("EXTENSION_FAULTS", "800"))
ROBOT = """<mujoco model="r"><worldbody><geom type="plane" size="2 2 .1"/>
<body name="link" pos="0 0 .3"><joint name="hinge" axis="0 1 0"/><geom size=".1" pos=".3 0 0"
mass="1"/></body><body name="ball" pos="0 1 .095"><freejoint/><geom size=".1"/></body></worldbody>
<actuator><general name="lag" joint="hinge" dyntype="user" actdim="1" gaintype="user"
biastype="user"/></actuator><sensor><user name="one" dim="2" needstage="pos"/>
<user name="two" dim="2" needstage="vel"/><user name="three" dim="2" needstage="acc"/>
<jointpos joint="hinge"/></sensor></mujoco>"""
SCENE = """
robots: [{{name: r, model: {model}}}]
physics: {{timestep: 0.001, integrator: {integrator}}}
extensions: [{{use: faults, robot: r}}]
"""


def with_faults(
    folder: Path, monkeypatch: pytest.MonkeyPatch, faults: type[Extension], integrator: str
) -> tuple[Simulation, ExtensionSet]:
    """Return a simulation with an extension, whose errors are not logged."""
    monkeypatch.setattr(extension_set, "load_extension", lambda _name: faults)
    for name in ("mujoco_ros", "mujoco_ros.extensions.runner"):
        monkeypatch.setattr(logging.getLogger(name), "disabled", True)
    (folder / "r.xml").write_text(ROBOT)
    text = SCENE.format(model=folder / "r.xml", integrator=integrator)
    simulation = Simulation(scene_from_text(text))
    return simulation, ExtensionSet(simulation)


@pytest.mark.timeout(300 + FAULTS // 20)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("integrator", ["implicitfast", "RK4"])
def test_random_faults_end_nothing_and_publish_no_nan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, integrator: str
) -> None:
    simulation, extensions = with_faults(tmp_path, monkeypatch, RandomFaults, integrator)
    (runner,) = extensions.runners
    rng, failed, places = np.random.default_rng(1), set(), (*HOOKS, *METHODS)
    for _ in range(FAULTS // 2):
        place = places[rng.integers(len(places))]
        monkeypatch.setattr(RandomFaults, "where", place)
        monkeypatch.setattr(RandomFaults, "fault", random_fault(rng))
        runner.change_settings(replace(runner.settings))
        if place == "reset":
            runner.reset()
        extensions.before_step()
        simulation.step()
        extensions.after_step()
        sample, data = simulation.sample, simulation.data
        for array in (sample.qpos, sample.qvel, data.qpos, data.qvel, data.act, data.ctrl):
            assert np.isfinite(array).all(), (place, runner.failure)
        for array in (data.sensordata, data.actuator_force, runner.extension.state["level"]):
            assert np.isfinite(array).all(), (place, runner.failure)
        if not runner.is_enabled:
            assert runner.failure.startswith(place)
            failed.add(place)
        monkeypatch.setattr(RandomFaults, "where", "")
        runner.enable(enabled=True)
        if np.abs(data.qvel).max() > 1e2:  # a legal, large number
            simulation.reset()
    extensions.close()
    assert failed == set(places)


@pytest.mark.timeout(300 + FAULTS // 20)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("integrator", ["implicitfast", "RK4"])
@pytest.mark.parametrize("path", ["c", "python"])
def test_random_faults_of_c_functions_end_nothing_and_publish_no_nan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, integrator: str, path: str
) -> None:
    if path == "c":
        if library() is None:
            pytest.skip("the native part is not compiled: no C compiler")
    else:
        monkeypatch.setattr(hook_table, "c_callback", lambda _kind: None)
    simulation, extensions = with_faults(tmp_path, monkeypatch, NativeFaults, integrator)
    plant, (runner,) = simulation.plant, extensions.runners

    def find(address: int) -> mujoco.MjData:
        twin = plant.twin
        return twin if twin is not None and twin._address == address else plant.data

    monkeypatch.setattr(NativeFaults, "find", find, raising=False)
    rng, failed = np.random.default_rng(2), set()
    for _ in range(FAULTS // 4):
        kind = HOOKS[rng.integers(len(HOOKS))]
        monkeypatch.setattr(NativeFaults, "where", kind)
        monkeypatch.setattr(NativeFaults, "fault", staticmethod(native_fault(kind, rng)))
        extensions.before_step()
        simulation.step()
        extensions.after_step()
        monkeypatch.setattr(NativeFaults, "where", "")
        sample, data = simulation.sample, simulation.data
        for array in (sample.qpos, sample.qvel, data.qpos, data.qvel, data.act, data.ctrl):
            assert np.isfinite(array).all(), (kind, runner.failure)
        for array in (sample.qacc, data.sensordata, data.actuator_force):
            assert np.isfinite(array).all(), (kind, runner.failure)
        if not runner.is_enabled:
            assert runner.failure.startswith(kind)
            failed.add(kind)
        runner.enable(enabled=True)
        if np.abs(data.qvel).max() > 1e2:  # a legal, large number
            simulation.reset()
    extensions.close()
    assert failed >= {"passive", "control", "sensor", "act_dyn", "act_gain", "act_bias"}
