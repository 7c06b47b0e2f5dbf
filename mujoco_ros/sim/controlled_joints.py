"""The joints of a robot as commands address them, and the tendon of its gripper."""

from collections.abc import Sequence

import mujoco
import numpy as np

from mujoco_ros.control.joints import POSITION, ControlledJoints, GripperTendon, command_interfaces
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.actuators import (
    fixed_joints,
    tendon_actuators,
    tendon_dofs,
    tendon_is_angle,
    tendon_of,
    tendon_range,
)
from mujoco_ros.model.robot.layout import RobotLayout, all_joints, lay_out
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.sim.drives import Drives, position_inputs
from mujoco_ros.sim.settings.gains import configured_gains
from mujoco_ros.sim.state.initial_state import initial_state


class TendonServo:
    """The position servos on a tendon, as a `GripperServo`.

    Their controls store the reference, so that it follows resets and loaded states.
    """

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, drives: Drives, tendon: int
    ) -> None:
        actuators = tendon_actuators(model, tendon)
        self._actuators = [servo for servo in actuators if position_inputs(model, [servo])]
        self._inputs = position_inputs(model, actuators)
        outputs = model.actuator_outadr[actuators].tolist()
        self._forces = [(output, float(model.actuator_gear[output, 0])) for output in outputs]
        joints = [joint for joint, _ in fixed_joints(model, tendon)]
        self._qpos, self._dof = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self._coefficients = np.array([factor for _, factor in fixed_joints(model, tendon)])
        self._tendon, self._model, self._data, self._drives = tendon, model, data, drives
        self.limits = position_range(model, tendon)  # of positions [m or rad]

    def reference(self) -> float:
        """Return the position of which the first servo has the control [m or rad]."""
        slot, factor, offset = self._inputs[0]
        position = (float(self._data.ctrl[slot]) - offset) / factor
        return min(max(position, self.limits[0]), self.limits[1])

    def set_reference(self, position: float) -> None:
        """Write the controls of a position [m or rad]."""
        for slot, factor, offset in self._inputs:
            self._data.ctrl[slot] = factor * position + offset

    def measured(self) -> tuple[float, float, float]:
        """Return length [m or rad], its rate and the force of the actuators [N or Nm]."""
        data, tendon = self._data, self._tendon
        effort = sum(float(data.actuator_force[output]) * gear for output, gear in self._forces)
        if len(self._coefficients):
            length = self._coefficients @ data.qpos[self._qpos]
            return float(length), float(self._coefficients @ data.qvel[self._dof]), effort
        # The length of the last step is zero after a reset; the next step computes this again.
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_comPos(self._model, data)
        mujoco.mj_tendon(self._model, data)
        return float(data.ten_length[tendon]), float(data.ten_velocity[tendon]), effort

    def limit_effort(self, effort: float) -> None:
        """Limit the force of the servos on the tendon [N or Nm]; 0 restores their own limit."""
        self._drives.force_limits.limit(self._actuators, effort)


def position_range(model: mujoco.MjModel, tendon: int) -> tuple[float, float]:
    """Return the positions that a tendon can have and its servos accept [m or rad]."""
    low, high = tendon_range(model, tendon)
    for slot, factor, offset in position_inputs(model, tendon_actuators(model, tendon)):
        if model.actuator_ctrllimited[slot]:
            ends = np.sort((model.actuator_ctrlrange[slot] - offset) / factor)
            low, high = max(low, float(ends[0])), min(high, float(ends[1]))
    return low, high


def is_drivable(model: mujoco.MjModel, tendon: int) -> bool:
    """Return whether a tendon has a position servo."""
    return bool(position_inputs(model, tendon_actuators(model, tendon)))


def gripper_tendon(model: mujoco.MjModel, robot: RobotLayout, tendon: int) -> GripperTendon:
    """Return the description of a tendon that the gripper controller of a robot moves."""
    actuators = tendon_actuators(model, tendon)
    servos = [servo for servo in actuators if position_inputs(model, [servo])]
    return GripperTendon(
        name=model.tendon(tendon).name.removeprefix(robot.prefix),
        actuators=tuple(model.actuator(servo).name.removeprefix(robot.prefix) for servo in servos),
        joints=np.flatnonzero(np.isin(robot.joints.dof, tendon_dofs(model, tendon))),
        limits=np.array(position_range(model, tendon)),
        is_angle=tendon_is_angle(model, tendon),
    )


def movers(model: mujoco.MjModel, robot: RobotLayout) -> dict[int, tuple[str, ...]]:
    """Return the names of actuators on tendons that move a joint, by the index of the joint."""
    found: dict[int, tuple[str, ...]] = {}
    for actuator in range(model.nactuator):
        name = model.actuator(actuator).name.removeprefix(robot.prefix)
        tendon = tendon_of(model, actuator)
        if tendon is None or not name:
            continue
        for joint in np.flatnonzero(np.isin(robot.joints.dof, tendon_dofs(model, tendon))):
            found[int(joint)] = (*found.get(int(joint), ()), name)
    return found


def position_limits(
    model: mujoco.MjModel, robot: RobotLayout, drives: Drives, first: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and largest positions of a robot's joints that they and their drives
    permit, infinite where unlimited; the first joint has the index `first` among all.  # (n,) each
    """
    ids = robot.joints.ids
    limited = model.jnt_limited[ids].astype(bool)
    lower = np.where(limited, model.jnt_range[ids, 0], -np.inf)
    upper = np.where(limited, model.jnt_range[ids, 1], np.inf)
    for i in range(len(ids)):
        low, high = drives.position_range(first + i)
        lower[i], upper[i] = max(lower[i], low), min(upper[i], high)
    return lower, upper


def controlled_joints(
    model: mujoco.MjModel, robot: RobotLayout, drives: Drives, first: int
) -> ControlledJoints:
    """Return the joints of a robot, whose first joint has the index `first` among all joints."""
    names, ids = robot.joints.names, robot.joints.ids
    takes = tuple(command_interfaces(drives.modes(first + i)) for i in range(len(names)))
    lower, upper = position_limits(model, robot, drives, first)
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

    The motors of the model are servos with the configured gains.
    """

    def __init__(self, assembly: Assembly) -> None:
        self.layout, self.model = lay_out(assembly), assembly.model
        joints = all_joints(self.layout)
        self.drives = drives = Drives(self.model, joints)
        # The initial state of its scene, with references and controls of keyframes
        self.start = initial_state(assembly, self.layout)
        # The joints of each robot as commands address them
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
