"""Joints that an extension commands with positions, velocities, torques and gains."""

from collections.abc import Sequence

import mujoco
import numpy as np

from mujoco_ros.extensions.own_elements import OwnElements
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.actuators import joint_actuators


class JointMotors:
    """Joints with one motor each; the engine evaluates their law with the state of each step."""

    def __init__(self, elements: OwnElements, names: Sequence[str]) -> None:
        """Find the joints and their motors; UserInputError if a joint has not one actuator."""
        model, self._drives = elements.model, elements.drives
        self._model = model
        joints = [elements.id("joint", name) for name in names]
        motors = [joint_actuators(model, joint) for joint in joints]
        for name, found in zip(names, motors, strict=True):
            if len(found) != 1:
                raise UserInputError(f"joint '{name}' has {len(found)} actuators; it must have one")
        self._motors = np.array(motors, dtype=np.intp).reshape(-1)
        self._dofs, self._outputs = model.jnt_dofadr[joints], model.actuator_outadr[self._motors]
        self._gear = model.actuator_gear[self._outputs, 0]
        own = elements.control_slots()[0]
        self._slots = np.searchsorted(own, model.actuator_ctrladr[self._motors])
        self._gains = model.actuator_gainprm[self._motors]
        self._biases = model.actuator_biasprm[self._motors]

    def command(self, ctrl: np.ndarray, values: np.ndarray) -> None:
        """Command the torques kp·(q* - q) + kd·(dq* - dq) + tau; in the hook `control`.

        Args:
            ctrl: The controls of the own actuators.
            values: q*, dq*, tau, kp and kd of the joints [rad, rad/s, Nm, Nm/rad, Nms/rad], or of
                slide joints the same with m and N; further columns are ignored.  # (5, n or more)
        """
        model, gear = self._model, self._gear
        q, dq, tau, kp, kd = values[:, : len(gear)]
        model.actuator_gainprm[self._motors, 0] = 1.0
        model.actuator_biasprm[self._motors, 0] = 0.0
        model.actuator_biasprm[self._motors, 1] = -kp / gear**2
        model.actuator_biasprm[self._motors, 2] = -kd / gear**2
        ctrl[self._slots] = (kp * q + kd * dq + tau) / gear

    def release(self) -> None:
        """Restore the laws of the motors; in `Extension.release` and `Extension.reset`."""
        self._model.actuator_gainprm[self._motors] = self._gains
        self._model.actuator_biasprm[self._motors] = self._biases
        self._drives.set_gains(self._drives.kp, self._drives.kd)  # the present gains

    def read(self, data: mujoco.MjData) -> np.ndarray:
        """Return position, velocity, torque and acceleration of the joints.  # (4, n)"""
        gear, outputs = self._gear, self._outputs
        q, dq = data.actuator_length[outputs] / gear, data.actuator_velocity[outputs] / gear
        return np.array([q, dq, data.actuator_force[outputs] * gear, data.qacc[self._dofs]])
