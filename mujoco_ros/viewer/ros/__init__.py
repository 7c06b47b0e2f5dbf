"""The viewer's ROS node."""
