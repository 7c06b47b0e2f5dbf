import struct
from pathlib import Path

import pytest

from mujoco_ros.model.errors import (
    MissingAssetError,
    MissingFileError,
    NameInvalidError,
    NamespaceError,
    ParseError,
    UnsupportedFormatError,
    UserInputError,
)
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import ObjectConfig, RobotConfig, load_scene
from mujoco_ros.model.scene.parts import part_from_file, part_from_text

BOX = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
HINGED = "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"
MESH = """
<mujoco>
  <asset><mesh name="m" file="{}"/></asset>
  <worldbody><body><geom type="mesh" mesh="m"/></body></worldbody>
</mujoco>
"""
LINK = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
LINK += 'ixz="0" iyz="0"/></inertial>{}</link>'
JOINT = """
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="10" velocity="1"/></joint>
"""
URDF = f"<robot name='two'>{LINK.format('a', '')}{LINK.format('b', '')}{JOINT}</robot>"


def test_a_model_with_a_hinge_is_a_robot():
    part = part_from_text(HINGED, name="door", namespace="front")
    assert isinstance(part.config, RobotConfig)
    assert part.config.namespace == "front"


def test_a_model_with_only_a_free_joint_is_an_object():
    pose = PoseConfig(xyz=(1.0, 2.0, 3.0))
    part = part_from_text(BOX, name="box", pose=pose)
    assert part.config == ObjectConfig(name="box", model="", pose=pose)
    assert (part.name, part.prefix) == ("box", "box/")


def test_a_urdf_can_be_a_text_and_is_kept_unchanged():
    part = part_from_text(f"<?xml version='1.0'?><!-- <mujoco> -->{URDF}", name="two")
    assert isinstance(part.config, RobotConfig)
    assert part.urdf is not None
    assert URDF in part.urdf
    assert [joint.name for joint in part.spec.joints] == ["j"]


def test_a_file_gives_the_same_part_as_its_text(tmp_path: Path):
    path = tmp_path / "box.xml"
    path.write_text(BOX)
    part = part_from_file(path, name="box")
    assert part.config == ObjectConfig(name="box", model=str(path))
    assert part.urdf is None


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", UnsupportedFormatError, "is not XML"),
        ("just words", UnsupportedFormatError, "is not XML"),
        ("<sdf version='1.6'/>", UnsupportedFormatError, "begins with <sdf>"),
        ("<mujoco><worldbody></mujoco>", ParseError, "the text of 'it'"),
        ("<mujoco><nonsense/></mujoco>", ParseError, "nonsense"),
        ("<mujoco><include file='/etc/passwd'/></mujoco>", ParseError, "includes a file"),
        ("<robot name='r'><link/></robot>", UserInputError, "link"),
        (MESH.format("missing.stl"), MissingAssetError, "has no folder"),
        (
            "<robot name='r'>"
            + LINK.format("a", "<visual><geometry><mesh filename='m.stl'/></geometry></visual>")
            + "</robot>",
            MissingAssetError,
            "mesh 'm.stl' not found",
        ),
    ],
)
def test_the_error_for_an_invalid_text_has_its_cause(text, error, message):
    with pytest.raises(error, match=message):
        part_from_text(text, name="it")


@pytest.mark.parametrize(
    ("name", "namespace", "error"),
    [
        ("a b", None, NameInvalidError),
        ("", None, NameInvalidError),
        ("a/b", None, NameInvalidError),
        ("arm", "1st", NamespaceError),
    ],
)
def test_names_that_are_invalid_in_ros_are_refused(name, namespace, error):
    with pytest.raises(error):
        part_from_text(HINGED, name=name, namespace=namespace)


def test_errors_for_missing_files_and_files_without_a_model_differ(tmp_path: Path):
    with pytest.raises(MissingFileError):
        part_from_file(tmp_path / "none.xml", name="it")
    (tmp_path / "it.stl").write_text("")
    with pytest.raises(UnsupportedFormatError):
        part_from_file(tmp_path / "it.stl", name="it")
    (tmp_path / "it.mjb").write_text("")
    with pytest.raises(UnsupportedFormatError, match="only run alone"):
        part_from_file(tmp_path / "it.mjb", name="it")


SQUARE = struct.pack("ii4f", 2, 2, 0, 1, 0, 1)


def test_a_text_can_name_height_fields_in_its_asset_folder(tmp_path):
    (tmp_path / "field.bin").write_bytes(SQUARE)
    text = f"""
    <mujoco>
      <compiler meshdir="{tmp_path}"/>
      <asset><hfield name="h" file="field.bin" size="1 1 1 1"/></asset>
      <worldbody><geom type="hfield" hfield="h"/></worldbody>
    </mujoco>
    """
    part = part_from_text(text, name="ground")
    assert [file.path for file in part.files] == [str(tmp_path / "field.bin")]


def test_a_text_that_names_a_cube_texture_without_a_folder_is_refused():
    texture = '<texture name="sky" type="cube" fileright="right.png"/>'
    with pytest.raises(MissingAssetError, match=r"texture 'sky' is the file 'right\.png'"):
        part_from_text(f"<mujoco><asset>{texture}</asset></mujoco>", name="sky")


def test_space_a_declaration_and_long_comments_may_precede_the_model_of_a_text() -> None:
    header = f"\n<?xml version='1.0'?>\n<!-- {100_000 * 'x'} -->\n"
    body = "<mujoco><worldbody><body name='b'><geom size='.1'/></body></worldbody></mujoco>"
    part = part_from_text(header + body, name="x")
    assert [each.name for each in part.spec.bodies] == ["world", "b"]


@pytest.mark.parametrize(("suffix", "text"), [("XML", HINGED), ("URDF", URDF), ("Urdf", URDF)])
def test_the_suffix_of_a_model_may_be_in_upper_case(tmp_path, suffix, text) -> None:
    (tmp_path / f"robot.{suffix}").write_text(text)
    assert assemble(load_scene(str(tmp_path / f"robot.{suffix}"))).model.njnt == 1
    scene = tmp_path / "scene.YAML"
    scene.write_text(f"robots: [{{name: r, model: robot.{suffix}}}]")
    assert assemble(load_scene(str(scene))).model.njnt == 1
