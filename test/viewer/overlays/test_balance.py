"""The balance of a standing robot."""

import mujoco
import numpy as np
import pytest
from overlay_scenes import initial_scene

from mujoco_ros.viewer.overlays.balance import balance_of


@pytest.fixture
def scene():
    return initial_scene("humanoid")


def standing(scene):
    model, data = scene.model, scene.data
    for _ in range(200):
        mujoco.mj_step(model, data)
        if data.ncon >= 3:
            break
    mujoco.mj_forward(model, data)
    return next(robot for robot in scene.layout.robots if robot.bases)


def test_the_capture_point_is_ahead_of_a_moving_centre_of_mass(scene):
    robot = standing(scene)
    base = robot.bases[0]
    scene.data.qvel[:] = 0.0
    mujoco.mj_forward(scene.model, scene.data)
    still = balance_of(scene, robot)
    np.testing.assert_allclose(still.capture, still.centre, atol=1e-6)
    scene.data.qvel[base.dof] = 1.0
    mujoco.mj_forward(scene.model, scene.data)
    moving = balance_of(scene, robot)
    assert moving.capture[0] > moving.centre[0] + 0.1
    assert moving.capture[1] == pytest.approx(moving.centre[1], abs=1e-6)


def test_the_zmp_is_within_the_support_polygon(scene):
    balance = balance_of(scene, standing(scene))
    assert balance.pressure is not None
    assert len(balance.support) > 2
    low, high = balance.support.min(axis=0), balance.support.max(axis=0)
    assert (low - 1e-6 <= balance.pressure).all()
    assert (balance.pressure <= high + 1e-6).all()


def test_in_the_air_there_is_no_zmp(scene):
    robot = next(robot for robot in scene.layout.robots if robot.bases)
    scene.data.qpos[robot.bases[0].qpos + 2] += 1.0
    mujoco.mj_forward(scene.model, scene.data)
    balance = balance_of(scene, robot)
    assert balance.pressure is None
    assert not balance.is_stable
