"""The joints of a robot as commands address them, and a model with only their drives."""

from collections.abc import Sequence

import mujoco
import numpy as np

from mujoco_ros.control.joints import POSITION, ControlledJoints, command_interfaces
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import RobotLayout, all_joints, lay_out
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.sim.drives import Drives
from mujoco_ros.sim.gripper_tendon import gripper_tendon, is_drivable, movers
from mujoco_ros.sim.settings.gains import configured_gains
from mujoco_ros.sim.state.initial_state import initial_state


def controlled_joints(
    model: mujoco.MjModel, robot: RobotLayout, drives: Drives, first: int
) -> ControlledJoints:
    """Return the joints of a robot, whose first joint has the index `first` among all joints.

    Raises:
        UserInputError: The joint or tendon of its gripper takes no positions.
    """
    names, ids = robot.joints.names, robot.joints.ids
    takes = tuple(command_interfaces(drives.modes(first + i)) for i in range(len(names)))
    limited = model.jnt_limited[ids].astype(bool)
    lower = np.where(limited, model.jnt_range[ids, 0], -np.inf)
    upper = np.where(limited, model.jnt_range[ids, 1], np.inf)
    for i in range(len(names)):
        low, high = drives.position_range(first + i)
        lower[i], upper[i] = max(lower[i], low), min(upper[i], high)
    _check_gripper(model, robot, takes)
    tendon = robot.gripper_tendon
    hinge = model.jnt_type[ids] == mujoco.mjtJoint.mjJNT_HINGE
    return ControlledJoints(
        names=names,
        interfaces=takes,
        lower=lower,
        upper=upper,
        continuous=hinge & np.isinf(lower) & np.isinf(upper),
        gripper=robot.gripper,
        tendon=None if tendon is None else gripper_tendon(model, robot, tendon),
        moved_by=movers(model, robot),
    )


def _check_gripper(
    model: mujoco.MjModel, robot: RobotLayout, takes: Sequence[frozenset[str]]
) -> None:
    """Reject a gripper that takes no positions."""
    names = robot.joints.names
    if robot.gripper_tendon is not None and not is_drivable(model, robot.gripper_tendon):
        given = f"tendon '{model.tendon(robot.gripper_tendon).name.removeprefix(robot.prefix)}'"
    elif robot.gripper is not None and POSITION not in takes[robot.gripper]:
        given = f"joint '{names[robot.gripper]}'"
    else:
        return
    able = [name for name, taken in zip(names, takes, strict=True) if POSITION in taken]
    able += [
        f"tendon '{model.tendon(tendon).name.removeprefix(robot.prefix)}'"
        for tendon in range(model.ntendon)
        if model.tendon(tendon).name.startswith(robot.prefix) and is_drivable(model, tendon)
    ]
    raise UserInputError(
        f"gripper of robot '{robot.name}': {given} takes no positions; "
        f"these do: {', '.join(able) or 'none'}"
    )


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
