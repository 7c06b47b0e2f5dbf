"""The initial camera pose."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.viewer.framing import fit_camera
from mujoco_ros.viewer.projection import ScreenProjection

PAGE = (1280.0, 768.0)
SCENE = (300.0, 24.0, 600.0, 500.0)


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjSpec.from_string(
        "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>"
    ).compile()


def test_the_middle_of_the_page_moves_to_the_height_of_the_middle_of_the_scene(model):
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    middle, distance = np.array(camera.lookat), camera.distance
    fit_camera(model, camera, SCENE, PAGE[1])
    x, y = ScreenProjection.of(model, data, camera, *PAGE).project(middle)
    assert x == pytest.approx(PAGE[0] / 2.0)
    assert y == pytest.approx(SCENE[1] + SCENE[3] / 2.0, abs=15.0)
    assert camera.distance == pytest.approx(distance * PAGE[1] / SCENE[3])
