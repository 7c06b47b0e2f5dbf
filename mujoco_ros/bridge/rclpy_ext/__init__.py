"""Former place of `mujoco_ros.rclpy_ext`, for the components of users until the next release."""
