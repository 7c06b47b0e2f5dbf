"""Names and constants that clients and the simulator share."""

import os
import re
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution, distributions
from typing import Any

from mujoco_ros.model.naming import in_namespace, topic_token

WORLD = "world"
"""The frame of the scene."""
EXTERNAL_WRENCH = "external_wrench"
PULL = f"{EXTERNAL_WRENCH}/pull"
EXTERNAL_EFFORTS = "external_efforts"
"""The topic that pulls bodies; there is one for the scene."""
MOVE, TURN = "translate", "rotate"
"""Values of `control_name` of a pull; empty is `MOVE`."""
PANEL = "panel"
"""Name of the topic of a panel's description, below which are the topics of its items."""
PROFILE = "profile"
"""Row on /diagnostics with the time of each stage of a step, by keys as ``velocity [us]``."""
REALISM = "realism of <robot>"
"""Row on /diagnostics of a robot with imperfections."""
TEMPERATURE = "temperature of <joint> [°C]"
"""Key of the row `REALISM` for each joint whose motors heat."""
RESTART = "restart"
"""The ``header.frame_id`` of a command whose source has started again after a reset."""
CAMERA_TRIGGER = "trigger"
"""Topic of a camera that requests a frame of the current state."""


def camera_topics(namespace: str, camera: str) -> str:
    """Return the namespace of a camera's topics, which is below the namespace of its robot."""
    return in_namespace(namespace, "camera", topic_token(camera))


def parameter_prefix(namespace: str) -> str:
    """Return the beginning of the parameters of a robot; empty without a namespace."""
    return namespace.replace("/", ".") + "." if namespace else ""


_WORD = re.compile(r"(?<=.)(?=[A-Z])")


def service_name(interface: str) -> str:
    """Return the name of a service by its type, such as ``get_entities``."""
    return _WORD.sub("_", interface).lower()


def write_resource(message: Any, field: str, uri: str, text: str = "") -> None:
    """Write the URI and text of a resource into a field of a request or a response.

    Older versions of the message contain the URI and the text themselves.
    """
    resource = getattr(message, field, message)
    resource.uri = uri
    if hasattr(resource, "resource_string"):
        resource.resource_string = text


def ros_distribution() -> str:
    """Return the name of the ROS 2 distribution: sourced, or of the installed wheels."""
    if "ROS_DISTRO" in os.environ:
        return os.environ["ROS_DISTRO"]
    for known in ("jazzy", "kilted"):  # to look at all packages takes 45 ms
        with suppress(PackageNotFoundError):
            distribution(f"ros-{known}-rclpy")
            return known
    for package in distributions():
        name = (package.metadata["Name"] or "").replace("_", "-")  # None if incomplete
        if name.startswith("ros-") and name.endswith("-rclpy") and name.count("-") == 2:
            return name.split("-")[1]
    return "unknown"
