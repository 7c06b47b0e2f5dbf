"""Interactive markers of other nodes, without ROS."""
