"""The viewer's ROS node and its clients."""
