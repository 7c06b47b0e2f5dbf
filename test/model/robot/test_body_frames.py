"""Frames and mocap bodies of a model with their names in ROS."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.robot.body_frames import can_move, mocap_bodies, named_frames
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import load_scene, shipped_scenes
from mujoco_ros.model.scene.parts import part_from_text

_BARE = """
<mujoco>
  <worldbody>
    <site name="mark" pos="1 0 0"/>
    <body name="tool" pos="0 0 1">
      <joint name="hinge"/>
      <geom size="0.1"/>
      <site name="tool" pos="0 0 0.5"/>
      <site name="tip" pos="0 0 0.7" quat="0 1 0 0"/>
      <camera name="eye" pos="0.1 0 0"/>
      <camera name="follower" mode="trackcom"/>
      <body name="plate"/>
    </body>
    <body name="wall"><geom size="0.1"/></body>
    <body name="cursor" mocap="true"><body name="needle"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    path = tmp_path / "bare.xml"
    path.write_text(_BARE)
    return path


def test_bodies_sites_and_cameras_are_frames(bare: Path) -> None:
    assembly = assemble(load_scene(str(bare)))
    found = named_frames(assembly.model, lay_out(assembly))
    bodies = {"tool", "plate", "wall", "cursor", "needle"}
    assert set(found) == {*bodies, "tool_site", "tip", "eye_optical_frame"}
    tip = found["tip"]
    assert assembly.model.body(tip.body).name == "tool"
    assert tip.position == pytest.approx([0, 0, 0.7])
    assert tip.quat_wxyz == pytest.approx([0, 1, 0, 0])


def test_the_z_axis_of_a_camera_frame_points_forward(bare: Path) -> None:
    assembly = assemble(load_scene(str(bare)))
    eye = named_frames(assembly.model, lay_out(assembly))["eye_optical_frame"]
    direction = np.zeros(3)
    mujoco.mju_rotVecQuat(direction, np.array([0.0, 0.0, 1.0]), eye.quat_wxyz)
    assert direction == pytest.approx([0, 0, -1])  # a MuJoCo camera without rotation


def test_bodies_with_joints_can_move(bare: Path) -> None:
    model = assemble(load_scene(str(bare))).model
    movable = {model.body(b).name for b in range(1, model.nbody) if can_move(model, b)}
    assert movable == {"tool", "plate"}


def test_mocap_bodies_are_found(bare: Path) -> None:
    assembly = assemble(load_scene(str(bare)))
    (cursor,) = mocap_bodies(assembly.model, lay_out(assembly))
    assert (cursor.name, cursor.frame) == ("cursor", "cursor")
    assert (cursor.namespace, cursor.mocap) == ("", 0)


def test_a_mocap_body_beside_a_free_one_keeps_its_own_name(tmp_path: Path) -> None:
    path = tmp_path / "bare.xml"
    path.write_text(_BARE)
    assembly = assemble(load_scene(str(path)))
    text = """
    <mujoco>
      <worldbody>
        <body name="skin"><freejoint/><geom size="0.1"/></body>
        <body name="hook" mocap="true"/>
      </worldbody>
    </mujoco>
    """
    assembly = rebuild(assembly, add=[part_from_text(text, name="ball")])
    model, layout = assembly.model, lay_out(assembly)
    assert [it.frame for it in mocap_bodies(model, layout)] == ["cursor", "ball/hook"]
    found = named_frames(model, layout)
    assert model.body(found["ball"].body).name == "ball/skin"
    assert model.body(found["ball/hook"].body).name == "ball/hook"


@pytest.mark.parametrize("scene", list(shipped_scenes()))
def test_every_link_of_a_shipped_robot_is_a_frame_by_its_name_in_tf(scene: str) -> None:
    assembly = assemble(load_scene(scene))
    layout = lay_out(assembly)
    found = named_frames(assembly.model, layout)
    for robot, description in zip(layout.robots, descriptions(assembly, layout), strict=True):
        for link in description.links - {"world"}:
            assert robot.frame_prefix + link in found
