"""Recording topics into a bag that ROS 2's own tools read."""
