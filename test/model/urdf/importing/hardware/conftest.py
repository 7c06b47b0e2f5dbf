"""Small robots with drives and sensors."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene

ROBOT = """
<link name="base">
  <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
</link>
<link name="upper">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision name="ball"><geometry><sphere radius="0.05"/></geometry></collision>
</link>
<link name="wheel">
  <inertial><origin xyz="0.1 0 0"/><mass value="3"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision name="box"><origin xyz="0 0 0.1"/><geometry><box size="0.2 0.4 0.6"/></geometry>
  </collision>
</link>
<link name="tip"/>
<joint name="lift" type="prismatic">
  <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/><origin xyz="0 0 0.5"/>
  <limit lower="-1" upper="1" effort="1000" velocity="1"/>
</joint>
<joint name="spin" type="continuous">
  <parent link="upper"/><child link="wheel"/><axis xyz="0 0 1"/><origin rpy="0 1.57079632679 0"/>
</joint>
<joint name="fixed" type="fixed">
  <parent link="wheel"/><child link="tip"/><origin xyz="0.2 0 0" rpy="0 0 1.57079632679"/>
</joint>
"""
"""A link that is lifted, and a wheel on it that turns about the x axis of the world."""


@pytest.fixture
def assembled(tmp_path: Path) -> Callable[..., Assembly]:
    """Assemble the robot with further elements, and with keys of a scene if there are any."""

    def assemble_robot(elements: str, keys: str = "") -> Assembly:
        path = tmp_path / "r.urdf"
        path.write_text(f'<robot name="r">{ROBOT}{elements}</robot>')
        if keys:
            path = tmp_path / "scene.yaml"
            path.write_text(f"robots:\n- {{name: r, model: r.urdf, namespace: '', {keys}}}\n")
        return assemble(load_scene(str(path)))

    return assemble_robot


@pytest.fixture
def assembled_in(tmp_path: Path, assembled: Callable[..., Assembly]) -> Callable[..., Assembly]:
    """Assemble the robot with further elements in a world of geoms, with its base at a height."""

    def assemble_scene(geoms: str, elements: str, z: float) -> Assembly:
        assembled(elements)
        world = f"<mujoco><worldbody>{geoms}</worldbody></mujoco>"
        (tmp_path / "world.xml").write_text(world)
        path = tmp_path / "scene.yaml"
        path.write_text(
            f"world: world.xml\nrobots: [{{name: r, model: r.urdf, pose: {{xyz: [0, 0, {z}]}}}}]\n"
        )
        return assemble(load_scene(str(path)))

    return assemble_scene
