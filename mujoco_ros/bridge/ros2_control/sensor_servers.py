"""The topics of sensor broadcasters, GPIO and PID controllers."""

from array import array
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from control_msgs.msg import (
    DynamicInterfaceGroupValues,
    InterfaceValue,
    MultiDOFCommand,
    MultiDOFStateStamped,
    SingleDOFState,
)
from geometry_msgs.msg import PoseStamped, TransformStamped, WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu, MagneticField, NavSatFix, NavSatStatus, Range
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.ros2_control.controller_server import ControllerServer
from mujoco_ros.ros2_control.broadcasters import (
    LOAD_FIELDS,
    ForceTorqueSensorBroadcaster,
    GpsSensorBroadcaster,
    ImuSensorBroadcaster,
    PoseBroadcaster,
    RangeSensorBroadcaster,
)
from mujoco_ros.ros2_control.gpio import GpioCommandController, interface_values
from mujoco_ros.ros2_control.pid_controller import PidController
from mujoco_ros.wire.qos import TF


class SensorServer(ControllerServer[Any]):
    """Publishes a sensor on one topic."""

    message: ClassVar[Any] = MagneticField
    name: ClassVar[str] = "~/magnetic_field"

    def open(self) -> None:
        message = self.message()
        message.header.frame_id = self.controller.frame
        self._complete(message)
        controller = self.controller
        self._sensor = self._output(message, self.name, controller.paths, values=controller.values)

    def publish(self, time: float) -> None:
        self._sensor.publish(time)

    def _complete(self, message: Any) -> None:
        """Set what never changes."""


class ImuServer(SensorServer):
    """Publishes ``~/imu``."""

    message = Imu
    name = "~/imu"
    controller: ImuSensorBroadcaster

    def _complete(self, message: Imu) -> None:
        covariances = self.controller.covariances
        message.orientation_covariance = covariances.orientation
        message.angular_velocity_covariance = covariances.angular_velocity
        message.linear_acceleration_covariance = covariances.linear_acceleration
        if not self.controller.has_orientation:
            message.orientation_covariance[0] = -1.0


class GpsServer(SensorServer):
    """Publishes ``~/gps/fix``."""

    message = NavSatFix
    name = "~/gps/fix"
    controller: GpsSensorBroadcaster

    def _complete(self, message: NavSatFix) -> None:
        covariance, kinds = self.controller.covariance, NavSatFix
        message.status.status = NavSatStatus.STATUS_FIX
        message.status.service = NavSatStatus.SERVICE_GPS
        message.position_covariance_type = kinds.COVARIANCE_TYPE_DIAGONAL_KNOWN
        if not covariance.is_measured:
            message.position_covariance = covariance.static
            message.position_covariance_type = kinds.COVARIANCE_TYPE_KNOWN


class RangeServer(SensorServer):
    """Publishes ``~/range``."""

    message = Range
    name = "~/range"
    controller: RangeSensorBroadcaster

    def _complete(self, message: Range) -> None:
        beam = self.controller.beam
        message.radiation_type, message.field_of_view = beam.radiation_type, beam.field_of_view
        message.min_range, message.max_range = beam.min_range, beam.max_range
        if hasattr(message, "variance"):
            message.variance = beam.variance


class ForceTorqueServer(SensorServer):
    """Publishes ``~/wrench`` and ``~/wrench_filtered``; axes without an interface are NaN."""

    message = WrenchStamped
    name = "~/wrench"
    controller: ForceTorqueSensorBroadcaster

    def open(self) -> None:
        super().open()
        controller, self._filtered = self.controller, None
        if controller.filters:
            message = WrenchStamped()
            message.header.frame_id = controller.frame
            self._filtered = self._output(
                message, "~/wrench_filtered", LOAD_FIELDS, values=controller.filtered
            )

    def publish(self, time: float) -> None:
        super().publish(time)
        if self._filtered is not None:
            self._filtered.publish(time)

    def _complete(self, message: WrenchStamped) -> None:
        for vector in (message.wrench.force, message.wrench.torque):
            vector.x = vector.y = vector.z = float("nan")


class PoseServer(SensorServer):
    """Publishes ``~/pose`` and, on request, /tf."""

    message = PoseStamped
    name = "~/pose"
    controller: PoseBroadcaster

    def open(self) -> None:
        super().open()
        controller, self._frame = self.controller, None
        if controller.child_frame:
            transform = TransformStamped(child_frame_id=controller.child_frame)
            transform.header.frame_id = controller.frame
            place = "transforms.0.transform"
            renamed = [
                path.replace("pose.position", f"{place}.translation").replace(
                    "pose.orientation", f"{place}.rotation"
                )
                for path in controller.paths
            ]
            self._frame = self._output(
                *(TFMessage(transforms=[transform]), "/tf", renamed),
                values=controller.values,
                stamps=("transforms.0.header.stamp",),
                qos=TF,
            )

    def publish(self, time: float) -> None:
        super().publish(time)
        if self._frame is not None:
            self._frame.publish(time)


class GpioServer(ControllerServer[GpioCommandController]):
    """Serves ``~/commands``, and publishes ``~/gpio_states``."""

    def open(self) -> None:
        controller = self.controller
        message, paths, places = DynamicInterfaceGroupValues(), [], []
        for row, group in enumerate(controller.groups):
            own = [
                (place, name.removeprefix(f"{group}/"))
                for place, name in enumerate(controller.state_interfaces)
                if name.startswith(f"{group}/")
            ]
            values = array("d", [0.0] * len(own))
            message.interface_groups.append(group)
            names = [name for _, name in own]
            message.interface_values.append(InterfaceValue(interface_names=names, values=values))
            paths += [f"interface_values.{row}.values.{at}" for at in range(len(own))]
            places += [place for place, _ in own]
        self._states = self._output(
            message, "~/gpio_states", paths, values=controller.states.values, places=places
        )
        if controller.command_interfaces:
            self._listen(DynamicInterfaceGroupValues, "~/commands", self._handle)

    def publish(self, time: float) -> None:
        self._states.publish(time)

    def _handle(self, message: DynamicInterfaceGroupValues, now: bool) -> None:
        def check() -> np.ndarray:
            names = [each.interface_names for each in message.interface_values]
            values = [each.values for each in message.interface_values]
            given = interface_values(message.interface_groups, names, values)
            return self.controller.check(given)

        self._take("~/commands", check, self.controller.command, now)


_BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class PidServer(ControllerServer[PidController]):
    """Serves ``~/reference`` and ``~/measured_state``, and publishes ``~/controller_state``."""

    def open(self) -> None:
        controller = self.controller
        self._subscribe_to("~/reference", controller.command)
        if controller.takes_states:
            self._subscribe_to("~/measured_state", controller.observe)
        states = [SingleDOFState(name=dof) for dof in controller.dofs]
        fields = ("reference", "feedback", "error", "output")
        paths = [f"dof_states.{i}.{field}" for field in fields for i in range(len(states))]
        self._state = self._output(
            MultiDOFStateStamped(dof_states=states), "~/controller_state", paths
        )

    def publish(self, time: float) -> None:
        """Publish references, states, errors and outputs."""
        if self._state.is_wanted:
            controller, count = self.controller, len(self.controller.dofs)
            rows = (controller.references, controller.measured, controller.error, controller.output)
            np.concatenate([row[:count] for row in rows], out=self._state.values)
            self._state.publish(time)

    def _subscribe_to(self, name: str, act: Callable[[Any], None]) -> None:
        self._listen(MultiDOFCommand, name, partial(self._handle, name, act), _BEST_EFFORT)

    def _handle(
        self, name: str, act: Callable[[Any], None], message: MultiDOFCommand, now: bool
    ) -> None:
        fields = (message.dof_names, message.values, message.values_dot)
        self._take(name, lambda: self.controller.check(*map(list, fields)), act, now)
