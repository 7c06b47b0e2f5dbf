"""Noise of pictures."""

import numpy as np
import pytest

from mujoco_ros.model.sensors.cameras import CameraNoise
from mujoco_ros.rendering.image_noise import ImageNoise

NOISE = CameraNoise(colour=5.0, depth=0.01)


def grey(grain: ImageNoise, step: int = 0) -> np.ndarray:
    picture = np.full((60, 80, 3), 128, np.uint8)
    grain.colour(picture, step)
    return picture


def flat(grain: ImageNoise, metres: float, step: int = 0) -> np.ndarray:
    depth = np.full((120, 160), metres, np.float32)
    grain.depth(depth, step)
    return depth


def test_noise_depends_on_seed_camera_and_step_alone():
    first = grey(ImageNoise(NOISE, 1, "wrist"), step=3)
    again = ImageNoise(NOISE, 1, "wrist")
    flat(again, 1.0, step=3)
    grey(again, step=2)
    np.testing.assert_array_equal(grey(again, step=3), first)
    others = [(2, "wrist", 3), (1, "head", 3), (1, "wrist", 4)]
    for seed, camera, step in others:
        assert (grey(ImageNoise(NOISE, seed, camera), step) != first).any()


def test_colours_spread_by_their_deviation_and_do_not_overflow():
    grain = ImageNoise(NOISE, 1, "wrist")
    picture = grey(grain).astype(float)
    assert picture.std() == pytest.approx(5.0, rel=0.05)
    assert picture.mean() == pytest.approx(128.0, abs=0.3)
    white = np.full((60, 80, 3), 254, np.uint8)
    grain.colour(white, 0)
    assert white.min() > 220
    assert white.max() == 255


@pytest.mark.parametrize("metres", [1.0, 3.0])
def test_depth_spreads_with_the_square_of_the_distance(metres):
    depth = flat(ImageNoise(NOISE, 1, "wrist"), metres)
    assert depth.std() == pytest.approx(0.01 * metres**2, rel=0.05)
    assert depth.mean() == pytest.approx(metres, abs=0.001 * metres**2)


@pytest.mark.filterwarnings("error")
def test_nothing_stays_nothing_and_no_depth_is_negative():
    grain = ImageNoise(CameraNoise(depth=1.0), 1, "wrist")
    assert (flat(grain, np.inf) == np.inf).all()
    assert flat(grain, 2.0).min() == 0.0


def test_without_noise_pictures_are_left_alone():
    grain = ImageNoise(CameraNoise(), 1, "wrist")
    assert (grey(grain) == 128).all()
    assert (flat(grain, 1.0) == 1.0).all()
