"""The viewer's link to the simulator and to other nodes, over ROS."""
