"""The scenes of MuJoCo's own plugins, and of a cable, against their equations."""

from pathlib import Path

import numpy as np
import pytest

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.engine_plugins import registered_plugins
from mujoco_ros.sim.simulation import Simulation

SCENES = Path(__file__).resolve().parents[2] / "examples" / "plugins"
GRAVITY = 9.81


def simulated(path: Path, seconds: float) -> Simulation:
    simulation = Simulation(load_scene(str(path)))
    while simulation.time < seconds:
        assert simulation.step()
    return simulation


def test_mujoco_bundles_these_plugins():
    """A new one needs a scene and a row in docs/how-to/write_engine_plugins.md."""
    sdf = {f"mujoco.sdf.{name}" for name in ("bolt", "bowl", "gear", "nut", "torus")}
    bundled = {name for name in registered_plugins() if name.startswith("mujoco.")}
    assert bundled == {"mujoco.pid", "mujoco.sensor.touch_grid", *sdf}


def test_the_integral_removes_the_error_that_gravity_causes():
    simulation = simulated(SCENES / "pid_servo.xml", 8.0)
    pid, servo = simulation.sample.qpos
    target = np.pi / 6
    assert pid == pytest.approx(target, abs=1e-4)
    assert 20.0 * (target - servo) == pytest.approx(GRAVITY * 0.4 * np.cos(servo), rel=1e-3)


def test_the_touch_grid_measures_the_weight_where_the_ball_is():
    simulation = simulated(SCENES / "touch_grid.xml", 2.0)
    normal, *tangents = simulation.sample.sensordata.reshape(3, 16, 16)
    assert normal.sum() == pytest.approx(0.5 * GRAVITY, rel=1e-3)
    np.testing.assert_allclose(tangents, 0.0, atol=1e-6)
    (row, column) = np.argwhere(normal > 0.01)[0]
    # Elevation and azimuth of the contact, 0.1 m above the site, of 100/16 degrees each.
    x, y = 0.04, -0.03  # the site is turned by half a turn about x
    assert column == int((50.0 + np.degrees(np.arctan2(x, 0.1))) // (100.0 / 16))
    elevation = np.degrees(np.arctan2(y, np.hypot(x, 0.1)))
    assert row == int((50.0 + elevation) // (100.0 / 16))


@pytest.mark.parametrize(("shape", "height"), [("sdf", 0.25 - 0.2 + 0.03 + 0.045), ("mesh", 0.445)])
def test_a_ball_falls_through_a_ring_that_is_a_distance_field(tmp_path, shape, height):
    """A mesh collides as its convex hull, which closes the ring."""
    text = (SCENES / "ring_and_bowl.xml").read_text().replace('type="sdf"', f'type="{shape}"')
    if shape == "mesh":
        text = text.replace('<plugin instance="ring"/>\n    </geom>', "</geom>")
        text = text.replace('<plugin instance="bowl"/>\n    </geom>', "</geom>")
    (tmp_path / "scene.xml").write_text(text)
    ball = simulated(tmp_path / "scene.xml", 1.5).sample.qpos
    assert ball[2] == pytest.approx(height, abs=1.5e-3)


def test_a_clamped_rod_bends_as_a_beam_of_its_stiffness():
    simulation = simulated(SCENES / "cable.xml", 4.0)
    tip = simulation.data.flexvert_xpos[-1]
    young, radius, mass, count, length = 2e8, 0.01, 0.2, 21, 1.0
    rigidity = young * np.pi * radius**4 / 4
    # Springs between rigid edges, the first of which is clamped, carry the weight beyond them.
    x = np.linspace(0.0, length, count)
    moments = [(mass / count) * GRAVITY * np.sum(x[i + 1 :] - x[i]) for i in range(1, count - 1)]
    spring = rigidity / (length / (count - 1))
    deflection = float(np.sum(np.array(moments) / spring * (length - x[1:-1])))
    assert 0.5 - tip[2] == pytest.approx(deflection, rel=0.03)
    # The continuous beam, w L^4 / (8 E I), beyond the clamped edge.
    beam = mass * GRAVITY / length * (length - 0.025) ** 4 / (8 * rigidity)
    assert 0.5 - tip[2] == pytest.approx(beam, rel=0.05)

    assert simulation.model.nplugin == 0
