"""Controllers and their state machines, over ROS."""
