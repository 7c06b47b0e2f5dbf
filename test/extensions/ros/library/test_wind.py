"""Air drag and wind, against closed-form results."""

import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.model.scene.config import scene_from_text
from mujoco_ros.sim.simulation import Simulation

DROP = """<mujoco model="drop"><worldbody><body name="base" pos="0 0 50"><freejoint/>
<geom size=".1" mass="2" pos="0.05 0 0"/></body></worldbody></mujoco>"""
SCENE = """
robots: [{{name: drop, model: {model}}}]
physics: {{timestep: 0.002, gravity: [0.0, 0.0, -9.81], integrator: Euler}}
extensions: [{{use: wind, robot: drop, settings: {settings}}}]
"""


class Fall:
    """A body that falls in air."""

    def __init__(self, folder: Path, settings: str, seed: int = 0) -> None:
        (folder / "drop.xml").write_text(DROP)
        scene = scene_from_text(SCENE.format(model=folder / "drop.xml", settings=settings))
        self.simulation = Simulation(scene, seed=seed)
        self.set = ExtensionSet(self.simulation)

    def run(self, seconds: float) -> np.ndarray:
        """Return the velocity [m/s] after a time."""
        try:
            for _ in range(round(seconds / 0.002)):
                self.set.before_step()
                assert self.simulation.step()
                self.set.after_step()
        finally:
            self.set.close()
        return self.simulation.data.qvel[:3].copy()


def test_a_body_falls_with_the_drag_of_the_air(tmp_path: Path) -> None:
    terminal = math.sqrt(2.0 * 2.0 * 9.81 / (1.2 * 0.5))
    speed = Fall(tmp_path, "{density: 1.2, drag_area: 0.5}").run(1.0)
    assert speed[2] == pytest.approx(-terminal * math.tanh(9.81 / terminal), rel=0.002)
    assert np.abs(speed[:2]).max() < 1e-9


def test_a_body_without_weight_takes_the_velocity_of_the_wind(tmp_path: Path) -> None:
    fall = Fall(tmp_path, "{velocity: [3.0, -1.0, 0.5], drag_area: 5.0}")
    fall.simulation.model.opt.gravity[:] = 0.0
    # dv/dt = -k v² gives 1/v = 1/v0 + k t.
    expected = 1.0 / (1.0 / math.hypot(3.0, 1.0, 0.5) + 0.5 * 1.2 * 5.0 / 2.0 * 20.0)
    difference = np.linalg.norm(fall.run(20.0) - (3.0, -1.0, 0.5))
    assert difference == pytest.approx(expected, rel=0.01)


def test_gusts_have_their_deviation_and_correlation_and_repeat(tmp_path: Path) -> None:
    settings = "{gusts: 2.0, gust_time: 0.05}"
    fall = Fall(tmp_path, settings)
    (runner,) = fall.set.runners
    gusts = np.array(
        [runner.before_step() or runner.extension.state["gust"].copy() for _ in range(40_000)]
    )
    assert gusts.std(axis=0) == pytest.approx([2.0] * 3, rel=0.1)
    assert np.abs(gusts.mean(axis=0)).max() < 0.3
    lag = 25
    correlation = (gusts[lag:] * gusts[:-lag]).mean() / (gusts * gusts).mean()
    assert correlation == pytest.approx(math.exp(-lag * 0.002 / 0.05), abs=0.08)
    fall.set.close()
    first, second, other = (Fall(tmp_path, settings, seed).run(0.5) for seed in (3, 3, 4))
    assert first.tobytes() == second.tobytes()
    assert (first != other).any()
