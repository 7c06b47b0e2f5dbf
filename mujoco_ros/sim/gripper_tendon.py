"""The tendon of a gripper, and its position servos."""

import mujoco
import numpy as np

from mujoco_ros.control.joints import GripperTendon
from mujoco_ros.model.robot.actuators import (
    fixed_joints,
    tendon_actuators,
    tendon_dofs,
    tendon_is_angle,
    tendon_of,
    tendon_range,
)
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.drives import Drives, position_inputs


class TendonDrive:
    """The position servos on a tendon, as a `GripperDrive`.

    Their controls store the reference, so that it follows resets and loaded states.
    """

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, drives: Drives, tendon: int
    ) -> None:
        """Move the tendon with an index."""
        actuators = tendon_actuators(model, tendon)
        self._actuators = [it for it in actuators if position_inputs(model, [it])]
        self._inputs = position_inputs(model, actuators)
        outputs = model.actuator_outadr[actuators].tolist()
        self._forces = [(it, float(model.actuator_gear[it, 0])) for it in outputs]
        joints = [joint for joint, _ in fixed_joints(model, tendon)]
        self._qpos, self._dof = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self._coefficients = np.array([factor for _, factor in fixed_joints(model, tendon)])
        self._tendon, self._model, self._data, self._drives = tendon, model, data, drives
        self._lower, self._upper = position_range(model, tendon)

    def reference(self) -> float:
        """Return the position of which the first servo has the control [m or rad]."""
        slot, factor, offset = self._inputs[0]
        position = (float(self._data.ctrl[slot]) - offset) / factor
        return min(max(position, self._lower), self._upper)

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
        # That of the last step is zero after a reset; the next step computes the same again.
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
    low, high = position_range(model, tendon)
    servos = [it for it in tendon_actuators(model, tendon) if position_inputs(model, [it])]
    return GripperTendon(
        name=model.tendon(tendon).name.removeprefix(robot.prefix),
        actuators=tuple(model.actuator(it).name.removeprefix(robot.prefix) for it in servos),
        joints=np.flatnonzero(np.isin(robot.joints.dof, tendon_dofs(model, tendon))),
        lower=low,
        upper=high,
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
