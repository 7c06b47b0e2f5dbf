"""MuJoCo's bundled engine plugins inside the simulation."""

from pathlib import Path

import numpy as np
import pytest

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

MODEL = Path(__file__).parent / "data" / "plugins.xml"


@pytest.fixture
def simulation() -> Simulation:
    return Simulation(load_scene(str(MODEL)))


def run(simulation: Simulation, seconds: float) -> None:
    for _ in range(round(1000 * seconds)):
        assert simulation.step()


def test_the_plugin_controls_its_actuator(simulation):
    """Without its plugin, it is equal to a torque motor."""
    assert simulation.drives.modes(0) == ()
    assert simulation.drives.servo_joints.size == 0
    run(simulation, 0.1)
    assert simulation.data.ctrl[0] == -0.5


def test_the_pid_actuator_holds_the_keyframe_and_balances_gravity(simulation):
    run(simulation, 10.0)
    assert simulation.sample.qpos[0] == pytest.approx(-0.5, abs=5e-3)
    weight = 9.81 * 0.2 * np.cos(-0.5)  # about +y, gravity turns the lever down with +m·g·l
    assert simulation.sample.qfrc_actuator[0] == pytest.approx(-weight, rel=0.02)


def test_the_pid_actuator_follows_its_control_within_its_rate_limit(simulation):
    run(simulation, 8.0)
    simulation.data.ctrl[0] = 0.5
    run(simulation, 0.25)
    assert -0.3 < simulation.sample.qpos[0] < 0.2, "half way at 2 rad/s"
    run(simulation, 10.0)
    assert simulation.sample.qpos[0] == pytest.approx(0.5, abs=5e-3)


def test_the_touch_grid_measures_the_weight_in_one_cell(simulation):
    run(simulation, 3.0)
    normal, *tangents = simulation.sample.sensordata.reshape(3, 4, 4)
    assert abs(normal.sum()) == pytest.approx(0.8 * 9.81, rel=0.01)
    assert np.count_nonzero(np.abs(normal) > 0.01) == 1
    # The sensor is turned by half a turn about x: the weight lies at its (+x, -y).
    assert np.argwhere(np.abs(normal) > 0.01).tolist() == [[1, 2]]
    np.testing.assert_allclose(tangents, 0.0, atol=0.05)


def test_a_run_with_plugins_is_the_same_after_a_reset(simulation):
    runs = []
    for _ in range(2):
        rows = []
        for step in range(300):
            simulation.data.ctrl[0] = 0.5 if step > 100 else -0.5
            assert simulation.step()
            rows.append(np.concatenate([simulation.sample.qpos, simulation.sample.sensordata]))
        runs.append(np.array(rows))
        simulation.reset()
    np.testing.assert_array_equal(runs[0], runs[1])
