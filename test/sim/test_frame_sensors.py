"""Sensors of frames and subtrees, compared with kinematics that the test computes itself."""

import numpy as np
import pytest

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.sensors.robot_sensors import RobotSensor
from mujoco_ros.sim.simulation import Simulation

LINK_M = 0.3
GRAVITY = np.array([0.0, 0.0, -9.81])
MODEL = f"""
<mujoco>
  <option timestep="1e-4" gravity="0 0 -9.81"><flag contact="disable"/></option>
  <worldbody>
    <body name="upper" pos="0.1 0.2 1">
      <joint name="shoulder" axis="0 1 0"/>
      <geom name="upper" type="capsule" size="0.02" fromto="0 0 0 {LINK_M} 0 0" mass="1"/>
      <site name="shoulder" pos="0 0 0.05"/>
      <body name="lower" pos="{LINK_M} 0 0">
        <joint name="elbow" axis="0 1 0"/>
        <geom name="lower" type="sphere" size="0.02" pos="{LINK_M} 0 0" mass="2"/>
        <site name="tip" pos="{LINK_M} 0 0"/>
      </body>
    </body>
  </worldbody>
  <sensor>
    <framepos name="tip_pos" objtype="site" objname="tip"/>
    <framequat name="tip_quat" objtype="site" objname="tip"/>
    <framepos name="near_pos" objtype="site" objname="tip" reftype="site" refname="shoulder"/>
    <framequat name="near_quat" objtype="site" objname="tip" reftype="site" refname="shoulder"/>
    <framelinvel name="tip_linvel" objtype="site" objname="tip"/>
    <frameangvel name="tip_angvel" objtype="site" objname="tip"/>
    <framelinacc name="tip_linacc" objtype="site" objname="tip"/>
    <velocimeter name="tip_speed" site="tip"/>
    <framezaxis name="lower_z" objtype="xbody" objname="lower"/>
    <framepos name="mass_pos" objtype="body" objname="lower"/>
    <framepos name="to_geom" objtype="site" objname="shoulder" reftype="geom" refname="lower"/>
    <subtreecom name="com" body="upper"/>
    <subtreelinvel name="com_velocity" body="upper"/>
    <subtreeangmom name="momentum" body="upper"/>
  </sensor>
</mujoco>"""


class Arm:
    """The simulated arm, and the readings of its sensors by kind and name."""

    def __init__(self, path):
        path.write_text(MODEL)
        self.simulation = Simulation(load_scene(str(path)), sensor_noise=False)
        self.simulation.data.qpos[:] = 0.4, -1.1
        self.simulation.data.qvel[:] = 1.5, -0.7
        self.robot = self.simulation.layout.robots[0]

    def sensor(self, kind: str, name: str) -> RobotSensor:
        return next(it for it in self.robot.sensors[kind] if it.name == name)

    def read(self, kind: str, name: str, measurement: str, size: int = 3) -> np.ndarray:
        start = self.sensor(kind, name).addresses[measurement]
        return self.simulation.sample.sensordata[start : start + size].copy()

    def step(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the joint positions and velocities of the sample."""
        self.simulation.step()
        return self.simulation.sample.qpos.copy(), self.simulation.sample.qvel.copy()


@pytest.fixture
def arm(tmp_path):
    return Arm(tmp_path / "arm.xml")


def tip(q):
    """Return the position of the tip: a plane chain, whose joints turn x towards -z."""
    first, second = q[0], q[0] + q[1]
    x = LINK_M * (np.cos(first) + np.cos(second))
    z = -LINK_M * (np.sin(first) + np.sin(second))
    return np.array([0.1 + x, 0.2, 1 + z])


def test_the_pose_of_a_site_is_its_forward_kinematics(arm):
    q, _ = arm.step()
    sensor = arm.sensor("pose", "tip")
    assert (sensor.frame.name, sensor.frame.is_global) == ("world", True)
    np.testing.assert_allclose(arm.read("pose", "tip", "position"), tip(q), atol=1e-12)
    half = (q[0] + q[1]) / 2
    expected = [np.cos(half), 0, np.sin(half), 0]
    np.testing.assert_allclose(arm.read("pose", "tip", "quat_wxyz", 4), expected, atol=1e-12)


def test_a_pose_relative_to_a_site_is_another_sensor_in_the_frame_of_that(arm):
    q, _ = arm.step()
    sensor = arm.sensor("pose", "near_pos")
    assert sensor.frame.name == "shoulder"
    turn = np.array([[np.cos(q[0]), 0, np.sin(q[0])], [0, 1, 0], [-np.sin(q[0]), 0, np.cos(q[0])]])
    origin = np.array([0.1, 0.2, 1.0]) + turn @ [0, 0, 0.05]
    expected = turn.T @ (tip(q) - origin)
    np.testing.assert_allclose(arm.read("pose", "near_pos", "position"), expected, atol=1e-12)
    half = q[1] / 2
    np.testing.assert_allclose(
        arm.read("pose", "near_pos", "quat_wxyz", 4), [np.cos(half), 0, np.sin(half), 0], atol=1e-12
    )


def test_a_twist_is_the_derivative_of_the_pose(arm):
    before, _ = arm.step()
    _, dq = arm.step()
    linear, angular = (arm.read("twist", "tip", it) for it in ("linear", "angular"))
    after, _ = arm.step()
    timestep = arm.simulation.model.opt.timestep
    difference = (tip(after) - tip(before)) / (2 * timestep)
    np.testing.assert_allclose(linear, difference, atol=2e-3)
    np.testing.assert_allclose(angular, [0, dq.sum(), 0], atol=1e-12)


def test_a_velocimeter_reads_the_twist_in_the_frame_of_its_site(arm):
    q, _ = arm.step()
    linear = arm.read("twist", "tip", "linear")
    assert arm.sensor("velocimeter", "tip_speed").frame.name == "tip"
    turn = q.sum()
    axes = np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]])
    read = arm.read("velocimeter", "tip_speed", "linear")
    np.testing.assert_allclose(axes @ read, linear, atol=1e-12)


def test_a_linear_acceleration_is_the_derivative_of_the_velocity_minus_gravity(arm):
    arm.step()
    before = arm.read("twist", "tip", "linear")
    arm.step()
    sensor = arm.sensor("accel", "tip_linacc")
    assert np.isnan([sensor.constants[f"accel.angular.{axis}"] for axis in "xyz"]).all()
    acceleration = arm.read("accel", "tip_linacc", "linear")
    arm.step()
    timestep = arm.simulation.model.opt.timestep
    difference = (arm.read("twist", "tip", "linear") - before) / (2 * timestep)
    np.testing.assert_allclose(acceleration, difference - GRAVITY, atol=0.02)


def test_an_axis_is_that_of_its_body(arm):
    q, _ = arm.step()
    expected = [np.sin(q.sum()), 0, np.cos(q.sum())]
    np.testing.assert_allclose(arm.read("axis", "lower_z", "vector"), expected, atol=1e-12)


def test_centre_of_mass_and_momentum_follow_from_the_masses(arm):
    q, dq = arm.step()
    first = np.array([np.cos(q[0]), 0, -np.sin(q[0])])
    masses = np.array([1.0, 2.0])
    points = np.array([[0.1, 0.2, 1] + LINK_M / 2 * first, tip(q)])
    com = masses @ points / masses.sum()
    np.testing.assert_allclose(arm.read("subtree_com", "com", "point"), com, atol=1e-12)
    speeds = np.array(
        [
            np.cross([0, dq[0], 0], points[0] - [0.1, 0.2, 1]),
            arm.read("twist", "tip", "linear"),
        ]
    )
    velocity = masses @ speeds / masses.sum()
    read = arm.read("subtree_linvel", "com_velocity", "vector")
    np.testing.assert_allclose(read, velocity, atol=1e-12)
    momentum = (masses[:, None] * np.cross(points - com, speeds)).sum(axis=0)
    model = arm.simulation.model
    inertia = [model.body(name).inertia for name in ("upper", "lower")]
    # The joint axis is a principal axis of both: one of the equal two of the capsule.
    momentum[1] += inertia[0].max() * dq[0] + inertia[1].max() * dq.sum()
    read = arm.read("subtree_angmom", "momentum", "vector")
    np.testing.assert_allclose(read, momentum, atol=1e-10)


def test_the_frames_of_geoms_and_inertias_are_fixed_to_their_bodies(arm):
    arm.step()
    sensor = arm.sensor("pose", "to_geom")
    lower = arm.simulation.model.body("lower").id
    assert (sensor.frame.name, sensor.frame.body) == ("lower_geom", lower)
    assert sensor.frame.position == (LINK_M, 0.0, 0.0)
    assert arm.robot.unused_sensors == ()
