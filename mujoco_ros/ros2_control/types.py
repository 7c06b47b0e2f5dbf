"""The types of ros2_controllers that run in the simulator."""

from collections.abc import Mapping

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
from mujoco_ros.ros2_control.drive.drive_types import DRIVE_TYPES

TYPES: Mapping[str, type[Controller]] = {
    "joint_state_broadcaster/JointStateBroadcaster": broadcasters.JointStateBroadcaster,
    "joint_trajectory_controller/JointTrajectoryController": trajectory.JointTrajectoryController,
    "forward_command_controller/ForwardCommandController": forward.ForwardCommandController,
    "forward_command_controller/MultiInterfaceForwardCommandController": (
        forward.MultiInterfaceForwardCommandController
    ),
    "position_controllers/JointGroupPositionController": forward.JointGroupPositionController,
    "velocity_controllers/JointGroupVelocityController": forward.JointGroupVelocityController,
    "effort_controllers/JointGroupEffortController": forward.JointGroupEffortController,
    "parallel_gripper_action_controller/GripperActionController": gripper.ParallelGripperController,
    "position_controllers/GripperActionController": gripper.PositionGripperController,
    "effort_controllers/GripperActionController": gripper.EffortGripperController,
    **DRIVE_TYPES,
    "imu_sensor_broadcaster/IMUSensorBroadcaster": broadcasters.ImuSensorBroadcaster,
    "force_torque_sensor_broadcaster/ForceTorqueSensorBroadcaster": (
        broadcasters.ForceTorqueSensorBroadcaster
    ),
    "range_sensor_broadcaster/RangeSensorBroadcaster": broadcasters.RangeSensorBroadcaster,
    "pose_broadcaster/PoseBroadcaster": broadcasters.PoseBroadcaster,
    "magnetometer_broadcaster/MagnetometerBroadcaster": broadcasters.MagnetometerBroadcaster,
    "gps_sensor_broadcaster/GPSSensorBroadcaster": broadcasters.GpsSensorBroadcaster,
    "gpio_controllers/GpioCommandController": gpio.GpioCommandController,
    "admittance_controller/AdmittanceController": admittance.AdmittanceController,
    "pid_controller/PidController": pid_controller.PidController,
}
"""Classes by type; the ROS side of each is a row in `bridge.ros2_control.servers`."""
