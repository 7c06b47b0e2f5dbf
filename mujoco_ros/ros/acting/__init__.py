"""Acting on a running simulation over ROS: topics and parameters."""
