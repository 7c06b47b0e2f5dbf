"""Responses of services of controller_manager_msgs."""

from collections.abc import Sequence

from controller_manager_msgs.msg import ControllerState

from mujoco_ros.rclpy_ext.service import Responder


def controller_state(
    name: str, kind: str, commands: Sequence[str], *, is_active: bool
) -> ControllerState:
    """Return the entry of a controller in ``list_controllers``, by its command interfaces."""
    return ControllerState(
        name=name,
        state="active" if is_active else "inactive",
        type=kind,
        claimed_interfaces=commands if is_active else [],
        required_command_interfaces=commands,
    )


def answer_switch(answer: Responder, left_out: Sequence[str], otherwise: str = "") -> None:
    """Report the success of a switch, with what was left out of it, or `otherwise` a message."""
    answer.response.ok = True
    answer.response.message = f"left out: {'; '.join(left_out)}" if left_out else otherwise
    answer()
