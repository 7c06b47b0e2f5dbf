"""Ranges of lidars compared with geometry."""

import math

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.sensors.lidars import (
    HorizontalConfig,
    Lidar,
    LidarConfig,
    RangeConfig,
    VerticalConfig,
    resolve_lidar,
)
from mujoco_ros.rendering.lidar import POINT, Scanner

EXACT = 1e-9
ROOM = """
  <mujoco><worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <geom name="ball" type="sphere" size="0.5" pos="3 0 1"/>
    <geom name="box" type="box" size="0.5 0.7 0.9" pos="-2 0 1" rgba="1 0.5 0 1"/>
    <geom name="hull" type="sphere" size="0.4" pos="0 1 1" group="3"/>
    <body name="mount" pos="0 0 1"><geom size="0.2"/><site name="eye"/></body>
  </worldbody></mujoco>
"""
TURNED = ROOM.replace('name="eye"', 'name="eye" euler="0 0 90" pos="0.1 0 0.2"')


def inside(geoms: str) -> str:
    """Return a world of geoms with a site in the middle."""
    return f'<mujoco><worldbody>{geoms}<site name="eye"/></worldbody></mujoco>'


def scan(
    xml: str, seed: int = 0, time: float = 0.0, **config: object
) -> tuple[Lidar, Scanner, np.ndarray]:
    """Cast once in a world; `config` is the lidar's."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    made = LidarConfig(name="eye", site="eye", **config)
    lidar = resolve_lidar(model, made, where="lidar")
    scanner = Scanner(model, lidar, seed)
    return lidar, scanner, scanner.cast(data, time)


def to_ball(azimuth: float) -> float:
    """Return the range to a ball of 0.5 m, 3 m ahead."""
    along, aside = 3 * math.cos(azimuth), 3 * math.sin(azimuth)
    return along - math.sqrt(0.25 - aside**2) if along > 0 and abs(aside) < 0.5 else math.inf


def to_box(azimuth: float) -> float:
    """Return the range to the near and far sides of a box 2 m behind."""
    x, y = math.cos(azimuth), math.sin(azimuth)
    if x >= 0 or abs(1.5 / x * y) > 0.7:
        return math.inf  # the front hides the sides
    return -1.5 / x


def test_a_scan_of_ball_and_box_is_exact_and_its_own_body_and_other_groups_are_not_hit():
    lidar, scanner, ranges = scan(ROOM, range=RangeConfig(max=10))
    fan = lidar.config.horizontal
    angles = fan.min + fan.increment * np.arange(fan.samples)
    expected = [min(to_ball(angle), to_box(angle)) for angle in angles]
    np.testing.assert_allclose(scanner._distances, expected, atol=EXACT)
    assert ranges.shape == (1, 360)
    assert ranges.dtype == np.float32
    assert np.isfinite(ranges).sum() > 60
    _, scanner, _ = scan(ROOM, groups=(3,))
    assert scanner._distances[270] == pytest.approx(0.6, abs=EXACT)


def test_rays_are_those_of_the_sites_frame():
    _, scanner, _ = scan(
        TURNED, horizontal=HorizontalConfig(samples=1, min=math.pi / 2, max=math.pi / 2)
    )
    assert scanner._distances[0] == pytest.approx(1.6, abs=EXACT)  # along -x of the world


def test_rows_of_rays_hit_the_floor_at_the_computed_distances():
    fan = VerticalConfig(samples=16, min=-1.5, max=-0.6)
    _, scanner, ranges = scan(ROOM, horizontal=HorizontalConfig(samples=32), vertical=fan)
    elevations = fan.min + fan.increment * np.arange(16)
    away = 8 * np.ones(1, np.intp)  # 90 degrees to the right: only the floor
    np.testing.assert_allclose(
        scanner._distances.reshape(ranges.shape)[:, away[0]], 1 / np.sin(-elevations), atol=EXACT
    )


def test_points_of_a_cloud_are_the_ends_of_the_rays_with_their_row():
    _, scanner, ranges = scan(
        ROOM,
        horizontal=HorizontalConfig(samples=90),
        vertical=VerticalConfig(samples=4, min=-0.6, max=0.3),
    )
    cloud = scanner.cloud()
    assert cloud.dtype == POINT
    assert cloud.shape == ranges.shape
    hit = np.isfinite(ranges)
    assert hit.any()
    assert not hit.all()
    places = np.stack([cloud[name] for name in "xyz"], axis=-1)
    assert np.isnan(places[~hit]).all()
    np.testing.assert_allclose(np.linalg.norm(places[hit], axis=1), ranges[hit], rtol=1e-6)
    floor = hit & (cloud["z"] < -0.99)
    np.testing.assert_allclose(cloud["z"][floor], -1, atol=1e-6)
    np.testing.assert_array_equal(cloud["ring"], np.arange(4)[:, np.newaxis] * np.ones(90))


def test_intensity_is_brightness_times_the_cosine_and_0_without_a_hit():
    _, scanner, ranges = scan(ROOM, range=RangeConfig(max=10))
    seen = scanner.intensities
    assert seen[0, 0] == pytest.approx(255 * 0.5, rel=1e-6)  # the box, straight behind
    angle = math.radians(10)
    assert seen[0, 10] == pytest.approx(255 * 0.5 * math.cos(angle), rel=1e-6)
    assert (seen[~np.isfinite(ranges)] == 0).all()


def test_too_near_is_minus_infinity_and_too_far_infinity():
    _, _, ranges = scan(ROOM, range=RangeConfig(min=2, max=2.6))
    assert ranges[0, 0] == -np.inf  # the box, 1.5 m behind
    assert ranges[0, 180] == 2.5  # the ball, ahead
    assert ranges[0, 189] == np.inf  # its rim, 2.8 m
    assert ranges[0, 270] == np.inf


def test_noise_has_its_deviation_and_is_the_same_for_the_same_seed_and_time():
    room = inside('<geom type="sphere" size="9"/>')
    fan = HorizontalConfig(samples=4000)
    _, _, one = scan(room, seed=3, time=7.0, horizontal=fan, noise=0.02)
    assert abs(one.mean() - 9) < 4 * 0.02 / math.sqrt(4000)
    assert one.std() == pytest.approx(0.02, rel=0.05)
    _, _, again = scan(room, seed=3, time=7.0, horizontal=fan, noise=0.02)
    np.testing.assert_array_equal(again, one)
    for seed, time in ((3, 7.001), (4, 7.0)):
        _, _, other = scan(room, seed=seed, time=time, horizontal=fan, noise=0.02)
        assert abs(np.corrcoef(other.ravel(), one.ravel())[0, 1]) < 0.1


def test_noise_does_not_change_misses_into_hits():
    empty = inside('<geom size="1" pos="99 0 0"/>')
    _, _, ranges = scan(empty, noise=5.0)
    assert (ranges == np.inf).all()
