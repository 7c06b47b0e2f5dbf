"""A gripper that is told where to go by goals of its action."""

import uuid

import numpy as np
from control_msgs.action import ParallelGripperCommand
from unique_identifier_msgs.msg import UUID

from mujoco_ros.bridge.service_caller import ServiceCaller
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.control.events import CommandSource

_SEND = ParallelGripperCommand.Impl.SendGoalService
_LEAST_M = 2e-4
"""A reference that is so little elsewhere is no other goal."""
_APART_S = 0.1
"""Goals are not sent faster: a gripper's controller is no stream."""


class GripperGoals:
    """Follows a gripper's reference with goals of ``gripper_cmd``, each replacing the one before.

    Attributes:
        joint: Index of the gripper's joint.
    """

    def __init__(self, asker: ServiceCaller, namespace: str, joint: int, name: str) -> None:
        """Send goals for a joint of that name, by `asker`."""
        self.joint = joint
        self._asker, self._name = asker, name
        self._service = within(namespace, CommandSource.GRIPPER, "gripper_cmd", "_action/send_goal")
        self._sent, self._sent_at = np.nan, -np.inf
        asker.is_served(_SEND, self._service)  # so that it is known by the time it counts

    def go(self, position: float, time: float) -> None:
        """Have it go somewhere [m]; NaN leaves it where it is. `time` is the tick's [s]."""
        if np.isnan(position) or abs(position - self._sent) < _LEAST_M:
            return
        if 0.0 <= time - self._sent_at < _APART_S:
            return
        self._sent, self._sent_at = position, time
        request = _SEND.Request(goal_id=UUID(uuid=np.frombuffer(uuid.uuid4().bytes, np.uint8)))
        request.goal.command.name = [self._name]
        request.goal.command.position = [position]
        self._asker.ask(_SEND, self._service, request, lambda _response: None)
