"""Air drag and wind against closed-form results, and thrusters."""

import math
from collections.abc import Iterator
from math import exp
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from extension_runs import ExtensionRun
from std_msgs.msg import Float64

from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.model.errors import UserInputError
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


NAMES = ("front_left", "front_right", "rear_left", "rear_right")


class Drone(ExtensionRun):
    """The drone, in the air without gravity."""

    def __init__(self) -> None:
        super().__init__("thruster")
        self.mass = float(self.simulation.model.body_subtreemass[0])
        self.data.qpos[2] = 2.0
        self.simulation.model.opt.gravity[:] = 0.0

    def thrust(self, **thrusts: float) -> None:
        """Publish thrusts [N]."""
        for name, value in thrusts.items():
            self.extension(f"drone/{name}").command(Float64(data=value))


@pytest.fixture
def drone() -> Iterator[Drone]:
    run = Drone()
    yield run
    run.close()


def test_the_thrust_follows_the_command_with_a_lag(drone: Drone) -> None:
    drone.thrust(front_left=5.0)
    drone.step(0.05)
    assert drone.extension().thrust().data == pytest.approx(5.0 * (1.0 - exp(-1.0)))
    drone.thrust(front_left=50.0)
    drone.step(1.0)
    assert drone.extension().thrust().data == pytest.approx(10.0, abs=1e-6), "its limit"
    drone.thrust(front_left=-3.0)
    drone.step(1.0)
    assert drone.extension().thrust().data == pytest.approx(0.0, abs=1e-6)


def test_equal_thrusts_lift_the_drone_and_torques_balance(drone: Drone) -> None:
    drone.thrust(**dict.fromkeys(NAMES, 3.0))
    drone.step(1.0)
    before = float(drone.data.qvel[2])
    drone.step(0.5)
    acceleration = (drone.data.qvel[2] - before) / 0.5
    assert acceleration == pytest.approx(12.0 / drone.mass, rel=1e-3)
    assert abs(drone.data.qvel[3:]).max() < 1e-6


def test_a_diagonal_turns_the_drone_and_a_side_tilts_it(drone: Drone) -> None:
    drone.thrust(front_left=2.0, rear_right=2.0)
    drone.step(0.3)
    turned = drone.data.qvel[3:].copy()
    assert turned[2] > 0.05
    assert abs(turned[:2]).max() < 1e-3
    drone.thrust(front_left=0.0, rear_right=0.0)
    drone.step(1.0)
    drone.thrust(front_left=1.0, front_right=1.0)
    drone.step(0.1)
    assert drone.data.qvel[4] < -0.1, "the front rises"


def test_a_thrust_that_is_no_number_is_rejected(drone: Drone) -> None:
    with pytest.raises(UserInputError, match="the thrust must be a finite number, got nan"):
        drone.thrust(front_left=float("nan"))
    assert drone.extension().state["command"][0] == 0.0
