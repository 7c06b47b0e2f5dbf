"""Controllers of a few states beside small simulations."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_states import controller

from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig
from mujoco_ros.sim.simulation import Simulation

PENDULUMS = """
<mujoco>
  <option timestep="0.001" gravity="0 0 -9.81"/>
  <size nuser_jnt="1"/>
  <worldbody>
    <camera name="above" pos="0 0 2" resolution="40 30" fovy="60"/>
    <body name="base">
      <geom type="box" size=".1 .1 .1" mass="1"/>
      <body pos="0 0 .5">
        <joint name="a" axis="0 1 0" range="-90 90" user="2"/>
        <geom type="capsule" size=".02" fromto="0 0 0 0 0 .3" mass=".1"/>
        <body pos="0 0 .3">
          <joint name="b" axis="0 1 0"/>
          <geom type="capsule" size=".02" fromto="0 0 0 0 0 .2" mass=".1"/>
          <body pos="0 0 .2">
            <joint name="loose" axis="1 0 0" damping=".1"/>
            <geom type="sphere" size=".03" mass=".01"/>
            <site name="tip"/>
          </body>
        </body>
      </body>
    </body>
    <body name="ball" pos="1 0 .5">
      <freejoint/>
      <geom name="ball" type="sphere" size=".1" mass=".5"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="a" joint="a" ctrlrange="-20 20"/>
    <motor name="b" joint="b"/>
  </actuator>
  <sensor>
    <force name="force" site="tip"/>
    <torque name="torque" site="tip"/>
  </sensor>
</mujoco>
"""
GAINS = "a: {kp: 50, kd: 2}\nb: {kp: 30, kd: 1}\n"


@pytest.fixture
def pendulums(tmp_path: Path) -> Callable[..., Simulation]:
    """A function that simulates two driven joints and one that is not, and a ball."""
    (tmp_path / "pendulums.xml").write_text(PENDULUMS)
    (tmp_path / "gains.yaml").write_text(GAINS)
    robot = RobotConfig(name="pendulums", model="pendulums.xml", gains="gains.yaml")
    scene = SceneConfig(name="pendulums", folder=tmp_path, robots=(robot,), merged=False)
    return lambda **options: Simulation(scene, **options)


@pytest.fixture
def host(pendulums: Callable[..., Simulation]) -> Callable[..., tuple[ControllerHost, Simulation]]:
    """A function that hosts a controller, given as a table, beside the pendulums."""

    def build(text: str, *, simulation: Simulation | None = None, **provided: Any) -> Any:
        simulation = simulation or pendulums()
        return ControllerHost(simulation, controller(text, **provided)), simulation

    return build
