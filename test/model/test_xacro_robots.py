"""Robots whose model is a xacro file in a package that is not installed."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import trimesh

from mujoco_ros.model.errors import UnsupportedFormatError, UserInputError
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_file
from mujoco_ros.model.scene.worlds import load_world, world_from_text

ARM = """
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="joints" default="1"/>
  <xacro:arg name="tool" default="true"/>
  <xacro:include filename="$(find arm_description)/urdf/link.xacro"/>
  <xacro:part name="base"/>
  <xacro:part name="first"/>
  <xacro:moves parent="base" child="first"/>
  <xacro:if value="${$(arg joints) > 1}">
    <xacro:part name="second"/>
    <xacro:moves parent="first" child="second"/>
  </xacro:if>
  <xacro:if value="$(arg tool)">
    <link name="tool"/>
    <joint name="mount" type="fixed"><parent link="first"/><child link="tool"/></joint>
  </xacro:if>
</robot>
"""
LINK = """
<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="part" params="name">
    <link name="${name}">
      <inertial>
        <mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
      </inertial>
      <visual><geometry><mesh filename="package://arm_meshes/part.stl"/></geometry></visual>
    </link>
  </xacro:macro>
  <xacro:macro name="moves" params="parent child">
    <joint name="${child}_joint" type="revolute">
      <parent link="${parent}"/><child link="${child}"/><axis xyz="0 0 1"/>
      <limit lower="-1" upper="1" effort="10" velocity="1"/>
    </joint>
  </xacro:macro>
</robot>
"""
SRDF = """
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="joints" default="1"/>
  <xacro:arg name="tool" default="true"/>
  <group_state name="up" group="arm">
    <joint name="first_joint" value="${0.5 * $(arg joints)}"/>
  </group_state>
</robot>
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The xacro file of a package, beside another one with its mesh."""
    urdf = tmp_path / "arm_description" / "urdf"
    urdf.mkdir(parents=True)
    (tmp_path / "arm_meshes").mkdir()
    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "arm_meshes" / "part.stl")
    (urdf / "link.xacro").write_text(LINK)
    (urdf / "arm.srdf.xacro").write_text(SRDF)
    (urdf / "arm.urdf.xacro").write_text(ARM)
    return urdf / "arm.urdf.xacro"


@pytest.fixture
def load(model: Path, tmp_path: Path):
    """Load a scene of the robot, given further keys of the robot and of the scene."""

    def loader(robot: str = "", scene: str = "") -> Assembly:
        path = tmp_path / "scene.yaml"
        path.write_text(f"robots:\n- name: arm\n  model: {model}\n{robot}\n{scene}")
        return assemble(load_scene(str(path)))

    return loader


def joints(assembly: Assembly) -> list[str]:
    return [assembly.model.joint(index).name for index in range(assembly.model.njnt)]


def test_a_xacro_file_is_a_scene_named_after_it(model: Path):
    config = load_scene(str(model))
    assert (config.name, config.robots[0].name) == ("arm", "arm")
    assert joints(assemble(config)) == ["first_joint"]


def test_macros_in_a_urdf_are_expanded_but_not_in_comments(model: Path, load, tmp_path: Path):
    plain = model.with_name("arm.urdf")
    model.rename(plain)
    assert joints(assemble(load_scene(f"{plain} joints:=2"))) == ["first_joint", "second_joint"]
    with pytest.raises(UnsupportedFormatError, match="whose expressions are evaluated"):
        load_world(str(plain))
    with pytest.raises(UserInputError, match="expanded only if the simulator starts with"):
        part_from_file(plain, name="arm")
    plain.write_text("<!-- ${not} <xacro:not/> -->" + ARM.split("<xacro:arg")[0] + "</robot>")
    with pytest.raises(UserInputError, match="has no link"):
        assemble(load_scene(str(plain)))


def test_its_arguments_are_in_the_scene(load):
    assembly = load("  xacro_args: {joints: 2, tool: false}")
    assert joints(assembly) == ["arm/first_joint", "arm/second_joint"]
    assert assembly.model.nbody == 4  # world, base, first, second


def test_the_robot_description_is_the_expansion_with_paths_that_others_can_resolve(load, tmp_path):
    assembly = load("  xacro_args: {tool: false}")
    (description,) = descriptions(assembly, lay_out(assembly))
    tree = ET.fromstring(description.urdf)
    assert [link.get("name") for link in tree.findall("link")] == ["base", "first"]
    assert {mesh.get("filename") for mesh in tree.iter("mesh")} == {
        (tmp_path / "arm_meshes" / "part.stl").as_uri()
    }


def test_the_robot_description_of_a_urdf_with_macros_is_its_expansion(model: Path):
    plain = model.rename(model.with_name("arm.urdf"))
    assembly = assemble(load_scene(f"{plain} tool:=false"))
    (description,) = descriptions(assembly, lay_out(assembly))
    assert description.links == {"base", "first"}


def test_the_robot_description_of_an_mjcf_can_be_a_xacro_file(model: Path, tmp_path: Path):
    mjcf = "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    (tmp_path / "arm.xml").write_text(mjcf)
    path = tmp_path / "scene.yaml"
    path.write_text(f"robots: [{{name: arm, model: arm.xml, urdf: {model}}}]")
    assembly = assemble(load_scene(str(path)))
    (description,) = descriptions(assembly, lay_out(assembly))
    assert description.links == {"base", "first", "tool"}


def test_an_srdf_can_be_a_xacro_file_with_the_same_arguments(load):
    assembly = load("  srdf: arm_description/urdf/arm.srdf.xacro\n  xacro_args: {joints: 2}")
    assert assembly.model.key("arm/up").qpos.tolist() == [1.0, 0.0]


def test_the_scene_can_name_the_folder_of_a_package(load, tmp_path):
    (tmp_path / "arm_meshes").rename(tmp_path / "elsewhere")
    with pytest.raises(UserInputError, match=r"package 'arm_meshes' not found.*`packages`"):
        load()
    assert joints(load(scene="packages: {arm_meshes: elsewhere}")) == ["arm/first_joint"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("{joint: 2}", r"arm\.urdf\.xacro: .*'joint'.*joints"),
        ("{joints: [2]}", "expected true or false, an integer, a number, a text; got"),
        ("{joints: many}", r"arm\.urdf\.xacro:9: xacro: .*many"),
    ],
)
def test_wrong_arguments_are_named(load, arguments: str, message: str):
    with pytest.raises(UserInputError, match=message):
        load(f"  xacro_args: {arguments}")


def test_a_client_cannot_name_a_xacro_file(model: Path):
    with pytest.raises(UnsupportedFormatError, match="xacro file, which only a robot of the start"):
        part_from_file(model, name="arm")
    scene = f"robots: [{{name: arm, model: {model}}}]"
    (model.parent / "scene.yaml").write_text(scene)
    for load in (
        lambda: world_from_text(scene),
        lambda: load_world(str(model)),
        lambda: load_world(str(model.parent / "scene.yaml")),
    ):
        with pytest.raises(UnsupportedFormatError, match="whose expressions are evaluated"):
            load()
