"""A robot whose Cartesian controller is commanded step by step, in simulated time."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.cartesian import cartesian_command
from mujoco_ros.control.events import CommandSource
from mujoco_ros.sim.cartesian.chain import FrameChain
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.sim.simulation import Simulation

PANDA_READY = (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785)
UR_READY = (0.0, -1.2, 1.6, -1.9, -1.57, 0.0)

SERVO_ARM = """
<mujoco model="servo">
  <option timestep="0.001" integrator="implicitfast"/>
  <worldbody>
    <body name="base">
      <geom size="0.05" mass="1"/>
      <body name="one" pos="0 0 0.2">
        <joint name="one" axis="0 0 1" damping="1"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.1" size="0.03" mass="1"/>
        <body name="two" pos="0 0 0.1" euler="0 -20 0">
          <joint name="two" axis="0 1 0" damping="1"/>
          <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="2"/>
          <body name="three" pos="0.4 0 0" euler="0 60 0">
            <joint name="three" axis="0 1 0" damping="1"/>
            <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
            <site name="tool" pos="0.3 0 0"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="one" kp="2000" kv="100"/>
    <position joint="two" kp="2000" kv="100"/>
    <position joint="three" kp="2000" kv="100"/>
  </actuator>
</mujoco>
"""


def settling_time(positions: np.ndarray, goal: np.ndarray, timestep: float, within: float) -> float:
    """Return when the frame is within a distance of the goal, to stay [s].

    Args:
        positions: After each step [m].  # (steps, 3)
        goal: [m]  # (3,)
        timestep: [s]
        within: [m]
    """
    outside = np.flatnonzero(np.linalg.norm(positions - goal, axis=1) > within)
    return (outside[-1] + 1) * timestep if len(outside) else 0.0


class FrameRobot:
    """The first robot of a scene, and the measured pose of its controlled frame.

    Poses are relative to the base, and measured on a copy of the state.
    """

    def __init__(self, simulation: Simulation, ready: Sequence[float] = ()) -> None:
        """Put the joints of the chain at `ready`, and let the robot settle."""
        self.simulation = simulation
        self.control = self.simulation.controls[0]
        controller = self.control.cartesian
        assert isinstance(controller, CartesianController)
        self.controller = controller
        self._data = mujoco.MjData(self.simulation.model)
        if ready:
            positions, joints = np.array(ready), self.chain.joints
            self.simulation.data.qpos[joints.qpos] = positions
            self.simulation.hold_robot(0, joints.indices, positions, "the test sets its state")
        self.run(0.3)
        self.home, self.turn = self.pose()

    @property
    def chain(self) -> FrameChain:
        """The chain of the controlled frame."""
        assert self.controller.chain is not None
        return self.controller.chain

    @property
    def timestep(self) -> float:
        return float(self.simulation.model.opt.timestep)

    @property
    def time(self) -> float:
        return float(self.simulation.data.time)

    @property
    def q(self) -> np.ndarray:
        return self.simulation.data.qpos[self.chain.joints.qpos].copy()

    @property
    def dq(self) -> np.ndarray:
        return self.simulation.data.qvel[self.chain.joints.dof].copy()

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return position and orientation (wxyz) of the frame by MuJoCo's own kinematics."""
        model, data, frame, base = (
            self.simulation.model,
            self._data,
            self.chain.frame,
            self.chain.base,
        )
        data.qpos[:] = self.simulation.data.qpos
        mujoco.mj_kinematics(model, data)
        at, facing = np.zeros(3), np.zeros(4)
        mujoco.mju_mulPose(
            at,
            facing,
            data.xpos[frame.body],
            data.xquat[frame.body],
            frame.position,
            frame.quat_wxyz,
        )
        back, inverse = np.zeros(3), np.zeros(4)
        mujoco.mju_negPose(back, inverse, data.xpos[base.body], data.xquat[base.body])
        position, quat = np.zeros(3), np.zeros(4)
        mujoco.mju_mulPose(position, quat, back, inverse, at, facing)
        return position, quat

    def configure(self, **settings: Any) -> None:
        """Change settings of the controller."""
        changed = replace(self.controller.settings, **settings)
        self.controller.check(changed)
        self.control.configure(self.control.stream, self.control.trajectory.settings, None, changed)

    def go(self, position: Any, quat: Any = None, frame: str = "") -> None:
        """Command a pose, by default with the orientation at the start."""
        resolved = self.controller.chains.resolve(frame, self.chain.base)
        turn = self.turn if quat is None else quat
        self.control.command_cartesian(
            cartesian_command("pose", resolved, position, turn), self.time
        )

    def turn_and_move(self, linear: Any, angular: Any = (0, 0, 0), frame: str = "") -> None:
        """Command a twist."""
        resolved = self.controller.chains.resolve(frame, self.chain.base)
        self.control.command_cartesian(
            cartesian_command("twist", resolved, linear, angular), self.time
        )

    def push(self, force: Any, torque: Any = (0, 0, 0), frame: str = "") -> None:
        """Command a wrench."""
        resolved = self.controller.chains.resolve(frame, self.chain.base)
        self.control.command_cartesian(
            cartesian_command("wrench", resolved, force, torque), self.time
        )

    def run(self, duration: float) -> np.ndarray:
        """Simulate; return the position of the frame after each step.  # (steps, 3)"""
        positions = []
        for _ in range(round(duration / self.timestep)):
            assert self.simulation.step()
            positions.append(self.pose()[0])
        return np.array(positions)

    def run_joints(self, duration: float) -> tuple[np.ndarray, np.ndarray]:
        """Simulate; return positions and velocities of the joints.  # (steps, k) each."""
        q, dq = [], []
        for _ in range(round(duration / self.timestep)):
            assert self.simulation.step()
            q.append(self.q)
            dq.append(self.dq)
        return np.array(q), np.array(dq)

    def owns(self) -> bool:
        """Whether the controller owns a joint."""
        return CommandSource.CARTESIAN in self.control.owners()

    def angle_to(self, quat: Any) -> float:
        """Return the angle between the frame and an orientation [rad]."""
        difference = np.zeros(3)
        mujoco.mju_subQuat(difference, self.pose()[1], np.asarray(quat, dtype=float))
        return float(np.linalg.norm(difference))
