"""Former place of `rclpy_ext.executor`, for the components of users until the next release."""

from mujoco_ros.bridge.component import query
from mujoco_ros.rclpy_ext.executor import create_wall_timer, guarded, later

__all__ = ["create_wall_timer", "guarded", "later", "query"]
