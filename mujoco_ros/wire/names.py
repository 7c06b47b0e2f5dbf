"""Names and constants of messages that clients and the simulator share."""

from mujoco_ros.model.naming import topic_token, within

WORLD = "world"
"""The frame of the scene."""
EXTERNAL_WRENCH = "external_wrench"
PULL = f"{EXTERNAL_WRENCH}/pull"
"""The topic that pulls bodies; there is one for the scene."""
MOVE, TURN = "translate", "rotate"
"""Values of `control_name` of a pull; empty is `MOVE`."""
PANEL = "panel"
"""Name of the topic of a panel's description, below which are the topics of its items."""
RESTART = "restart"
"""The ``header.frame_id`` of a command whose source has started again after a reset."""
CAMERA_TRIGGER = "trigger"
"""Topic of a camera that requests a frame of the current state."""


def camera_topics(namespace: str, camera: str) -> str:
    """Return the namespace of a camera's topics, which is below the namespace of its robot."""
    return within(namespace, "camera", topic_token(camera))
