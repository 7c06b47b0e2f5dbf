"""The ROS distribution in use."""

import os
from importlib.metadata import distributions


def ros_distribution() -> str:
    """Return the name of the ROS 2 distribution: sourced, or of the installed wheels."""
    if "ROS_DISTRO" in os.environ:
        return os.environ["ROS_DISTRO"]
    for distribution in distributions():
        name = (distribution.metadata["Name"] or "").replace("_", "-")  # None if incomplete
        if name.startswith("ros-") and name.endswith("-rclpy") and name.count("-") == 2:
            return name.split("-")[1]
    return "unknown"
