"""Code of installed packages in the physics: extensions, without ROS."""
