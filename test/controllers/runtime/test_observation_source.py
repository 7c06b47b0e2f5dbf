"""Observations of a simulated robot, and its model."""

from typing import Any, get_args, get_type_hints

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.runtime.observation_source import ObservationSource
from mujoco_ros.controllers.runtime.robot_bindings import PrivilegedAccess
from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.sim.simulation import Simulation


def test_a_robot_model_has_limits_and_a_private_copy_of_the_model(pendulums):
    simulation = pendulums()
    robot = robot_model(simulation.plant, 0)
    assert robot.joints == ("a", "b", "loose")
    assert robot.lower.tolist() == pytest.approx([-np.pi / 2, -np.inf, -np.inf])
    assert robot.velocity.tolist() == [2.0, np.inf, np.inf]
    assert robot.effort.tolist() == [20.0, np.inf, np.inf]
    assert robot.qpos.tolist() == robot.dof.tolist() == [0, 1, 2]
    assert robot.home.tolist() == [0, 0, 0]
    robot.model.opt.timestep = 1.0
    assert simulation.model.opt.timestep == 0.001


def test_an_observation_declares_a_field_with_a_type_for_each_kind_of_sensor():
    hints = get_type_hints(Observation)
    for kind in SENSOR_KINDS:
        assert Any not in get_args(hints[kind.observation])
    assert Observation.__mro__ == (Observation, object)


def test_an_observation_is_a_copy_of_the_sample(pendulums):
    simulation = pendulums()
    simulation.data.qpos[:3] = 0.1, 0.2, 0.3
    simulation.step()
    senses = ObservationSource(simulation.plant, 0)
    seen = senses.observe(simulation.time)
    assert seen.q.tolist() == [0.1, 0.2, 0.3]
    assert seen.base is None
    assert seen.objects["ball"].position.tolist() == [1, 0, 0.5]
    load = seen.wrenches["tip"].force.copy()
    for _ in range(5):
        simulation.step()
    assert seen.q.tolist() == [0.1, 0.2, 0.3]
    assert np.array_equal(seen.wrenches["tip"].force, load)
    assert senses.observe(simulation.time).q.tolist() != seen.q.tolist()


def test_a_hanging_weight_gives_a_downward_force_for_any_sign_of_the_topics():
    simulation = Simulation(load_scene("arm"))
    for _ in range(500):
        simulation.step()
    seen = ObservationSource(simulation.plant, 0).observe(simulation.time)
    site = next(s for s in simulation.layout.robots[0].sensors["wrench"] if s.name == "wrist_ft")
    in_world = simulation.data.site_xmat[site.site].reshape(3, 3) @ seen.wrenches["wrist_ft"].force
    assert in_world[2] < -5.0
    assert np.abs(in_world[:2]).max() < 1.0
    assert set(seen.touches) == {"left_pad", "right_pad"}
    assert seen.imus["gripper_imu"].quat_wxyz is None
    assert np.linalg.norm(seen.imus["gripper_imu"].linear_acceleration) == pytest.approx(9.81, 0.01)


def test_the_velocity_of_a_base_is_in_its_own_frame():
    simulation = Simulation(load_scene("quadruped"))
    base = simulation.layout.robots[0].bases[0]
    quat, linear = np.zeros(4), np.array([1.0, 0.0, 0.0])
    mujoco.mju_euler2Quat(quat, np.array([0.0, 0.0, np.pi / 2]), "xyz")
    simulation.data.qpos[base.qpos + 3 : base.qpos + 7] = quat
    simulation.data.qvel[base.dof : base.dof + 3] = linear
    simulation.data.qvel[base.dof + 3 : base.dof + 6] = 0.1, 0.2, 0.3
    simulation.step()
    seen = ObservationSource(simulation.plant, 0).observe(simulation.time).base
    assert seen is not None
    assert np.allclose(seen.linear, (0, -1, 0), atol=1e-12)  # heading y, motion along x
    assert seen.angular.tolist() == [0.1, 0.2, 0.3]
    assert np.allclose(seen.pose.quat_wxyz, quat)


def test_ranges_have_the_single_precision_of_their_topic(tmp_path):
    (tmp_path / "robot.xml").write_text(
        "<mujoco model='robot'><worldbody><geom type='plane' size='9 9 1'/>"
        "<body pos='0 0 0.71'><joint type='slide' axis='0 0 1'/><geom size='.1'/>"
        "<site name='ray' pos='0 0 -.2' quat='0 1 0 0'/></body></worldbody>"
        "<sensor><rangefinder name='ray' site='ray'/></sensor></mujoco>"
    )
    simulation = Simulation(load_scene(str(tmp_path / "robot.xml")))
    simulation.step()
    distance = float(simulation.sample.sensordata[0])
    found = ObservationSource(simulation.plant, 0).observe(0.0).ranges["ray"]
    assert found == float(np.float32(distance)) != distance


def test_none_of_several_bases_is_the_base_of_a_robot(tmp_path):
    body = (
        '<body name="{0}" pos="0 {1} 1"><freejoint/><geom size=".1"/>'
        '<body name="{0}_arm"><joint name="{0}"/><geom size=".1"/></body></body>'
    )
    bodies = body.format("one", 0) + body.format("two", 1)
    (tmp_path / "pair.xml").write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    simulation = Simulation(load_scene(str(tmp_path / "pair.xml")))
    assert ObservationSource(simulation.plant, 0).observe(0.0).base is None
    access = PrivilegedAccess(simulation.plant, 0)
    access.set_pose("two", Pose(position=np.array([0.0, 3.0, 1.0])))
    one, two = simulation.layout.robots[0].bases
    assert simulation.data.qpos[[one.qpos + 1, two.qpos + 1]].tolist() == [0.0, 3.0]
    with pytest.raises(LookupError, match="free body 'pair' not found; there are: one, two"):
        access.set_pose("pair", Pose())
