"""A scene with two robots and some objects, with perturbations applied at once."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from perturbed_simulation import PerturbedSimulation
from rclpy.node import Node
from rclpy.parameter import Parameter

_ROBOT = """
<mujoco>
  <worldbody>
    <body name="base">
      <geom size="0.05" mass="1"/>
      <body name="link" pos="0 0 0.2">
        <joint name="hinge" axis="0 1 0"/>
        <geom name="bar" type="capsule" size="0.02" fromto="0 0 0 0 0 0.3" mass="1"/>
        <site name="tip" pos="0 0 0.3" quat="0 0 0 1"/>
        <camera name="eye" pos="0.1 0 0"/>
        <body name="finger" pos="0 0 0.3">
          <joint name="slide" type="slide" axis="0 0 1"/>
          <geom size="0.02" mass="0.1"/>
        </body>
      </body>
    </body>
    <body name="handle" mocap="true" pos="0 0 1">
      <geom size="0.02" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <equality>
    <joint name="coupled" joint1="hinge" joint2="slide" active="false"/>
  </equality>
</mujoco>
"""
_BOX = """
<mujoco>
  <asset><material name="paint" rgba="0.1 0.2 0.3 1"/></asset>
  <worldbody>
    <body name="body">
      <freejoint/>
      <geom name="shell" type="box" size="0.1 0.1 0.1" mass="2" material="paint"/>
    </body>
  </worldbody>
</mujoco>
"""
_CURSOR = """
<mujoco>
  <worldbody>
    <body name="body" mocap="true"><geom size="0.02" contype="0" conaffinity="0"/></body>
  </worldbody>
</mujoco>
"""
_WORLD = """
<mujoco>
  <option timestep="0.001" integrator="implicitfast" gravity="0 0 0"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" contype="0" conaffinity="0"/>
    <body name="pillar" pos="9 0 0"><geom name="stone" size="0.1"/></body>
    <body name="lamp" pos="8 0 0"><freejoint/><geom name="bulb" size="0.1" mass="1"/></body>
  </worldbody>
</mujoco>
"""
_SCENE = """
world: world.xml
robots:
  - {name: left, model: robot.xml, pose: {xyz: [0, 1, 0]}}
  - {name: right, model: robot.xml, pose: {xyz: [0, -1, 0]}}
objects:
  - {name: box, model: box.xml, pose: {xyz: [2, 0, 1]}}
  - {name: cursor, model: cursor.xml, pose: {xyz: [1, 2, 3]}}
"""
FILES = {
    "scene.yaml": _SCENE,
    "world.xml": _WORLD,
    "robot.xml": _ROBOT,
    "box.xml": _BOX,
    "cursor.xml": _CURSOR,
}


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """The scene's file."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path / "scene.yaml"


@pytest.fixture
def perturb(ros_node: Node, scene: Path) -> Iterator[Callable[..., PerturbedSimulation]]:
    """A function that makes the scene, or another one, with parameters given at start."""
    made: list[PerturbedSimulation] = []

    def make(file: Path = scene, **overrides: object) -> PerturbedSimulation:
        given = [Parameter(n.replace("__", "."), value=v) for n, v in overrides.items()]
        node = Node("acted", context=ros_node.context, parameter_overrides=given)
        made.append(PerturbedSimulation(node, file))
        return made[-1]

    yield make
    for perturbed in made:
        perturbed.node.destroy_node()
