"""Robots whose frames are commanded."""

from copy import copy
from dataclasses import replace
from functools import cache
from importlib import metadata

import pytest
from frame_robot import PANDA_READY, UR_READY, FrameRobot

from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


@cache
def _assembly(scene: str) -> Assembly:
    """Return a scene, which takes longer to read than many tests to run."""
    return assemble(load_scene(scene))


def _make(name: str) -> FrameRobot:
    if name == "arm":
        return FrameRobot(_simulation("arm"))
    try:
        metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed; requirements/models.txt has it")
    ready = {"panda": PANDA_READY, "ur5": UR_READY}[name]
    return FrameRobot(_simulation(f"example-robot-data:{name}"), ready)


def _simulation(scene: str) -> Simulation:
    assembly = _assembly(scene)
    return Simulation(replace(assembly, model=copy(assembly.model)))


@pytest.fixture(params=["arm", "panda"])
def robot(request: pytest.FixtureRequest) -> FrameRobot:
    """The shipped arm, and a redundant arm that has only a URDF."""
    return _make(request.param)


@pytest.fixture(params=["arm", "panda", "ur5"])
def each_robot(request: pytest.FixtureRequest) -> FrameRobot:
    """The shipped arm, and arms that have only a URDF."""
    return _make(request.param)


@pytest.fixture
def arm() -> FrameRobot:
    return _make("arm")


@pytest.fixture
def panda() -> FrameRobot:
    return _make("panda")
