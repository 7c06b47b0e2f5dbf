"""The ROS side of each type of controllers."""

from collections.abc import Mapping
from typing import Any

from mujoco_ros.bridge.ros2_control import (
    admittance_server,
    drive_server,
    joint_servers,
    sensor_servers,
)
from mujoco_ros.bridge.ros2_control.controller_server import ControllerServer
from mujoco_ros.ros2_control import (
    admittance,
    broadcasters,
    forward,
    gpio,
    gripper,
    pid_controller,
    trajectory,
)
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.drive import drive_controller

SERVERS: Mapping[type[Controller], type[ControllerServer[Any]]] = {
    broadcasters.JointStateBroadcaster: joint_servers.JointStateServer,
    trajectory.JointTrajectoryController: joint_servers.JointTrajectoryServer,
    forward.ForwardCommandController: joint_servers.ForwardCommandServer,
    gripper.ParallelGripperController: joint_servers.GripperActionServer,
    gripper.PositionGripperController: joint_servers.FormerGripperActionServer,
    gripper.EffortGripperController: joint_servers.FormerGripperActionServer,
    drive_controller.DriveController: drive_server.DriveServer,
    broadcasters.ImuSensorBroadcaster: sensor_servers.ImuServer,
    broadcasters.ForceTorqueSensorBroadcaster: sensor_servers.ForceTorqueServer,
    broadcasters.RangeSensorBroadcaster: sensor_servers.RangeServer,
    broadcasters.PoseBroadcaster: sensor_servers.PoseServer,
    broadcasters.MagnetometerBroadcaster: sensor_servers.SensorServer,
    gpio.GpioCommandController: sensor_servers.GpioServer,
    pid_controller.PidController: sensor_servers.PidServer,
    admittance.AdmittanceController: admittance_server.AdmittanceServer,
    broadcasters.GpsSensorBroadcaster: sensor_servers.GpsServer,
}
"""Servers by class of controllers; a class without a row has the server of its base class."""


def server_type(kind: type[Controller]) -> type[ControllerServer[Any]]:
    """Return the ROS side of a class of controllers."""
    return next((SERVERS[base] for base in kind.__mro__ if base in SERVERS), ControllerServer)
