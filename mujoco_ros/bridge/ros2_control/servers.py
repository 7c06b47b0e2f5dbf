"""The ROS side of each type of controllers."""

from collections.abc import Mapping
from typing import Any

from mujoco_ros.bridge.ros2_control.admittance_server import AdmittanceServer
from mujoco_ros.bridge.ros2_control.controller_server import ControllerServer
from mujoco_ros.bridge.ros2_control.drive_server import DriveServer
from mujoco_ros.bridge.ros2_control.forward_server import ForwardCommandServer
from mujoco_ros.bridge.ros2_control.joint_servers import (
    FormerGripperActionServer,
    GripperActionServer,
    JointStateServer,
    JointTrajectoryServer,
)
from mujoco_ros.bridge.ros2_control.sensor_servers import (
    ForceTorqueServer,
    GpioServer,
    GpsServer,
    ImuServer,
    PidServer,
    PoseServer,
    RangeServer,
    SensorServer,
)
from mujoco_ros.ros2_control.admittance import AdmittanceController
from mujoco_ros.ros2_control.broadcasters import (
    ForceTorqueSensorBroadcaster,
    GpsSensorBroadcaster,
    ImuSensorBroadcaster,
    JointStateBroadcaster,
    MagnetometerBroadcaster,
    PoseBroadcaster,
    RangeSensorBroadcaster,
)
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.drive.drive_controller import DriveController
from mujoco_ros.ros2_control.forward import ForwardCommandController
from mujoco_ros.ros2_control.gpio import GpioCommandController
from mujoco_ros.ros2_control.gripper import (
    EffortGripperController,
    ParallelGripperController,
    PositionGripperController,
)
from mujoco_ros.ros2_control.pid_controller import PidController
from mujoco_ros.ros2_control.trajectory import JointTrajectoryController

SERVERS: Mapping[type[Controller], type[ControllerServer[Any]]] = {
    JointStateBroadcaster: JointStateServer,
    JointTrajectoryController: JointTrajectoryServer,
    ForwardCommandController: ForwardCommandServer,
    ParallelGripperController: GripperActionServer,
    PositionGripperController: FormerGripperActionServer,
    EffortGripperController: FormerGripperActionServer,
    DriveController: DriveServer,
    ImuSensorBroadcaster: ImuServer,
    ForceTorqueSensorBroadcaster: ForceTorqueServer,
    RangeSensorBroadcaster: RangeServer,
    PoseBroadcaster: PoseServer,
    MagnetometerBroadcaster: SensorServer,
    GpioCommandController: GpioServer,
    PidController: PidServer,
    AdmittanceController: AdmittanceServer,
    GpsSensorBroadcaster: GpsServer,
}
"""Servers by class of controllers; a class without a row has the server of its base class."""


def server_type(kind: type[Controller]) -> type[ControllerServer[Any]]:
    """Return the ROS side of a class of controllers."""
    return next((SERVERS[base] for base in kind.__mro__ if base in SERVERS), ControllerServer)
