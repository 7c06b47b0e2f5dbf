"""MuJoCo, seen over ROS 2 exactly like the real robot."""

__version__ = "0.1.0"
