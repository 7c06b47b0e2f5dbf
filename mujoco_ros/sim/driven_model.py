"""A model with the drives of its joints, for nodes that do not simulate it."""

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import all_joints, lay_out
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.sim.controlled_joints import controlled_joints
from mujoco_ros.sim.drives import Drives
from mujoco_ros.sim.settings.configured_gains import configured_gains
from mujoco_ros.sim.state.initial_state import initial_state


class DrivenModel:
    """The model, the robots and the initial state of a `Plant`, without what steps it.

    Attributes:
        layout: Its robots.
        model: Its model, whose motors are servos with the configured gains.
        drives: The actuators of all joints.
        controlled: The joints of each robot as commands address them.
        start: The initial state of its scene; references and controls are those of keyframes.
    """

    def __init__(self, assembly: Assembly) -> None:
        """Derive it from a scene.

        Raises:
            UserInputError: A file that the scene names is missing or invalid.
        """
        self.layout, self.model = lay_out(assembly), assembly.model
        joints = all_joints(self.layout)
        self.drives = drives = Drives(self.model, joints)
        self.start = initial_state(assembly, self.layout)
        self.controlled = [
            controlled_joints(self.model, robot, drives, columns.start)
            for robot, columns in zip(self.layout.robots, self.layout.columns, strict=True)
        ]
        servos = np.isin(np.arange(len(joints.names)), drives.servo_joints)
        timestep = float(self.model.opt.timestep)
        gains = configured_gains(assembly, self.layout, self._data(), servos, timestep)
        drives.set_gains(gains.kp, gains.kd)

    def _data(self) -> mujoco.MjData:
        """Return the initial positions and velocities with the forces that they cause."""
        data, start = mujoco.MjData(self.model), self.start
        data.qpos[:], data.qvel[:] = start.qpos, start.qvel
        data.mocap_pos[:], data.mocap_quat[:] = start.mocap_pos, start.mocap_quat
        mujoco.mj_forward(self.model, data)
        return data
