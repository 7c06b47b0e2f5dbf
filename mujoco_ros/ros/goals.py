"""Action goals whose fate the physics thread decides."""

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from mujoco_ros.control.events import GoalEnded, Outcome, Progress

_LOG = logging.getLogger(__name__)
_STATUS = QoSProfile(
    depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""As is the rule, but for a depth of 1: while Fast DDS still tries to reach a client that has died,
it could take no second status."""
_RESULT_S = 10
"""For so long a result can be asked for; rclcpp_action's default, as rclpy's own depends on the
distribution. Every status message lists all goals that are kept."""


class GoalServer(ActionServer):
    """An action server whose goals run without a callback of their own.

    rclpy expects a function that runs as long as its goal does, which would block the executor, or
    keep it spinning if it were a coroutine. Here goals end when they are told to.
    """

    def __init__(
        self,
        node: Node,
        action: Any,
        name: str,
        *,
        check: Callable[[Any], bool],
        accept: Callable[["Goal"], None],
        cancel: Callable[["Goal"], None],
        result: Callable[[GoalEnded], Any],
        feedback: Callable[[Progress], Any],
    ) -> None:
        """Serve an action.

        Args:
            node: The node.
            action: Type of the action.
            name: Name of the action.
            check: Whether to accept a goal message.
            accept: Begins to pursue the goal whose message was just accepted.
            cancel: Gives a goal up because its client wants it.
            result: Makes the result message of a goal that ended.
            feedback: Makes a feedback message.
        """
        self.name = name
        self._pursued: dict[bytes, Goal] = {}

        # Whatever these raised would end the process: rclpy's EventsExecutor cannot pass it on.
        def decide(message: Any) -> GoalResponse:
            try:
                return GoalResponse.ACCEPT if check(message) else GoalResponse.REJECT
            except Exception:
                _LOG.exception("%s: a goal was refused", name)
                return GoalResponse.REJECT

        def accepted(handle: ServerGoalHandle) -> None:
            goal = Goal(self, handle, result, feedback)
            self._pursued[goal.key] = goal
            try:
                accept(goal)
            except Exception as error:
                _LOG.exception("%s: a goal was given up", name)
                goal.give_up(repr(error))

        def canceling(handle: ServerGoalHandle) -> CancelResponse:
            goal = self._pursued.get(bytes(handle.goal_id.uuid))
            try:
                if goal is not None:
                    cancel(goal)
            except Exception:
                _LOG.exception("%s: a goal cannot be canceled", name)
                return CancelResponse.REJECT
            return CancelResponse.ACCEPT

        super().__init__(
            node,
            action,
            name,
            execute_callback=lambda _handle: None,
            goal_callback=decide,
            handle_accepted_callback=accepted,
            cancel_callback=canceling,
            status_pub_qos_profile=_STATUS,
            result_timeout=_RESULT_S,
        )
        self._accepted = accepted

    async def _execute_goal_request(self, request: tuple[Any, Any]) -> None:
        """Pursue the goal of a request, if it is accepted."""
        try:
            await super()._execute_goal_request(request)
        except rclpy_implementation.RCLError:
            # rclpy gives up here, but the client was told that its goal is accepted.
            key = bytes(request[1].goal_id.uuid)
            if key in self._goal_handles and key not in self._pursued:
                self._accepted(self._goal_handles[key])

    def notify_execute(
        self,
        goal_handle: ServerGoalHandle,
        execute_callback: Callable[[ServerGoalHandle], Any] | None,
    ) -> None:
        """Run only what `finish` hands over."""
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)

    def give_up_all(self, reason: str) -> None:
        """End all goals that are pursued."""
        for goal in list(self._pursued.values()):
            goal.give_up(reason)

    def finish(self, goal: "Goal", result: Any) -> None:
        """Send the result of a goal that has ended."""
        self._pursued.pop(goal.key, None)
        self.notify_execute(goal.handle, lambda _handle: result)


@dataclass(frozen=True, eq=False)
class Goal:
    """A goal being pursued: what the physics thread knows it by."""

    server: GoalServer
    handle: ServerGoalHandle
    result: Callable[[GoalEnded], Any]
    feedback: Callable[[Progress], Any]

    @property
    def key(self) -> bytes:
        """Its identifier."""
        return bytes(self.handle.goal_id.uuid)

    def begin(self) -> None:
        """Tell the client that it is being executed."""
        if self.handle.status == GoalStatus.STATUS_ACCEPTED:
            _change(self.handle.execute)

    def tell(self, event: Progress) -> None:
        """Tell the client where it stands; under overload the middleware may not take it."""
        if self.handle.is_active:
            with contextlib.suppress(rclpy_implementation.RCLError):
                self.handle.publish_feedback(self.feedback(event))

    def give_up(self, reason: str) -> None:
        """Tell the client that nobody pursues it any more."""
        self.end(GoalEnded(goal=self, outcome=Outcome.INVALID_GOAL, message=reason))

    def end(self, event: GoalEnded) -> None:
        """Tell the client how it ended."""
        if not self.handle.is_active:
            return
        self.begin()
        if event.outcome is Outcome.SUCCESSFUL:
            _change(self.handle.succeed)
        elif event.outcome is Outcome.CANCELED and self.handle.is_cancel_requested:
            _change(self.handle.canceled)
        else:
            _change(self.handle.abort)
        self.server.finish(self, self.result(event))


def _change(change: Callable[[], None]) -> None:
    """Change the state of a goal; where its status cannot be published, its result still counts."""
    with contextlib.suppress(rclpy_implementation.RCLError):
        change()
