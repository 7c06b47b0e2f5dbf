"""The ROS side of controllers of a ros2_control parameter file, and of their manager."""
