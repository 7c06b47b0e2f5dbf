"""Adding and removing parts."""

import os
from pathlib import Path

import mujoco
import pytest

from mujoco_ros.model.errors import (
    MissingAssetError,
    NamespaceError,
    NameTakenError,
    ParseError,
    UnsupportedFormatError,
    UserInputError,
)
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig, load_scene
from mujoco_ros.model.scene.parts import part_from_text

BOX = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
ARM = """
<mujoco>
  <worldbody>
    <site name="mark"/>
    <body name="link"><joint name="j"/><geom size=".1"/></body>
  </worldbody>
  <actuator><motor name="m" joint="j"/></actuator>
  <keyframe><key name="up" qpos="0.5"/></keyframe>
</mujoco>
"""


@pytest.fixture
def bare(tmp_path: Path):
    """A scene that is one model file, and the file."""
    path = tmp_path / "bare.xml"
    path.write_text(
        """
        <mujoco>
          <option timestep="0.003"/>
          <worldbody>
            <geom type="plane" size="1 1 1"/>
            <site name="origin"/>
            <body name="stick"><joint name="j"/><geom size=".1"/></body>
            <body name="rack/shelf"/>
          </worldbody>
          <sensor><framepos name="at" objtype="site" objname="origin"/></sensor>
        </mujoco>
        """
    )
    return assemble(load_scene(str(path)))


def names(model: mujoco.MjModel) -> list[str]:
    return [model.body(b).name for b in range(1, model.nbody)]


def test_added_parts_are_last_and_the_others_are_unchanged():
    before = assemble(load_scene("arm"))
    pose = PoseConfig(xyz=(1.0, 2.0, 3.0), rpy=(0.0, 0.0, 1.0))
    after = rebuild(before, add=(part_from_text(BOX, name="ball", pose=pose),))
    assert names(after.model) == [*names(before.model), "ball/body0"]
    assert after.model.body("ball/body0").pos == pytest.approx(pose.xyz)
    assert after.parts[:-1] == before.parts
    assert [entity.name for entity in after.config.objects] == ["table", "box", "ball"]


def test_a_robot_keeps_its_topics_when_another_is_added_and_removed():
    before = assemble(load_scene("arm"))
    both = rebuild(before, add=(part_from_text(ARM, name="second"),))
    assert [robot.namespace for robot in lay_out(both).robots] == ["", "second"]
    assert [robot.frame_prefix for robot in lay_out(both).robots] == ["", "second/"]
    second = rebuild(both, remove=("arm",))
    assert [robot.namespace for robot in lay_out(second).robots] == ["second"]


def test_the_previous_scene_is_usable_after_a_failure():
    before = assemble(load_scene("arm"))
    broken = part_from_text(BOX.replace("'.1'", "'-1'"), name="broken")
    with pytest.raises(ParseError, match="with 'broken', scene 'arm' does not compile"):
        rebuild(before, add=(broken,))
    assert rebuild(before, add=(part_from_text(BOX, name="ball"),)).model.nbody > before.model.nbody


def test_a_missing_mesh_has_its_own_error():
    text = """
    <mujoco><asset><mesh name="m" file="/missing/m.stl"/></asset>
      <worldbody><body><geom type="mesh" mesh="m"/></body></worldbody></mujoco>
    """
    with pytest.raises(MissingAssetError, match=r"/missing/m\.stl"):
        rebuild(assemble(load_scene("arm")), add=(part_from_text(text, name="it"),))


def test_names_and_namespaces_are_unique():
    arm = assemble(load_scene("arm"))
    with pytest.raises(NameTakenError, match="'table'"):
        rebuild(arm, add=(part_from_text(BOX, name="table"),))
    with pytest.raises(NameTakenError, match="'a'"):
        rebuild(arm, add=(part_from_text(BOX, name="a"), part_from_text(BOX, name="a")))
    both = rebuild(arm, add=(part_from_text(ARM, name="one", namespace="left"),))
    with pytest.raises(NamespaceError, match="left"):
        rebuild(both, add=(part_from_text(ARM, name="two", namespace="left"),))


def test_the_name_of_a_removed_part_can_be_used_again():
    arm = assemble(load_scene("arm"))
    again = rebuild(arm, add=(part_from_text(BOX, name="box"),), remove=("box",))
    assert "box/body0" in names(again.model)


def test_only_existing_parts_can_be_removed():
    with pytest.raises(UserInputError, match=r"'tabel' not found \(did you mean 'table'"):
        rebuild(assemble(load_scene("arm")), remove=("tabel",))


def test_parts_can_be_added_to_an_emptied_scene():
    arm = assemble(load_scene("arm"))
    empty = rebuild(arm, remove=[part.name for part in arm.parts])
    assert empty.model.njnt == 0
    assert lay_out(empty).robots == ()
    assert rebuild(empty, add=(part_from_text(ARM, name="arm"),)).model.njnt == 1


def test_a_bare_model_keeps_its_names_and_owns_no_added_part(bare):
    both = rebuild(bare, add=(part_from_text(ARM, name="arm"), part_from_text(BOX, name="box")))
    first, second = lay_out(both).robots
    assert first.joints.names == ("j",)
    assert [both.model.body(b).name for b in first.bodies] == ["stick", "rack/shelf"]
    assert first.frame("stick") == "stick"
    assert [both.model.body(b).name for b in second.bodies] == ["arm/link"]
    assert (first.namespace, second.namespace) == ("", "arm")
    assert [frame for frame, _ in lay_out(both).free_objects] == ["box"]
    assert both.model.opt.timestep == 0.003


def test_a_prefix_of_the_bare_model_is_a_name_in_use(bare):
    with pytest.raises(NameTakenError, match="'rack'"):
        rebuild(bare, add=(part_from_text(BOX, name="rack"),))


def test_the_options_of_a_removed_bare_model_are_kept(bare):
    left = rebuild(bare, add=(part_from_text(ARM, name="arm"),), remove=("bare",))
    assert names(left.model) == ["arm/link"]
    assert left.model.opt.timestep == 0.003


def test_no_part_can_be_added_to_a_compiled_model(tmp_path: Path, bare):
    path = tmp_path / "bare.mjb"
    mujoco.mj_saveModel(bare.model, str(path))
    binary = assemble(load_scene(str(path)))
    with pytest.raises(UnsupportedFormatError, match="only run alone"):
        rebuild(binary, add=(part_from_text(BOX, name="box"),))
    name = binary.parts[0].name
    assert rebuild(binary, remove=(name,)).model.nbody == 1


@pytest.mark.parametrize("fate", ["removed", "changed"])
def test_files_can_be_removed_or_changed_meanwhile(tmp_path: Path, fate):
    mesh = tmp_path / "m.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    model = tmp_path / "model.xml"
    model.write_text(
        "<mujoco><asset><mesh name='m' file='m.obj'/></asset><worldbody><body><joint/>"
        "<geom type='mesh' mesh='m'/></body></worldbody></mujoco>"
    )
    robot = RobotConfig(name="robot", model=str(model))
    before = assemble(SceneConfig(name="scene", robots=(robot,)))
    if fate == "removed":
        mesh.unlink()
    else:
        mesh.write_text(mesh.read_text().replace("v 1 0 0", "v 9 0 0"))
        os.utime(mesh, ns=(0, 0))
    model.unlink()
    after = rebuild(before, add=(part_from_text(BOX, name="box"),))
    assert after.model.mesh_vert[: before.model.nmeshvert] == pytest.approx(before.model.mesh_vert)


def test_an_empty_scene_is_valid():
    assert assemble(SceneConfig(name="empty")).model.nbody == 1
