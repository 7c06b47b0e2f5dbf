"""Kinematics of a floating base agree with finite differences, soles with the geometry."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.planning.kinematics.sole import find_soles
from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.plant import Plant

STEP_S = 1e-6
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
FEET = {
    "humanoid": ("left_foot", "right_foot"),
    "quadruped": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
}


def plant(scene: str) -> Plant:
    return Plant(assemble(load_scene(scene)), lambda _event: None)


@pytest.fixture(scope="module", params=FEET)
def robot(request):
    return robot_model(plant(request.param), 0)


@pytest.fixture
def body(robot) -> FloatingBaseKinematics:
    foot = robot.prefix + FEET[robot.name][0]
    found = FloatingBaseKinematics(robot.model, robot.qpos, robot.dof, foot)
    tilted = np.array([0.9, 0.1, -0.2, 0.3])
    found.update(np.array([0.3, -0.1, 0.9]), tilted / np.linalg.norm(tilted), robot.home)
    return found


def test_jacobians_and_velocities_agree_with_finite_differences(robot, body):
    velocity = np.random.default_rng(1).normal(size=body.size)
    foot = robot.model.body(robot.prefix + FEET[robot.name][0]).id
    jacobian, com_jacobian = np.zeros((6, body.size)), np.zeros((3, body.size))
    point, com = body.data.xpos[foot].copy(), body.com.copy()
    body.jacobian(point, foot, jacobian)
    body.com_jacobian(com_jacobian)
    body.update_velocity(velocity)
    com_velocity = body.com_velocity.copy()
    body.integrate(velocity, STEP_S)
    moved = (body.data.xpos[foot] - point) / STEP_S
    np.testing.assert_allclose(jacobian[:3] @ velocity, moved, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(com_jacobian @ velocity, (body.com - com) / STEP_S, atol=1e-4)
    np.testing.assert_allclose(com_velocity, com_jacobian @ velocity, atol=1e-9)


def test_the_soles_touch_the_ground_at_the_start(robot, body):
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[:] = plant(robot.name).start.qpos
    body.update(np.zeros(3), UPRIGHT, robot.home)
    soles = find_soles(model, body.data, robot.prefix, FEET[robot.name])
    mujoco.mj_kinematics(model, data)
    for sole in soles:
        position, axes = sole.frame(data)
        assert position[2] == pytest.approx(0.0, abs=2e-3)
        np.testing.assert_allclose(axes, np.eye(3), atol=1e-6)


def test_the_sole_of_the_humanoid_is_the_bottom_of_its_box(robot, body):
    if robot.name != "humanoid":
        pytest.skip("its feet are balls")
    body.update(np.zeros(3), UPRIGHT, robot.home)
    geom = robot.model.geom(f"{robot.prefix}left_foot_col")
    (sole,) = find_soles(robot.model, body.data, robot.prefix, ("left_foot",))
    np.testing.assert_allclose(sole.half_size, geom.size[:2], atol=1e-9)
    np.testing.assert_allclose(sole.position, geom.pos - (0.0, 0.0, geom.size[2]), atol=1e-9)


def test_a_foot_without_collisions_is_rejected(robot, body):
    camera = next(
        name.removeprefix(robot.prefix)
        for i in range(robot.model.nbody)
        if (name := robot.model.body(i).name).startswith(robot.prefix)
        and not robot.model.geom_contype[robot.model.geom_bodyid == i].any()
        and not robot.model.geom_conaffinity[robot.model.geom_bodyid == i].any()
    )
    with pytest.raises(UserInputError, match=f"foot '{camera}' has no collision geometry"):
        find_soles(robot.model, body.data, robot.prefix, (camera,))
