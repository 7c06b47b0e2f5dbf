"""Images of a camera with its noise."""

from collections.abc import Collection
from contextlib import closing
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from mujoco_ros.cameras.camera_images import COLOUR, DEPTH, SEGMENTATION, ImageNoise, camera_images
from mujoco_ros.model.sensors.cameras import (
    Camera,
    CameraNoise,
    Intrinsics,
    compute_poses,
    intrinsics_of,
)
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


NOISY = Camera(
    name="wrist",
    namespace="left",
    frame="wrist_optical_frame",
    camera=0,
    body=0,
    width=80,
    height=60,
    intrinsics=Intrinsics(fx=5.0, fy=5.0, cx=3.5, cy=2.5),
    noise=CameraNoise(colour=5.0, depth=0.01),
)
NOISE = ImageNoise(NOISY, 1, 0.0)


def of(**noise: float) -> ImageNoise:
    return ImageNoise(replace(NOISY, noise=CameraNoise(**noise)), 1, 0.0)


def grey(noise: ImageNoise) -> np.ndarray:
    image = np.full((60, 80, 3), 128, np.uint8)
    noise.add_to_colour(image)
    return image


def flat(noise: ImageNoise, metres: float) -> np.ndarray:
    depth = np.full((120, 160), metres, np.float32)
    noise.add_to_depth(depth)
    return depth


def test_noise_depends_on_seed_camera_and_time_alone():
    first = grey(ImageNoise(NOISY, 1, 0.3))
    again = ImageNoise(NOISY, 1, 0.1 + 0.2)  # which is not quite 0.3
    flat(again, 1.0)
    grey(ImageNoise(NOISY, 1, 0.2))
    np.testing.assert_array_equal(grey(again), first)
    others = [
        (NOISY, 2, 0.3),
        (replace(NOISY, name="head"), 1, 0.3),
        (replace(NOISY, namespace="right"), 1, 0.3),
        (NOISY, 1, 0.302),
    ]
    for other in others:
        assert (grey(ImageNoise(*other)) != first).any()


def test_colours_spread_by_their_deviation_and_do_not_overflow():
    image = grey(NOISE).astype(float)
    assert image.std() == pytest.approx(5.0, rel=0.05)
    assert image.mean() == pytest.approx(128.0, abs=0.3)
    white = np.full((60, 80, 3), 254, np.uint8)
    NOISE.add_to_colour(white)
    assert white.min() > 220
    assert white.max() == 255


@pytest.mark.parametrize("metres", [1.0, 3.0])
def test_depth_spreads_with_the_square_of_the_distance(metres):
    depth = flat(NOISE, metres)
    assert depth.std() == pytest.approx(0.01 * metres**2, rel=0.05)
    assert depth.mean() == pytest.approx(metres, abs=0.001 * metres**2)


@pytest.mark.filterwarnings("error")
def test_missing_depth_remains_missing_and_no_depth_is_negative():
    noise = of(depth=1.0)
    assert (flat(noise, np.inf) == np.inf).all()
    assert flat(noise, 2.0).min() == 0.0


def test_without_noise_images_do_not_change():
    noise = of()
    assert (grey(noise) == 128).all()
    assert (flat(noise, 1.0) == 1.0).all()
