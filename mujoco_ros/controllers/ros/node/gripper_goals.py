"""Commands of a gripper as goals of its action."""

import uuid

import numpy as np
from control_msgs.action import ParallelGripperCommand
from unique_identifier_msgs.msg import UUID

from mujoco_ros.bridge.service_caller import ServiceCaller
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.control.events import CommandSource

_SEND_GOAL = ParallelGripperCommand.Impl.SendGoalService
_MIN_CHANGE_M = 2e-4
"""Smaller changes of the reference are not a new goal."""
_MIN_INTERVAL_S = 0.1
"""Gripper controllers do not accept a stream of goals."""


class GripperGoals:
    """Follows a gripper's reference with goals of ``gripper_cmd``; each replaces the last one.

    Attributes:
        joint: Index of the gripper's joint.
    """

    def __init__(self, caller: ServiceCaller, namespace: str, joint: int, name: str) -> None:
        """Create a client for the joint with an index and a name."""
        self.joint = joint
        self._caller, self._name = caller, name
        self._service = within(namespace, CommandSource.GRIPPER, "gripper_cmd", "_action/send_goal")
        self._sent, self._sent_at = np.nan, -np.inf
        caller.is_served(_SEND_GOAL, self._service)  # starts the discovery

    def send(self, position: float, time: float) -> None:
        """Send a goal [m] at the time of a tick [s], if it is new; NaN sends nothing."""
        if np.isnan(position) or abs(position - self._sent) < _MIN_CHANGE_M:
            return
        if 0.0 <= time - self._sent_at < _MIN_INTERVAL_S:
            return
        self._sent, self._sent_at = position, time
        request = _SEND_GOAL.Request(goal_id=UUID(uuid=np.frombuffer(uuid.uuid4().bytes, np.uint8)))
        request.goal.command.name = [self._name]
        request.goal.command.position = [position]
        self._caller.ask(_SEND_GOAL, self._service, request, lambda _response: None)
