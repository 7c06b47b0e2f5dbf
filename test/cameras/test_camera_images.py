"""Images of a camera with its noise."""

from collections.abc import Collection
from contextlib import closing

import mujoco
import numpy as np
import pytest

from mujoco_ros.cameras.camera_images import COLOUR, DEPTH, SEGMENTATION, camera_images
from mujoco_ros.model.sensors.cameras import Camera, CameraNoise, compute_poses, intrinsics_of
from mujoco_ros.rendering.gl import RenderingError
from mujoco_ros.rendering.renderer import Renderer

MODEL = mujoco.MjModel.from_xml_string("""
<mujoco>
  <worldbody>
    <camera pos="0 0 3"/>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.5"><freejoint/><geom type="box" size="0.3 0.2 0.1"/></body>
    <body mocap="true" pos="1 0 0.5"><geom size="0.2"/></body>
  </worldbody>
</mujoco>""")
CAMERA = Camera(
    name="above",
    namespace="",
    frame="above_optical_frame",
    camera=0,
    body=0,
    width=40,
    height=30,
    intrinsics=intrinsics_of(MODEL, 0, 40, 30),
    noise=CameraNoise(colour=5.0, depth=0.01),
)
ALL = (COLOUR, DEPTH, SEGMENTATION)


def images(products: Collection[str] = ALL, time: float = 1.0) -> dict[str, np.ndarray]:
    data = mujoco.MjData(MODEL)
    compute_poses(MODEL, data)
    try:
        renderer = Renderer(MODEL)
    except RenderingError as error:
        pytest.skip(str(error))
    with closing(renderer):
        found = camera_images(renderer, data, CAMERA, products, seed=3, time=time)
        return {product: image.copy() for product, image in found.items()}


def test_an_image_does_not_depend_on_other_images():
    everything = images()
    assert everything.keys() == set(ALL)
    for product in ALL:
        (image,) = images([product]).values()
        np.testing.assert_array_equal(image, everything[product])


def test_another_time_has_other_noise_and_the_same_objects():
    before, after = images(), images(time=1.002)
    for product, same in {COLOUR: False, DEPTH: False, SEGMENTATION: True}.items():
        assert np.array_equal(before[product], after[product]) == same


def test_poses_follow_from_positions_and_mocap_poses():
    data, whole = mujoco.MjData(MODEL), mujoco.MjData(MODEL)
    for each in (data, whole):
        each.qpos[:3], each.mocap_pos[0] = (0.1, 0.2, 0.3), (0.5, 0.4, 0.3)
    compute_poses(MODEL, data)
    mujoco.mj_forward(MODEL, whole)
    for name in ("geom_xpos", "geom_xmat", "cam_xpos", "cam_xmat"):
        np.testing.assert_array_equal(getattr(data, name), getattr(whole, name))
