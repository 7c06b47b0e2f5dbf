"""Twenty rovers in the warehouse."""

from pathlib import Path

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

FLEET = Path(__file__).resolve().parents[2] / "examples" / "fleet.yaml"


def test_each_rover_has_its_namespace_drive_and_lidar_and_stands_free(caplog) -> None:
    simulation = Simulation(load_scene(str(FLEET)))
    robots = simulation.layout.robots
    assert [robot.namespace for robot in robots] == [f"rover{n}" for n in range(1, 21)]
    assert all(robot.drive is not None and len(robot.lidars) == 1 for robot in robots)
    assert "deep" not in caplog.text
    start = simulation.data.qpos.copy()
    simulation.advance(200)
    assert abs(simulation.data.qpos - start).max() < 1e-3
