"""A free place for another model."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.viewer.free_place import free_place

SCENE = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="table" pos="2 0 0.35"><geom type="box" size="0.5 0.5 0.35"/></body>
    <body name="arm" pos="0 0 0.3">
      <joint type="hinge" axis="0 0 1"/>
      <geom type="box" size="0.3 0.3 0.3"/>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def scene():
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def test_a_free_point_is_the_place(scene):
    place = free_place(*scene, np.array([-2.0, 1.0, 0.0]), half=0.1)
    np.testing.assert_allclose(place, [-2.0, 1.0, 0.15], atol=1e-9)


def test_a_place_is_beside_what_moves(scene):
    x, y, z = free_place(*scene, np.zeros(3), half=0.1)
    assert max(abs(x), abs(y)) > 0.4, "the box of 0.1 does not touch the arm"
    assert np.hypot(x, y) < 0.8, "it is near"
    assert z == pytest.approx(0.15)


def test_a_place_is_on_a_table(scene):
    place = free_place(*scene, np.array([2.0, 0.0, 0.7]), half=0.1)
    np.testing.assert_allclose(place, [2.0, 0.0, 0.85], atol=1e-9)


def test_without_a_floor_there_is_no_place():
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert free_place(model, data, np.zeros(3)) is None
