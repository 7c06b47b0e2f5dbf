"""Simulations of models written for one test, and of the shipped scenes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from mujoco_ros.model.scene.config import RobotConfig, SceneConfig, load_scene
from mujoco_ros.sim.simulation import Simulation

Simulate = Callable[..., Simulation]


@pytest.fixture
def simulate(tmp_path: Path) -> Simulate:
    """A function that simulates an MJCF given as text, with the given PD gains."""
    count = 0

    def build(
        mjcf: str, *, gains: Mapping[str, tuple[float, float]] | None = None, **options: Any
    ) -> Simulation:
        nonlocal count
        count += 1
        model = tmp_path / f"model{count}.xml"
        model.write_text(mjcf)
        gains_file = None
        if gains is not None:
            gains_file = f"gains{count}.yaml"
            pairs = {joint: {"kp": kp, "kd": kd} for joint, (kp, kd) in gains.items()}
            (tmp_path / gains_file).write_text(yaml.safe_dump(pairs))
        robot = RobotConfig(name="robot", model=str(model), gains=gains_file)
        config = SceneConfig(name="robot", folder=tmp_path, robots=(robot,), merged=False)
        return Simulation(config, **options)

    return build


@pytest.fixture
def shipped() -> Simulate:
    """A function that simulates a shipped scene."""

    def build(scene: str, **options: Any) -> Simulation:
        return Simulation(load_scene(scene), **options)

    return build
