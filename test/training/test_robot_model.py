"""The model of the training is the shipped robot."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from training.policy_table import load_policy_table
from training.robot_model import FEET, FOOT_RADIUS, make_robot


@pytest.fixture(scope="module")
def table():
    return load_policy_table()


@pytest.fixture(scope="module")
def robot(table):
    return make_robot(table, 0.005)


def test_masses_inertias_and_joints_are_those_of_the_shipped_robot(robot):
    shipped = assemble(load_scene("quadruped")).model
    model = robot.model
    for name in ("body_mass", "body_inertia", "body_pos", "body_ipos", "jnt_range", "dof_armature"):
        first = len(getattr(shipped, name)) - len(getattr(model, name))
        np.testing.assert_allclose(getattr(model, name), getattr(shipped, name)[first:], atol=1e-12)
    assert model.nmesh == 0
    assert model.nsensor == 0


def test_only_the_feet_touch_the_plane(robot):
    data = mujoco.MjData(robot.model)
    mujoco.mj_resetDataKeyframe(robot.model, data, 0)
    data.qpos[2] -= 0.3
    mujoco.mj_forward(robot.model, data)
    pairs = {tuple(sorted(it)) for it in data.contact.geom.tolist()}
    floor = robot.model.geom("floor").id
    assert pairs == {tuple(sorted((floor, int(foot)))) for foot in robot.feet}
    assert [robot.model.geom(int(it)).name for it in robot.feet] == list(FEET)
    assert robot.model.geom_size[robot.feet, 0] == pytest.approx(FOOT_RADIUS)


def test_the_actuators_are_servos_with_the_gains_of_the_policy(robot, table):
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[7:], data.qvel[6:] = 0.1, 0.5
    data.ctrl[:] = 0.2
    mujoco.mj_forward(model, data)
    expected = table.kp * 0.1 - table.kd * 0.5
    np.testing.assert_allclose(data.actuator_force, expected, rtol=1e-9)
    data.ctrl[:] = 3.0
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.actuator_force, robot.limits)
    assert robot.limits.tolist() == [44.0, 44.0, 55.0] * 4


def test_the_default_pose_is_that_of_the_table(robot):
    np.testing.assert_allclose(robot.default_pose, [0.0, 0.8, -1.5] * 4)
    np.testing.assert_allclose(robot.stand, [0.0, 0.65, -1.3] * 4)
    assert robot.stand_height == 0.423
