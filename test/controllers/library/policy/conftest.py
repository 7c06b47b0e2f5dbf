"""Policies of two driven joints, without a simulator or beside a small simulation."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.interface.inputs import VELOCITY_INPUT, VelocityInput
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig
from mujoco_ros.sim.simulation import Simulation

CART = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.002"/>
  <default><joint damping="1"/></default>
  <worldbody>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <geom type="box" size=".2 .2 .1" mass="4" contype="0" conaffinity="0"/>
      <site name="imu" euler="0 0 1.5707963267948966"/>
      <camera name="front" pos=".3 0 0" xyaxes="0 -1 0 0 0 1" resolution="12 8"/>
      <body pos="0 .2 0">
        <joint name="left" axis="0 1 0" range="-2 2"/>
        <geom type="capsule" size=".02" fromto="0 0 0 0 0 .3" mass=".1" contype="0"/>
      </body>
      <body pos="0 -.2 0">
        <joint name="right" axis="0 1 0" range="-2 2"/>
        <geom type="capsule" size=".02" fromto="0 0 0 0 0 .3" mass=".1" contype="0"/>
        <site name="tip" pos="0 0 .3"/>
      </body>
    </body>
    <body name="ball" pos="3 0 .5"><freejoint/><geom size=".1" mass=".5"/></body>
    <geom name="wall" type="box" size=".1 4 4" pos="2.4 0 0" contype="0" conaffinity="0"/>
  </worldbody>
  <actuator>
    <motor name="left" joint="left" ctrlrange="-20 20"/>
    <motor name="right" joint="right" ctrlrange="-20 20"/>
  </actuator>
  <sensor>
    <gyro name="gyro" site="imu"/>
    <framequat name="orientation" objtype="site" objname="imu"/>
    <velocimeter name="velocity" site="imu"/>
    <touch name="touch" site="tip"/>
    <force name="force" site="tip"/>
    <torque name="torque" site="tip"/>
    <jointpos name="encoder" joint="left"/>
  </sensor>
  <keyframe><key name="home" qpos="0 0 1 1 0 0 0 .1 -.2 3 0 .5 1 0 0 0"/></keyframe>
</mujoco>
"""


@dataclass
class PolicyRun:
    """A cart with two arms, and the policy that commands them.

    Attributes:
        actions: The output of each run of the network.
        inputs: The input ``obs`` of each run.
    """

    host: ControllerHost
    simulation: Simulation
    velocity: VelocityInput
    actions: list[np.ndarray] = field(default_factory=list)
    inputs: list[np.ndarray] = field(default_factory=list)

    @property
    def machine(self) -> Any:
        return self.host.supervised.machine

    def watch(self, state: str = "RUN") -> None:
        """Record the runs of the network of a state."""
        network = self.machine.instances[state]._network
        run = network.run

        def recorded() -> None:
            run()
            for name in network.inputs:
                if name == "obs":
                    self.inputs.append(network.inputs[name].reshape(-1).copy())
            self.actions.append(network.output.reshape(-1).copy())

        network.run = recorded

    def step(self, ticks: int) -> None:
        for _ in range(ticks):
            assert self.host.tick()
        assert self.host.supervised.error == ""

    @property
    def went(self) -> list[tuple[str, str]]:
        return [
            (event.transition.goal, event.reason) for event in self.host.supervised.log.since(0)
        ]


MakePolicy = Callable[..., PolicyRun]


@pytest.fixture
def make_policy(tmp_path: Path) -> MakePolicy:
    """A function that simulates a cart with a policy, from the settings of its state."""
    (tmp_path / "cart.xml").write_text(CART)
    (tmp_path / "gains.yaml").write_text("left: {kp: 50, kd: 2}\nright: {kp: 30, kd: 1}\n")

    def make(
        *,
        rate: float = 250.0,
        seed: int = 0,
        states: dict[str, Any] | None = None,
        transitions: dict[str, Any] | None = None,
        **settings: Any,
    ) -> PolicyRun:
        run = {"class": "Policy", "joints": ["left", "right"], **settings}
        table = {
            "rate": rate,
            "initial": "RUN",
            "states": {
                "RUN": run,
                **(states or {}),
                "STOPPED": {"class": "Hold", "outcome": "stopped", "failure": True},
            },
            "transitions": {
                "*": {"fell": "STOPPED", "invalid": "STOPPED"},
                **(transitions or {}),
            },
        }
        path = tmp_path / "run_policy.yaml"
        path.write_text(yaml.safe_dump(table, sort_keys=False))
        robot = RobotConfig(name="cart", model="cart.xml", gains="gains.yaml")
        scene = SceneConfig(name="cart", folder=tmp_path, robots=(robot,), merged=False)
        simulation = Simulation(scene)
        controller = load(str(path), seed=seed)
        velocity = VelocityInput()
        controller.store.provide(VELOCITY_INPUT, velocity)
        made = PolicyRun(ControllerHost(simulation, controller), simulation, velocity)
        made.watch()
        return made

    return make
