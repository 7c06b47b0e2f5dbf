"""Where a controller sits: one robot of one model, with all that leads there and back."""

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
    """A robot of the model that is simulated at present.

    Attributes:
        plant: What was made of the model.
        index: The robot's index in the layout.
        part: What of the scene the robot is.
        robot: Its name.
        senses: What it senses.
        doors: What can be done to it beside telling its joints.
        eyes: The cameras.
    """

    def __init__(self, simulation: Simulation, index: int, rendering: str) -> None:
        """Sit down at the robot with an index; `rendering` is the backend of its cameras."""
        plant = simulation.plant
        robot, control = plant.layout.robots[index], plant.controls[index]
        self.plant, self.index = plant, index
        self.part: Part = plant.assembly.robots[index]
        self.robot = robot.name
        self.senses = ObservationSource(plant, index)
        self.doors = PrivilegedAccess(plant, index)
        self.eyes = ControllerCameras(plant, index, simulation.seed, rendering)
        self._control: RobotControl = control
        self._qpos = robot.joints.qpos
        self._lower, self._upper = control.joints.lower, control.joints.upper
        self._pattern, self._told = b"", np.empty(0, dtype=np.intp)
        # Added to what joints are told: NaN is none of their business.
        self._untaken = np.array(
            [
                [0.0 if interface in takes else np.nan for takes in control.joints.takes]
                for interface in INTERFACES
            ]
        )

    def tell(self, values: np.ndarray, settings: StreamSettings) -> None:
        """Have the joints told something from the next step on.

        Args:
            values: Position, velocity and effort, NaN where one is left as it is.  # (3, n)
            settings: How they get there.
        """
        told = values + self._untaken
        q = told[0]
        np.maximum(q, self._lower, out=q)
        np.minimum(q, self._upper, out=q)
        unsaid = np.isnan(told)
        pattern = unsaid.tobytes()
        if pattern != self._pattern:  # most ticks tell the joints of the one before
            self._pattern = pattern
            (self._told,) = np.logical_not(unsaid.all(axis=0)).nonzero()
        joints = self._told
        if len(joints) < len(q):
            told = told[:, joints]
        command = JointCommand(joints=joints, values=told, clamped=_NOT_CLAMPED)
        self._control.command(
            CommandSource.CONTROLLER, command, float(self.plant.data.time), settings
        )

    def let_go(self) -> None:
        """Have the joints stay where their references are; after other gains, where they are."""
        self.eyes.cancel()
        self._control.q[:] = self.plant.data.qpos[self._qpos]
        self._control.drop(CommandSource.CONTROLLER, measured=self.doors.restore_gains())
