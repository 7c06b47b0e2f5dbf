"""Noise of camera images."""

from dataclasses import replace

import numpy as np
import pytest

from mujoco_ros.cameras.camera_images import ImageNoise
from mujoco_ros.model.sensors.cameras import Camera, CameraNoise, Intrinsics

CAMERA = Camera(
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
NOISE = ImageNoise(CAMERA, 1, 0.0)


def of(**noise: float) -> ImageNoise:
    return ImageNoise(replace(CAMERA, noise=CameraNoise(**noise)), 1, 0.0)


def grey(noise: ImageNoise) -> np.ndarray:
    image = np.full((60, 80, 3), 128, np.uint8)
    noise.add_to_colour(image)
    return image


def flat(noise: ImageNoise, metres: float) -> np.ndarray:
    depth = np.full((120, 160), metres, np.float32)
    noise.add_to_depth(depth)
    return depth


def test_noise_depends_on_seed_camera_and_time_alone():
    first = grey(ImageNoise(CAMERA, 1, 0.3))
    again = ImageNoise(CAMERA, 1, 0.1 + 0.2)  # which is not quite 0.3
    flat(again, 1.0)
    grey(ImageNoise(CAMERA, 1, 0.2))
    np.testing.assert_array_equal(grey(again), first)
    others = [
        (CAMERA, 2, 0.3),
        (replace(CAMERA, name="head"), 1, 0.3),
        (replace(CAMERA, namespace="right"), 1, 0.3),
        (CAMERA, 1, 0.302),
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
