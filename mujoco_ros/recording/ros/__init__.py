"""Recording of topics and replay of state logs over ROS."""
