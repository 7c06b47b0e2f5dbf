"""Drives and sensors that a URDF declares for ros2_control, Gazebo and ROS 1."""
