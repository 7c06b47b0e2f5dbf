"""External wrenches, pulls, mocap bodies and changes of the world over ROS."""
