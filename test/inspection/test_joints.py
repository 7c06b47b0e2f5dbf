"""The motion of robots without commands."""

from mujoco_ros.inspection.joints import measure_standstill
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


def test_a_measurement_can_end_before_its_time():
    simulation = Simulation(load_scene("arm"))
    still = measure_standstill(simulation, 1.0, lambda: simulation.time > 0.1)
    assert 0.1 < still.seconds < 0.11


def test_a_shipped_arm_holds_its_start():
    still = measure_standstill(Simulation(load_scene("arm")), 0.5)
    assert still.base_drift is None
    assert still.drift.max() < 0.01
    assert still.divergences == 0
