"""The low-level interface of Unitree's Go and B robots: LowCmd in, LowState out at 500 Hz."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from unitree_go.msg import LowCmd, LowState

from mujoco_ros.extensions.endpoints import publisher, subscription
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.joint_motors import JointMotors
from mujoco_ros.extensions.own_elements import find_feet, find_imu
from mujoco_ros.extensions.settings import setting
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import rpy_of

_LEGS = [
    f"{leg}_{part}_joint" for leg in ("FR", "FL", "RR", "RL") for part in ("hip", "thigh", "calf")
]
_STOP, _LARGEST = (2.1e9, 16000.0), 1e4  # [rad], [rad/s] switch off their loop; any other number


@dataclass(frozen=True)
class UnitreeGoSettings:
    """The settings of the interface."""

    joints: str = setting(" ".join(_LEGS), "Joints in the order of the messages, at the start")
    feet: str = setting("", "Touch sensors of the four feet, - for none; empty: on the legs")
    imu: str = setting("", "Site of the IMU; empty: the one on the trunk")


class UnitreeGo(Extension):
    """Commands the motors from the first message on. State: q, dq, tau, kp, kd of 20 motors."""

    Settings = UnitreeGoSettings
    initial_state: ClassVar = {"command": [0.0] * 100, "is_set": [0.0]}

    def set_up(self) -> None:
        """Find the motors and the sensors."""
        elements, joints = self.elements, self.settings.joints.split()[:20]
        self._motors = JointMotors(elements, joints)
        self._message = LowState(head=[0xFE, 0xEF], level_flag=0xFF)
        imu = self._message.imu_state
        legs = [joints[at : at + 3] for at in range(0, len(joints) - 2, 3)][:4]
        body = elements.model.jnt_bodyid[elements.id("joint", joints[0])]
        found = find_imu(elements, self.settings.imu, int(elements.model.body_rootid[body]))
        found += find_feet(elements, self.settings.feet.split(), legs)
        arrays = [imu.quaternion, imu.gyroscope, imu.accelerometer]
        arrays += np.split(self._message.foot_force, 4)
        pairs = zip(arrays, found, strict=False)
        self._sensors = [(array, slots) for array, slots in pairs if slots is not None]

    def reset(self) -> None:
        """Leave the motors as they were, until the next command."""
        self._motors.release()

    release = reset

    def control(self, data: Any, ctrl: np.ndarray) -> None:
        """Command the motors."""
        if self.state["is_set"][0]:
            self._motors.command(ctrl, self.state["command"].reshape(20, 5).T)

    @subscription(LowCmd, "lowcmd", of_robot=True)
    def lowcmd(self, message: LowCmd) -> None:
        """Set the commands of all motors; those in another mode than 1 have no torque."""
        command = np.array(
            [(motor.q, motor.dq, motor.tau, motor.kp, motor.kd) for motor in message.motor_cmd]
        )
        command[[motor.mode != 1 for motor in message.motor_cmd]] = 0.0
        for loop, stop in enumerate(_STOP):
            command[np.ix_(np.abs(command[:, loop]) >= stop, (loop, 3 + loop))] = 0.0
        if not (np.abs(command) <= _LARGEST).all():
            raise UserInputError(f"the command has numbers beyond {_LARGEST:g}, or not finite")
        self.state["command"][:], self.state["is_set"][0] = command.ravel(), 1.0

    @publisher(LowState, "lowstate", rate_hz=500.0, of_robot=True)
    def lowstate(self) -> LowState:
        """Return positions, velocities, torques, IMU and forces of the feet at one instant."""
        message = self._message
        for array, slots in self._sensors:
            array[:] = self.data.sensordata[slots].clip(None, 32767.0)
        message.imu_state.rpy[:] = rpy_of(message.imu_state.quaternion)
        readings = self._motors.read(self.data).T.tolist()
        for motor, (q, dq, tau, ddq) in zip(message.motor_state, readings, strict=False):
            motor.mode, motor.q, motor.dq, motor.tau_est, motor.ddq = 1, q, dq, tau, ddq
        message.tick = int(1000.0 * self.data.time) % (1 << 32)
        return message
