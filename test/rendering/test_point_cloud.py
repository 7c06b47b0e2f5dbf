"""Point clouds from depth and colour."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.sensors.cameras import Intrinsics, resolve_camera
from mujoco_ros.rendering.gl import RenderingError
from mujoco_ros.rendering.point_cloud import POINT, PointCloud
from mujoco_ros.rendering.renderer import Renderer

OPTICS = Intrinsics(fx=100.0, fy=120.0, cx=30.0, cy=20.5)


def test_a_point_projects_onto_its_pixel():
    depth = np.random.default_rng(1).uniform(0.5, 5, (48, 64)).astype(np.float32)
    cloud = PointCloud(OPTICS, 64, 48).fill(depth)
    assert cloud.dtype == POINT
    assert cloud.shape == (48, 64)
    np.testing.assert_array_equal(cloud["z"], depth)
    v, u = np.mgrid[:48, :64]
    np.testing.assert_allclose(100 * cloud["x"] / cloud["z"] + 30, u, atol=1e-4)
    np.testing.assert_allclose(120 * cloud["y"] / cloud["z"] + 20.5, v, atol=1e-4)


def test_a_pixel_without_a_hit_has_no_point():
    depth = np.full((48, 64), 2.0, np.float32)
    depth[0, 0], depth[1, 1], depth[2, 2] = np.inf, 0.0, np.nan
    points = PointCloud(OPTICS, 64, 48)
    cloud = points.fill(depth)
    empty = np.isnan(cloud["x"]) & np.isnan(cloud["y"]) & np.isnan(cloud["z"])
    assert np.argwhere(empty).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert not np.isnan(points.fill(np.full((48, 64), 2.0, np.float32))["x"]).any()


def test_colours_are_packed_as_in_pcl():
    colour = np.random.default_rng(2).integers(0, 256, (48, 64, 3), dtype=np.uint8)
    cloud = PointCloud(OPTICS, 64, 48).fill(np.ones((48, 64), np.float32), colour)
    packed = cloud["rgb"].copy().view(np.uint32)
    np.testing.assert_array_equal(packed >> 16, colour[..., 0])
    np.testing.assert_array_equal(packed >> 8 & 255, colour[..., 1])
    np.testing.assert_array_equal(packed & 255, colour[..., 2])


def test_the_buffer_is_the_same_for_every_cloud():
    points = PointCloud(OPTICS, 64, 48)
    depth = np.ones((48, 64), np.float32)
    assert points.fill(depth) is points.fill(depth)


BOX = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="box" type="box" size="0.2 0.15 0.1" pos="0 0 -0.1" euler="25 -35 20"/>
    <camera name="eye" pos="0 0 1" resolution="320 240"/>
  </worldbody>
</mujoco>"""


def test_the_cloud_of_a_rendered_box_lies_within_2_mm_of_its_surface_at_1_m():
    model = mujoco.MjModel.from_xml_string(BOX)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = resolve_camera(model, 0, name="eye", configs=[])
    optics = camera.intrinsics
    try:
        renderer = Renderer(model)
    except RenderingError as error:
        pytest.skip(f"EGL: {error}")
    frame = renderer.frame(data, camera)
    cloud = PointCloud(optics, 320, 240).fill(frame.depth)
    renderer.close()
    hit = ~np.isnan(cloud["z"])
    assert 4000 < hit.sum() < 60_000
    optical = np.stack([cloud["x"][hit], -cloud["y"][hit], -cloud["z"][hit]], axis=-1)
    world = data.cam_xpos[0] + optical @ data.cam_xmat[0].reshape(3, 3).T
    local = (world - data.geom_xpos[0]) @ data.geom_xmat[0].reshape(3, 3)
    beyond = np.abs(local) - model.geom_size[0]  # from each pair of sides, outwards
    surface = np.abs(beyond.max(axis=1))  # of points within the edges
    assert surface.max() < 0.002
    assert set(np.argmax(beyond, axis=1)) == {0, 1, 2}, "three sides of the box are in view"
