"""The topics of admittance controllers."""

from array import array
from functools import partial

import numpy as np
from control_msgs.msg import AdmittanceControllerState
from geometry_msgs.msg import WrenchStamped
from trajectory_msgs.msg import JointTrajectoryPoint

from mujoco_ros.bridge.ros2_control.controller_server import ControllerServer
from mujoco_ros.control.events import CommandError
from mujoco_ros.control.joints import check_numbers
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.ros2_control.admittance import AdmittanceController, quaternion_xyzw

_SIGN = "child_on_parent"
_REFERENCES, _WRENCH = "~/joint_references", "~/wrench_reference"
_SIX = tuple(f"{part}.{axis}" for part in ("linear", "angular") for axis in "xyz")
_WRENCHES = tuple(f"{part}.{axis}" for part in ("force", "torque") for axis in "xyz")
_TRANSFORMS = ("ref_trans_base_ft", "admittance_position")
_IN_BASE = ("wrench_base", "admittance_velocity", "admittance_acceleration", *_TRANSFORMS)


class AdmittanceServer(ControllerServer[AdmittanceController]):
    """Serves ``~/joint_references`` and ``~/wrench_reference``, and publishes ``~/status``."""

    def open(self) -> None:
        """Open the topics.

        Raises:
            UserInputError: Forces have the sign with which the tool would move against them.
        """
        if self._context.values["wrench_sign"] != _SIGN:
            raise UserInputError(
                f"controller '{self.controller.name}' needs the parameter 'wrench_sign' to be "
                f"'{_SIGN}': with the other sign, its tool would move against forces"
            )
        self._listen(JointTrajectoryPoint, _REFERENCES, self._follow)
        self._listen(WrenchStamped, _WRENCH, self._push)
        self.renew()

    def renew(self) -> None:
        """Publish the parameters in ``~/status``."""
        controller = self.controller
        read, message = controller.parameters, AdmittanceControllerState()
        for name in ("mass", "damping", "stiffness"):
            getattr(message, name).data = getattr(controller, name).tolist()
        message.selected_axes.data = [int(axis) for axis in read.selected_axes]
        message.ft_sensor_frame.data = read.sensor_frame
        for name in _IN_BASE:
            getattr(message, name).header.frame_id = read.base
        message.ref_trans_base_ft.child_frame_id = read.sensor_frame
        message.admittance_position.child_frame_id = "admittance_offset"
        count = len(read.joints)
        message.joint_state.name = list(read.joints)
        for field in ("position", "velocity", "effort"):
            setattr(message.joint_state, field, array("d", [0.0] * count))
        paths = [f"wrench_base.wrench.{path}" for path in _WRENCHES]
        for name in _IN_BASE[1:3]:
            paths += [f"{name}.twist.{path}" for path in _SIX]
        for field in ("position", "velocity", "effort"):
            paths += [f"joint_state.{field}.{index}" for index in range(count)]
        for name in _TRANSFORMS:
            paths += [f"{name}.transform.translation.{axis}" for axis in "xyz"]
        for name in (*(f"{name}.transform.rotation" for name in _TRANSFORMS), "rot_base_control"):
            paths += [f"{name}.{axis}" for axis in "xyzw"]
        stamps = [f"{name}.header.stamp" for name in (*_IN_BASE, "joint_state")]
        self._status = self._output(message, "~/status", paths, stamps=stamps)

    def publish(self, time: float) -> None:
        """Publish wrench and motion in the base, and what the joints add to their references."""
        if self._status.is_wanted:
            found = self.controller
            parts = (found.wrench_base, found.twist, found.twist_rate)
            joints = (found.offset, found.velocity, found.acceleration)
            places = (found.place, found.displacement[:3])
            turns = map(quaternion_xyzw, found.turns)
            np.concatenate([*parts, *joints, *places, *turns], out=self._status.values)
            self._status.publish(time)

    def _follow(self, message: JointTrajectoryPoint, now: bool) -> None:
        check = partial(self.controller.check, message.positions, message.velocities)
        self._take(_REFERENCES, check, self.controller.command, now)

    def _push(self, message: WrenchStamped, now: bool) -> None:
        frame = self.controller.parameters.sensor_frame

        def check() -> np.ndarray:
            if message.header.frame_id not in ("", frame):
                raise CommandError(f"its frame is '{message.header.frame_id}', not '{frame}'")
            force, torque = message.wrench.force, message.wrench.torque
            wrench = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
            check_numbers(wrench, "wrench", _WRENCHES, nan=False, kind="axis")
            return wrench

        self._take(_WRENCH, check, self.controller.push, now)
