"""The connection of a controller to one robot of one model."""

import numpy as np

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import JointCommand
from mujoco_ros.control.joints import Clamped
from mujoco_ros.control.modes import INTERFACES
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.controllers.runtime.controller_cameras import ControllerCameras
from mujoco_ros.controllers.runtime.observation_source import ObservationSource
from mujoco_ros.controllers.runtime.privileged_access import PrivilegedAccess
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.simulation import Simulation

_NOT_CLAMPED = Clamped()


class RobotBinding:
    """A robot of the simulated model, with its inputs and outputs.

    Attributes:
        plant: The simulated plant.
        index: Index of the robot in the layout.
        part: The robot's part of the scene.
        robot: Name of the robot.
        observations: Source of the observations.
        access: Access to gains and poses.
        cameras: The cameras.
        control: The command arbitration of the robot.
    """

    def __init__(self, simulation: Simulation, index: int, rendering: str) -> None:
        """Bind to the robot with an index; `rendering` is the OpenGL backend of its cameras."""
        plant = simulation.plant
        robot, control = plant.layout.robots[index], plant.controls[index]
        self.plant, self.index = plant, index
        self.part: Part = plant.assembly.robots[index]
        self.robot = robot.name
        self.observations = ObservationSource(plant, index)
        self.access = PrivilegedAccess(plant, index)
        self.cameras = ControllerCameras(plant, index, simulation.seed, rendering)
        self.control: RobotControl = control
        self._qpos = robot.joints.qpos
        self._lower, self._upper = control.joints.lower, control.joints.upper
        self._unset_pattern, self._commanded = b"", np.empty(0, dtype=np.intp)
        # Added to references: NaN where a joint has no such command interface.
        self._mask = np.array(
            [
                [0.0 if interface in takes else np.nan for takes in control.joints.interfaces]
                for interface in INTERFACES
            ]
        )

    def command(self, values: np.ndarray, settings: StreamSettings) -> None:
        """Command position, velocity and effort of the next step; NaN is no change.  # (3, n)"""
        values = values + self._mask
        q = values[0]
        np.maximum(q, self._lower, out=q)
        np.minimum(q, self._upper, out=q)
        unset = np.isnan(values)
        pattern = unset.tobytes()
        if pattern != self._unset_pattern:  # most ticks command the same joints as the last one
            self._unset_pattern = pattern
            (self._commanded,) = np.logical_not(unset.all(axis=0)).nonzero()
        joints = self._commanded
        if len(joints) < len(q):
            values = values[:, joints]
        command = JointCommand(joints=joints, values=values, clamped=_NOT_CLAMPED)
        self.control.command(
            CommandSource.CONTROLLER, command, float(self.plant.data.time), settings
        )

    def release(self) -> None:
        """Hold the joints at their references, or at their positions if that restores gains."""
        self.cameras.cancel()
        self.control.q[:] = self.plant.data.qpos[self._qpos]
        self.control.release(CommandSource.CONTROLLER, measured=self.access.restore_gains())
