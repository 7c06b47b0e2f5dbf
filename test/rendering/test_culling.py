"""Geoms that are culled from an image."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.sensors.cameras import Camera, Intrinsics
from mujoco_ros.rendering.renderer import frustum_of, only, visible_geoms

# Its edges at 1 m: left -1, right 0.5, top 0.8, bottom -0.4.
CAMERA = Camera(
    name="eye",
    namespace="",
    frame="eye_optical_frame",
    camera=0,
    body=0,
    width=150,
    height=120,
    intrinsics=Intrinsics(fx=100.0, fy=100.0, cx=99.5, cy=79.5),
)
BALL = """
<mujoco><worldbody>
  <geom size="0.5" pos="{} {} {}" group="1"/>
  <geom type="plane" size="0 0 1" pos="0 0 9"/>
  <camera/>
</worldbody></mujoco>"""


def made(x: float, y: float, z: float) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(BALL.format(x, y, z))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def test_the_edges_of_a_view_are_half_a_pixel_beyond_the_outer_pixels():
    assert frustum_of(CAMERA) == pytest.approx((-1.0, 0.5, 0.8, -0.4))


@pytest.mark.parametrize(
    ("side", "normal"),
    [
        ((-1.0, 0), (-1, 0, 1.0)),
        ((0.5, 0), (1, 0, 0.5)),
        ((0, 0.8), (0, 1, 0.8)),
        ((0, -0.4), (0, -1, 0.4)),
    ],
    ids=["left", "right", "top", "bottom"],
)
@pytest.mark.parametrize(("distance", "visible"), [(0.499, True), (0.501, False)])
def test_a_ball_is_visible_until_it_no_longer_touches_the_frustum(side, normal, distance, visible):
    # The optical axis is -z: the normal points outwards from a point on that side at 4 m.
    outwards = np.array(normal) / np.linalg.norm(normal)
    place = np.array([4 * side[0], 4 * side[1], -4]) + distance * outwards
    model, data = made(*place)
    assert visible_geoms(model, data, CAMERA).tolist() == [visible, True], "planes always are"


@pytest.mark.parametrize(("z", "visible"), [(0.499, True), (0.501, False), (-5.0, True)])
def test_a_ball_behind_the_camera_is_not_visible(z, visible):
    model, data = made(0, 0, z)
    assert visible_geoms(model, data, CAMERA)[0] == visible


def test_geoms_that_are_left_out_are_moved_to_a_group_that_is_not_rendered_and_back():
    model, _ = made(0, 0, -5)
    with only(model, np.array([False, True]), (0, 1, 2)):
        assert model.geom_group[0] not in (0, 1, 2)
        assert model.geom_group[1] == 0
    assert model.geom_group.tolist() == [1, 0]
    with only(model, np.array([False, True]), range(6)):
        assert model.geom_group.tolist() == [1, 0], "every group is rendered"
