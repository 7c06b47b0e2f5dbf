"""The types of ros2_controllers that run in the simulator."""

from collections.abc import Mapping

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
from mujoco_ros.ros2_control.drive.drive_types import DRIVE_TYPES
from mujoco_ros.ros2_control.forward import (
    ForwardCommandController,
    JointGroupEffortController,
    JointGroupPositionController,
    JointGroupVelocityController,
    MultiInterfaceForwardCommandController,
)
from mujoco_ros.ros2_control.gpio import GpioCommandController
from mujoco_ros.ros2_control.gripper import (
    EffortGripperController,
    ParallelGripperController,
    PositionGripperController,
)
from mujoco_ros.ros2_control.pid_controller import PidController
from mujoco_ros.ros2_control.trajectory import JointTrajectoryController

TYPES: Mapping[str, type[Controller]] = {
    "joint_state_broadcaster/JointStateBroadcaster": JointStateBroadcaster,
    "joint_trajectory_controller/JointTrajectoryController": JointTrajectoryController,
    "forward_command_controller/ForwardCommandController": ForwardCommandController,
    "forward_command_controller/MultiInterfaceForwardCommandController": (
        MultiInterfaceForwardCommandController
    ),
    "position_controllers/JointGroupPositionController": JointGroupPositionController,
    "velocity_controllers/JointGroupVelocityController": JointGroupVelocityController,
    "effort_controllers/JointGroupEffortController": JointGroupEffortController,
    "parallel_gripper_action_controller/GripperActionController": ParallelGripperController,
    "position_controllers/GripperActionController": PositionGripperController,
    "effort_controllers/GripperActionController": EffortGripperController,
    **DRIVE_TYPES,
    "imu_sensor_broadcaster/IMUSensorBroadcaster": ImuSensorBroadcaster,
    "force_torque_sensor_broadcaster/ForceTorqueSensorBroadcaster": ForceTorqueSensorBroadcaster,
    "range_sensor_broadcaster/RangeSensorBroadcaster": RangeSensorBroadcaster,
    "pose_broadcaster/PoseBroadcaster": PoseBroadcaster,
    "magnetometer_broadcaster/MagnetometerBroadcaster": MagnetometerBroadcaster,
    "gps_sensor_broadcaster/GPSSensorBroadcaster": GpsSensorBroadcaster,
    "gpio_controllers/GpioCommandController": GpioCommandController,
    "admittance_controller/AdmittanceController": AdmittanceController,
    "pid_controller/PidController": PidController,
}
"""Classes by type; the ROS side of each is a row in `bridge.ros2_control.servers`."""
