"""Measurements of an IMU compared with mechanics."""

import mujoco
import numpy as np
import pytest

GRAVITY = 9.81

TILTS = {
    "level": (1.0, 0.0, 0.0, 0.0),
    "upside_down": (0.0, 1.0, 0.0, 0.0),
    "on_its_side": (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0),
    "askew": (0.5, -0.1, 0.7, 0.5),
}


def imu_model(*, site: str, spin: float = 0.0) -> str:
    """A balanced turntable about the vertical, with an IMU on it."""
    return f"""
    <mujoco>
      <option timestep="0.001" gravity="0 0 -{GRAVITY}" integrator="RK4"/>
      <worldbody>
        <body name="table">
          <joint name="turn" axis="0 0 1"/>
          <geom type="cylinder" size="0.5 0.05" mass="10"/>
          <site name="imu" {site}/>
        </body>
      </worldbody>
      <sensor>
        <gyro site="imu"/>
        <accelerometer site="imu"/>
        <framequat objtype="site" objname="imu"/>
      </sensor>
      <keyframe><key qvel="{spin}"/></keyframe>
    </mujoco>"""


def rotation(quat_wxyz) -> np.ndarray:
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, np.asarray(quat_wxyz, dtype=float))
    return flat.reshape(3, 3)


def read(simulation, address: int | None, size: int = 3) -> np.ndarray:
    assert address is not None
    return simulation.sample.sensordata[address : address + size].copy()


@pytest.mark.parametrize("tilt", TILTS.values(), ids=TILTS)
def test_an_imu_at_rest_measures_gravity_upwards_and_its_own_tilt(simulate, tilt):
    quat = np.array(tilt) / np.linalg.norm(tilt)
    text = " ".join(f"{q:.17g}" for q in quat)
    simulation = simulate(imu_model(site=f'pos="0.2 0.1 0" quat="{text}"'))
    (imu,) = simulation.layout.robots[0].sensors["imu"]
    for _ in range(10):
        assert simulation.step()
    to_site = rotation(quat).T
    up = to_site @ [0.0, 0.0, GRAVITY]
    np.testing.assert_allclose(
        read(simulation, imu.addresses["linear_acceleration"]), up, atol=1e-9
    )
    np.testing.assert_allclose(read(simulation, imu.addresses["angular_velocity"]), 0.0, atol=1e-12)
    orientation = rotation(read(simulation, imu.addresses["quat_wxyz"], 4))
    np.testing.assert_allclose(orientation, rotation(quat), atol=1e-12)


@pytest.mark.parametrize("spin", [3.0, -7.0])
@pytest.mark.parametrize("tilt", TILTS.values(), ids=TILTS)
def test_an_imu_on_a_turntable_measures_its_rate_and_centripetal_acceleration(simulate, tilt, spin):
    quat = np.array(tilt) / np.linalg.norm(tilt)
    offset = np.array([0.3, -0.2, 0.1])
    site = f'pos="{" ".join(map(str, offset))}" quat="{" ".join(f"{float(q):.17g}" for q in quat)}"'
    simulation = simulate(imu_model(site=site, spin=spin))
    (imu,) = simulation.layout.robots[0].sensors["imu"]
    to_site = rotation(quat).T
    pull = -(spin**2) * offset * [1.0, 1.0, 0.0]  # towards the axis, in the frame of the table
    felt = pull - np.array([0.0, 0.0, -GRAVITY])
    for _ in range(500):
        assert simulation.step()
        np.testing.assert_allclose(
            read(simulation, imu.addresses["angular_velocity"]),
            to_site @ [0.0, 0.0, spin],
            atol=1e-9,
        )
        np.testing.assert_allclose(
            read(simulation, imu.addresses["linear_acceleration"]),
            to_site @ felt,
            atol=1e-8,
        )
    angle = simulation.sample.qpos[0]
    assert angle == pytest.approx(spin * 0.499, abs=1e-9)


def test_an_imu_in_free_fall_measures_zero(simulate):
    simulation = simulate(
        """<mujoco><worldbody><body name="stone" pos="0 0 10"><freejoint/>
        <geom size="0.1" mass="2"/><site name="imu"/></body></worldbody>
        <sensor><accelerometer site="imu"/><gyro site="imu"/></sensor></mujoco>"""
    )
    for _ in range(100):
        assert simulation.step()
    assert simulation.sample.qvel[2] < -0.9
    np.testing.assert_allclose(simulation.sample.sensordata, 0.0, atol=1e-9)


@pytest.mark.parametrize("scene", ["humanoid", "quadruped"])
def test_the_imu_of_a_standing_robot_measures_one_g_upwards(shipped, scene):
    simulation = shipped(scene)
    (imu,) = simulation.layout.robots[0].sensors["imu"]
    for _ in range(3000):
        assert simulation.step()
    to_world = rotation(read(simulation, imu.addresses["quat_wxyz"], 4))
    np.testing.assert_allclose(
        to_world @ read(simulation, imu.addresses["linear_acceleration"]),
        [0.0, 0.0, GRAVITY],
        atol=0.05,
    )
    np.testing.assert_allclose(read(simulation, imu.addresses["angular_velocity"]), 0.0, atol=0.01)
