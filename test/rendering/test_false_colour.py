"""Depth and segmentation in false colours."""

import numpy as np

from mujoco_ros.rendering.false_colour import depth_colours, depth_scale, number_colours


def test_near_is_bright_far_is_dark_and_a_pixel_without_a_hit_is_black():
    depth = np.linspace(0.5, 4.5, 1001).reshape(7, 143)
    depth[0, 0], depth[-1, -1] = np.inf, np.nan
    colours, (near, far) = depth_colours(depth)
    assert colours.shape == (7, 143, 3)
    assert colours.dtype == np.uint8
    assert colours[0, 0].tolist() == colours[-1, -1].tolist() == [0, 0, 0]
    brightness = colours.reshape(-1, 3)[1:-1].sum(axis=1, dtype=int)
    assert brightness[0] == brightness.max()
    assert brightness[-1] < brightness[500] < brightness[0]
    assert 0.5 < near < 0.53
    assert 4.47 < far < 4.5


def test_the_ends_of_the_scale_are_the_colours_of_near_and_far():
    colours, _ = depth_colours(np.linspace(0.5, 4.5, 1000).reshape(10, 100))
    scale = depth_scale()
    assert scale.shape == (1, 256, 3)
    assert scale[0, 0].tolist() == colours[0, 0].tolist()
    assert scale[0, -1].tolist() == colours[-1, -1].tolist()


def test_images_without_a_hit_or_of_one_distance_have_a_colour():
    colours, limits = depth_colours(np.full((2, 3), np.inf))
    assert not colours.any()
    assert limits == (0.0, 0.0)
    colours, limits = depth_colours(np.full((2, 3), 1.5))
    assert colours.any(axis=-1).all()
    assert limits == (1.5, 1.5)


def test_each_number_has_a_colour_of_its_own_in_every_image():
    numbers = np.array([[0, 1, 2], [40, 65535, 1]], np.uint16)
    colours = number_colours(numbers)
    assert colours.shape == (2, 3, 3)
    assert colours[0, 0].tolist() == [0, 0, 0]
    assert len({tuple(c) for c in colours.reshape(-1, 3).tolist()}) == 5
    assert colours[0, 1].tolist() == colours[1, 2].tolist()
    assert number_colours(np.array([[40]], np.uint16))[0, 0].tolist() == colours[1, 0].tolist()
