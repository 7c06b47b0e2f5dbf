"""Measurements of force-torque and touch sensors compared with statics, with the published sign."""

from collections.abc import Callable

import mujoco
import numpy as np
import pytest

GRAVITY = 9.81
MASS = 2.5
LEVER = np.array([0.12, -0.05, 0.2])  # from the sensor to the centre of mass, in the sensor's frame

Wrench = Callable[..., tuple[np.ndarray, np.ndarray]]

TILTS = {
    "hanging": (0.0, 1.0, 0.0, 0.0),
    "upright": (1.0, 0.0, 0.0, 0.0),
    "on_its_side": (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0),
    "on_its_other_side": (np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0),
    "askew": (0.5, -0.1, 0.7, 0.5),
}


@pytest.fixture
def wrench() -> Wrench:
    """A function that reads force and torque of a sensor with the sign of its topic."""
    topics = pytest.importorskip("mujoco_ros.bridge.publishing.topics", exc_type=ImportError)

    def read(simulation, sensor: str, sign: str = "child_on_parent", robot: int = 0):
        (topic,) = (
            topic
            for topic in topics.robot_topics(robot, simulation.layout.robots[robot], 0, sign)
            if topic.name.endswith(f"wrench/{sensor}")
        )
        values = {
            path: number.sign * getattr(simulation.sample, number.array)[number.address]
            for path, number in topic.numbers.items()
        }
        force, torque = (
            np.array([values[f"wrench.{part}.{axis}"] for axis in "xyz"])
            for part in ("force", "torque")
        )
        return force, torque

    return read


def holder_model(quat_wxyz: np.ndarray) -> str:
    """A mass on a tilted sensor, and a joint elsewhere, as every model needs one."""
    quat = " ".join(f"{float(q):.17g}" for q in quat_wxyz)
    lever = " ".join(map(str, LEVER))
    return f"""
    <mujoco>
      <option gravity="0 0 -{GRAVITY}"/>
      <worldbody>
        <body name="holder" pos="0 0 1" quat="{quat}">
          <geom size="0.02" mass="7"/>
          <body name="load">
            <inertial pos="{lever}" mass="{MASS}" diaginertia="0.01 0.02 0.03"/>
            <site name="ft"/>
          </body>
        </body>
        <body name="wheel" pos="5 0 0"><joint name="j" axis="0 0 1"/><geom size="0.1"/></body>
      </worldbody>
      <sensor><force site="ft"/><torque site="ft"/></sensor>
    </mujoco>"""


@pytest.mark.parametrize("tilt", TILTS.values(), ids=TILTS)
def test_a_held_mass_pulls_its_sensor_down_by_its_weight(simulate, wrench, tilt):
    quat = np.array(tilt) / np.linalg.norm(tilt)
    simulation = simulate(holder_model(quat))
    assert simulation.step()
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, quat)
    weight = flat.reshape(3, 3).T @ [0.0, 0.0, -MASS * GRAVITY]
    force, torque = wrench(simulation, "ft")
    np.testing.assert_allclose(force, weight, atol=1e-9)
    np.testing.assert_allclose(torque, np.cross(LEVER, weight), atol=1e-9)


def test_the_opposite_sign_is_the_wrench_of_the_holder_on_the_mass(simulate, wrench):
    simulation = simulate(holder_model(np.array([1.0, 0.0, 0.0, 0.0])))
    assert simulation.step()
    force, torque = wrench(simulation, "ft", "parent_on_child")
    np.testing.assert_allclose(force, [0.0, 0.0, MASS * GRAVITY], atol=1e-9)
    np.testing.assert_allclose(torque, -np.cross(LEVER, [0.0, 0.0, -MASS * GRAVITY]), atol=1e-9)


def test_a_horizontal_sensor_measures_weight_and_lever_arm(simulate, wrench):
    """Turned by 90° about y, the sensor's x axis points down."""
    simulation = simulate(holder_model(np.array([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0])))
    assert simulation.step()
    weight = MASS * GRAVITY
    force, torque = wrench(simulation, "ft")
    np.testing.assert_allclose(force, [weight, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(torque, [0.0, LEVER[2] * weight, -LEVER[1] * weight], atol=1e-9)


def in_world(simulation, site: int, vector: np.ndarray) -> np.ndarray:
    return simulation.data.site_xmat[site].reshape(3, 3) @ vector


@pytest.fixture(scope="module")
def standing_humanoid():
    from mujoco_ros.model.scene.config import load_scene
    from mujoco_ros.sim.simulation import Simulation

    simulation = Simulation(load_scene("humanoid"))
    for _ in range(4000):
        assert simulation.step()
    return simulation


def test_the_ankles_of_a_standing_humanoid_carry_the_weight_above_them(standing_humanoid, wrench):
    model, (robot,) = standing_humanoid.model, standing_humanoid.layout.robots
    ankles = [s for s in robot.sensors["wrench"] if s.name in ("left_ankle_ft", "right_ankle_ft")]
    assert len(ankles) == 2
    feet = sum(model.body_subtreemass[model.site_bodyid[ankle.site]] for ankle in ankles)
    carried = (model.body_mass.sum() - feet) * GRAVITY
    assert 500 < carried < 700
    total = np.zeros(3)
    for ankle in ankles:
        force, _ = wrench(standing_humanoid, ankle.name)
        up = in_world(standing_humanoid, ankle.site, force)
        assert up[2] == pytest.approx(carried / 2, rel=0.05)
        total += up
    assert total[2] == pytest.approx(carried, rel=0.01)
    np.testing.assert_allclose(total[:2], 0.0, atol=0.01 * carried)


def test_hanging_hands_pull_their_wrists_down(standing_humanoid, wrench):
    model, (robot,) = standing_humanoid.model, standing_humanoid.layout.robots
    wrists = [s for s in robot.sensors["wrench"] if s.name in ("left_wrist_ft", "right_wrist_ft")]
    assert len(wrists) == 2
    for wrist in wrists:
        force, _ = wrench(standing_humanoid, wrist.name)
        weight = model.body_subtreemass[model.site_bodyid[wrist.site]] * GRAVITY
        down = in_world(standing_humanoid, wrist.site, force)
        np.testing.assert_allclose(down, [0.0, 0.0, -weight], atol=0.02 * weight)


def test_the_feet_of_a_standing_humanoid_measure_its_whole_weight(standing_humanoid):
    (robot,) = standing_humanoid.layout.robots
    feet = [
        standing_humanoid.sample.sensordata[touch.addresses["force"]]
        for touch in robot.sensors["contact"]
    ]
    weight = standing_humanoid.model.body_mass.sum() * GRAVITY
    assert len(feet) == 2
    assert sum(feet) == pytest.approx(weight, rel=0.01)
    assert min(feet) == pytest.approx(weight / 2, rel=0.05)


def test_the_feet_of_a_standing_quadruped_measure_its_whole_weight(shipped):
    simulation = shipped("quadruped")
    (robot,) = simulation.layout.robots
    for _ in range(4000):
        assert simulation.step()
    feet = [
        simulation.sample.sensordata[touch.addresses["force"]] for touch in robot.sensors["contact"]
    ]
    weight = simulation.model.body_mass.sum() * GRAVITY
    assert len(feet) == 4
    assert sum(feet) == pytest.approx(weight, rel=0.01)
    assert min(feet) > 0.1 * weight
