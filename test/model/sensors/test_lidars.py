"""Lidars that a scene adds to a model."""

import math
from pathlib import Path

import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.robot.layout import ModelLayout, lay_out
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import read_scene
from mujoco_ros.model.sensors.lidars import HorizontalConfig, VerticalConfig

ROBOT = """
  <mujoco><worldbody>
    <body name="link" pos="0 0 1"><joint name="j"/><geom size="0.1"/><site name="top"/></body>
  </worldbody></mujoco>
"""
BALL = '<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'


@pytest.fixture
def scene(tmp_path: Path):
    """Lay out a scene of one robot and a ball, with lidars."""

    def builder(lidars: str, *, top: str = "") -> tuple[Assembly, ModelLayout]:
        (tmp_path / "robot.xml").write_text(ROBOT)
        (tmp_path / "ball.xml").write_text(BALL)
        path = tmp_path / "my.yaml"
        path.write_text(
            f"robots: [{{name: arm, model: robot.xml, namespace: cell, lidars: [{lidars}]}}]\n"
            f"objects: [{{name: ball, model: ball.xml}}]\n"
            f"lidars: [{top}]\n"
        )
        assembly = assemble(read_scene(path))

        return assembly, lay_out(assembly)

    return builder


def test_a_lidar_has_a_site_of_the_model_or_gets_one(scene):
    assembly, layout = scene(
        "{name: old, site: top}, {name: new, body: link, pose: {xyz: [0, 0, 0.2]}}",
        top="{name: wall, body: world, pose: {xyz: [3, 0, 1]}, vertical: {samples: 4, max: 0.3}}",
    )
    old, new = layout.robots[0].lidars
    assert (old.name, old.namespace, old.frame) == ("old", "cell", "arm/top")
    assert (new.name, new.frame) == ("new", "arm/new")
    model = assembly.model
    assert model.site(new.site).name == "arm/new"
    np.testing.assert_allclose(model.site_pos[new.site], [0, 0, 0.2])
    (wall,) = layout.lidars
    assert (wall.namespace, wall.frame, wall.body) == ("", "wall", 0)
    assert old.is_scan
    assert not wall.is_scan
    assert (wall.rows, wall.columns) == (4, 360)
    assert layout.every_lidar == (old, new, wall)


def test_the_frame_of_an_added_lidar_is_a_link_of_the_exported_description(scene):
    assembly, layout = scene("{name: new, body: link}")
    (description,) = descriptions(assembly, layout)
    assert "new" in description.links


def test_rays_include_both_ends_of_the_range_and_a_circle_has_no_duplicate():
    half = HorizontalConfig(samples=181, min=-math.pi / 2, max=math.pi / 2)
    assert half.increment == pytest.approx(math.radians(1))
    assert half.last == pytest.approx(math.pi / 2)
    whole = HorizontalConfig(samples=360)
    assert whole.increment == pytest.approx(math.radians(1))
    assert whole.last == pytest.approx(math.pi - math.radians(1))
    assert HorizontalConfig(samples=1, min=0.5, max=0.5).increment == 0
    assert VerticalConfig(samples=3, min=-0.2, max=0.2).increment == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("lidars", "message"),
    [
        ("{name: a, body: link, topic: a b}", "lidar 'a': 'topic' is 'a b'; it must be letters"),
        (
            "{name: a, body: link, topic: scan}, {name: b, body: link, topic: scan}",
            "lidars 'a' and 'b' have the same topic, /cell/scan; change the 'topic' of one",
        ),
        ("{name: a}", "lidar 'a': give either the 'site' or the 'body'"),
        ("{name: a, site: top, body: link}", "give either the 'site' or the 'body'"),
        ("{name: a, site: top, pose: {}}", "a 'pose' goes with a 'body'"),
        (
            "{name: a, site: tip}",
            "robot 'arm': lidar 'a': site 'tip' not found .did you mean 'top'",
        ),
        ("{name: a, body: lnk}", "robot 'arm': lidar 'a': body 'lnk' not found"),
        ("{name: top, body: link}", "the model has a site of that name; give it as 'site'"),
        ("{name: a/b, site: top}", "name 'a/b' is not valid"),
        ("{name: a, site: top}, {name: a, site: top}", "two lidars are named 'a'"),
        ("{name: a, site: top, delivery: {dropout: 2}}", "delivery.dropout is 2; it must be from"),
        ("{name: a, site: top, noise: -1}", "'noise' must be from 0 to the largest range, got -1"),
        ("{name: a, site: top, groups: [6]}", r"'groups' must be some of 0, 1, .*, got \[6\]"),
        ("{name: a, site: top, rate: 2000}", "'rate' must be 0 .off., or from 0.001 to 1000 Hz"),
        ("{name: a, site: top, range: {min: 2, max: 1}}", "must have 0 <= min < max, got min 2"),
        ("{name: a, site: top, horizontal: {samples: 0}}", "'horizontal' must have from 1 to"),
        ("{name: a, site: top, horizontal: {min: 1, max: 0}}", "must have -6.28319 <= min <= max"),
        ("{name: a, site: top, horizontal: {min: -6, max: 6}}", "more than a whole turn"),
        ("{name: a, site: top, horizontal: {min: 0, max: 0}}", "360 samples need a 'max'"),
        (
            "{name: a, site: top, vertical: {max: 1.7}}",
            "'vertical' must have -1.5708 <= min <= max",
        ),
        (
            "{name: a, site: top, horizontal: {samples: 100000}, vertical: {samples: 11, max: 1}}",
            "it has 1100000 rays; at most 1000000 are allowed",
        ),
    ],
)
def test_an_invalid_lidar_is_refused_with_the_reason(scene, lidars, message):
    with pytest.raises(UserInputError, match=message):
        scene(lidars)


def test_a_lidar_of_the_scene_cannot_have_the_frame_of_another(scene):
    with pytest.raises(
        UserInputError, match="lidar 'ball': its TF frame would be the frame of free object"
    ):
        scene("", top="{name: ball, body: world}")
