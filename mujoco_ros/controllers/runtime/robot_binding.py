"""The connection of a controller to one robot of one model."""

import logging
from collections.abc import Sequence

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
from mujoco_ros.model.errors import unknown
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.simulation import Simulation

_LOG = logging.getLogger(__name__)
_NOT_CLAMPED = Clamped()


class RobotBinding:
    """A robot of the simulated model, with its inputs and outputs.

    The controller commands all joints, or a group of them, and observes the whole robot. References
    of joints outside the group have no effect.

    Attributes:
        plant: The simulated plant.
        index: Index of the robot in the layout.
        part: The robot's part of the scene.
        robot: Name of the robot.
        observations: Source of the observations.
        access: Access to gains and poses.
        cameras: The cameras.
        control: The command arbitration of the robot.
        joints: Names of the joints that the controller commands, in model order.
        count: Number of the robot's joints.
    """

    def __init__(
        self, simulation: Simulation, index: int, rendering: str, joints: Sequence[str] = ()
    ) -> None:
        """Bind to the robot with an index.

        Args:
            simulation: The simulation.
            index: Index of the robot in the layout.
            rendering: OpenGL backend of its cameras.
            joints: Names of the joints of the group; empty for all.

        Raises:
            UserInputError: The robot has no such joint.
        """
        plant = simulation.plant
        robot, control = plant.layout.robots[index], plant.controls[index]
        self.plant, self.index = plant, index
        self.part: Part = plant.assembly.robots[index]
        self.robot = robot.name
        self.observations = ObservationSource(plant, index)
        names = robot.joints.names
        self.count = len(names)
        self._own = _group(joints, names, robot.name)
        self.joints = names if self._own is None else tuple(np.array(names)[self._own].tolist())
        self._outside = None if self._own is None else ~self._own  # until a warning  # (n,) bool
        self.access = PrivilegedAccess(plant, index, self._own)
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
        if self._own is not None:
            self._mask[:, ~self._own] = np.nan

    def command(self, values: np.ndarray, settings: StreamSettings) -> None:
        """Command position, velocity and effort of the next step; NaN is no change.  # (3, n)"""
        if self._outside is not None:
            self._warn(values, self._outside)
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
        self.control.release(
            CommandSource.CONTROLLER, joints=self._own, measured=self.access.restore_gains()
        )

    def _warn(self, values: np.ndarray, outside: np.ndarray) -> None:
        """Warn once of references that have no effect."""
        ignored = outside & ~np.isnan(values).all(axis=0)
        if ignored.any():
            self._outside = None
            names = [self.control.joints.names[joint] for joint in np.flatnonzero(ignored)]
            _LOG.warning(
                "a controller of joints %s of robot '%s' has references for %s, which have no "
                "effect",
                *(", ".join(self.joints), self.robot, ", ".join(names)),
            )


def _group(joints: Sequence[str], names: tuple[str, ...], robot: str) -> np.ndarray | None:
    """Return which joints of a robot are in a group; None for all.  # (n,) bool"""
    if not joints:
        return None
    for joint in joints:
        if joint not in names:
            raise unknown(f"robot '{robot}': joint", joint, names)
    return np.isin(names, joints)
