"""An action server for goals that the physics thread executes."""

import contextlib
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from builtin_interfaces.msg import Time
from rclpy.duration import Duration
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from unique_identifier_msgs.msg import UUID

from mujoco_ros.control.events import ActionGoal, GoalEnded, Outcome
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.rclpy_ext.service import Responder, Service

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_FEEDBACK = QoSProfile(depth=10)
_STATUS = QoSProfile(
    depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""The default of actions, except for its depth of 1: with that, Fast DDS accepts no second status
while it retries to reach a client that died."""
RESULT_DELIVERY_S = 0.5
"""Wall time in which clients receive the results of goals that ended with their server."""
_FLUSH_TIMEOUT = Duration(seconds=0.5)
"""Longest wait for acknowledgements of clients, some of which may have died."""
_RESULT_S = 900.0
"""Time after the end of a goal in which its result can be requested, repeatedly.

A client that loses the response, as one does whose queue is too short, can request it again.
"""
_MOST_RESULTS = 10_000  # number of ended goals whose results are kept, the newest ones: about 10 MB
_MOST_LISTED = 50  # number of ended goals in the status, the newest ones


class GoalHandler(Protocol[T]):
    """Executes the goals of an action."""

    def check(self, goal: Any, /) -> T | None:
        """Return what to execute for a goal message; None rejects it."""

    def accept(self, goal: "Goal", checked: T, /) -> None:
        """Start an accepted goal, given what `check` returned."""

    def cancel(self, goal: "Goal", /) -> None:
        """Cancel a goal at the request of a client."""

    def result(self, event: GoalEnded, /) -> Any:
        """Return the result message of a goal that ended."""

    def feedback(self, progress: Any, /) -> Any:
        """Return the feedback message for the argument of `Goal.publish_feedback`."""


class GoalServer(Generic[T]):
    """An action server whose goals are executed outside of the executor.

    rclpy's server runs a callback for the whole duration of a goal, which blocks the executor, and
    must not be destroyed while a request may be in flight. An action is three services and two
    topics (design.ros2.org/articles/actions.html), and this class serves those.
    """

    def __init__(
        self, endpoints: Endpoints, action: Any, name: str, handler: GoalHandler[T]
    ) -> None:
        self.name = name
        self._node = endpoints.node
        # So one rule remaps the action; rcl knows rules for its services and topics alone.
        name = self._node.resolve_service_name(name)
        self._endpoints, self._handler = endpoints, handler
        self._feedback_message = action.Impl.FeedbackMessage
        self._result_response = action.Impl.GetResultService.Response
        self._active: dict[bytes, Goal] = {}
        self._ended: dict[bytes, Goal] = {}  # the oldest first
        self._closed = False
        self._status_pending = False
        self._feedbacks = endpoints.publisher(
            self._feedback_message, f"{name}/_action/feedback", _FEEDBACK
        )
        self._statuses = endpoints.publisher(GoalStatusArray, f"{name}/_action/status", _STATUS)
        self._services = [
            Service(self._node, kind, f"{name}/_action/{what}", handler)
            for kind, what, handler in (
                (action.Impl.SendGoalService, "send_goal", self._send_goal),
                (CancelGoal, "cancel_goal", self._cancel_goal),
                (action.Impl.GetResultService, "get_result", self._get_result),
            )
        ]

    def close(self, reason: str) -> None:
        """Abort all goals and accept no more; `destroy` may follow once clients have results."""
        self._closed = True
        for goal in list(self._active.values()):
            goal.abort(reason)

    def flush(self) -> None:
        """Wait until clients have received the results, before the process ends.

        Messages that the middleware has not sent are lost with the process. It sends in order, and
        a client that waits for a result also subscribes to the status, the only one of the two
        whose arrival can be waited for.
        """
        if self._status_pending:
            self._publish_status()
            self._statuses.wait_for_all_acked(_FLUSH_TIMEOUT)

    def destroy(self) -> None:
        """Close the services and topics."""
        self._closed = True
        for service in self._services:
            service.destroy()
        for publisher in (self._feedbacks, self._statuses):
            self._endpoints.close(publisher)

    def publish_feedback(self, goal: "Goal", progress: Any) -> None:
        """Publish the progress of a goal; an overloaded middleware may reject it."""
        message = self._feedback_message(goal_id=goal.id, feedback=self._handler.feedback(progress))
        with contextlib.suppress(rclpy_implementation.RCLError):
            self._feedbacks.publish(message)

    def finish(self, goal: "Goal", event: GoalEnded) -> None:
        """Send the result of a goal that ended to the clients that wait for it, and keep it."""
        self._active.pop(goal.key, None)
        self._ended[goal.key] = goal
        if len(self._ended) > _MOST_RESULTS:
            del self._ended[next(iter(self._ended))]
        goal.ended_at = time.monotonic()
        goal.response = self._result_response(
            status=goal.status, result=self._handler.result(event)
        )
        for responder in goal.waiting:
            responder(goal.response)
        goal.waiting.clear()

    def publish_status_soon(self) -> None:
        """Publish the status of all goals after the current callback."""
        if not self._status_pending:
            self._status_pending = later(self._node, self._publish_status)
            if not self._status_pending:
                self._publish_status()

    def _send_goal(self, request: Any, responder: Responder) -> None:
        response, key, checked = responder.response, bytes(request.goal_id.uuid), None
        if not (key in self._active or key in self._ended or self._closed):
            try:
                checked = self._handler.check(request.goal)
            except Exception:
                _LOG.exception("%s: a goal was rejected", self.name)
        response.accepted = checked is not None
        response.stamp = self._node.get_clock().now().to_msg()
        responder()
        if checked is None:
            return
        goal = self._active[key] = Goal(self, request.goal_id, response.stamp)
        self.publish_status_soon()
        try:
            self._handler.accept(goal, checked)
        except Exception as error:
            _LOG.exception("%s: a goal was aborted", self.name)
            goal.abort(repr(error))

    def _cancel_goal(self, request: CancelGoal.Request, responder: Responder) -> None:
        """Cancel the requested goals: one, those up to a stamp, both, or all."""
        response = responder.response
        key, until = bytes(request.goal_info.goal_id.uuid), _instant(request.goal_info.stamp)
        named = any(key)
        if named and not any(until):
            chosen = [self._active[key]] if key in self._active else []
            if not chosen:
                over = key in self._ended
                response.return_code = (
                    response.ERROR_GOAL_TERMINATED if over else response.ERROR_UNKNOWN_GOAL_ID
                )
        else:
            chosen = [
                goal
                for goal in self._active.values()
                if not any(until) or _instant(goal.stamp) <= until or goal.key == key
            ]
        response.goals_canceling = [goal.info for goal in chosen if self._try_cancel(goal)]
        if chosen and not response.goals_canceling:
            response.return_code = response.ERROR_REJECTED
        responder()

    def _try_cancel(self, goal: "Goal") -> bool:
        """Start to cancel a goal; return whether that is possible."""
        if goal.status == GoalStatus.STATUS_CANCELING:
            return True
        try:
            self._handler.cancel(goal)
        except Exception:
            _LOG.exception("%s: a goal could not be canceled", self.name)
            return False
        goal.change(GoalStatus.STATUS_CANCELING)
        return True

    def _get_result(self, request: Any, responder: Responder) -> None:
        """Send the result of a goal, at once or when it ends."""
        key = bytes(request.goal_id.uuid)
        if key in self._active:
            self._active[key].waiting.append(responder)
            return
        self._drop_old_results()
        if key in self._ended:
            responder(self._ended[key].response)
        else:
            responder.response.status = GoalStatus.STATUS_UNKNOWN
            responder()

    def _drop_old_results(self) -> None:
        oldest = time.monotonic() - _RESULT_S
        while self._ended:
            key, goal = next(iter(self._ended.items()))
            if goal.ended_at >= oldest:
                return
            del self._ended[key]

    def _publish_status(self) -> None:
        self._status_pending = False
        if self._closed and not self._active and not self._ended:
            return
        self._drop_old_results()
        message = GoalStatusArray(status_list=list(self._listed()))
        with contextlib.suppress(rclpy_implementation.RCLError, InvalidHandle):
            self._statuses.publish(message)

    def _listed(self) -> Iterator[GoalStatus]:
        for goal in reversed(list(islice(reversed(self._ended.values()), _MOST_LISTED))):
            yield goal.listing
        for goal in self._active.values():
            yield goal.listing


@dataclass(eq=False)
class Goal(ActionGoal):
    """A goal; the physics thread refers to it by this object."""

    server: GoalServer[Any]  # the server that accepted it
    id: UUID  # its identifier
    stamp: Time  # when it was accepted
    waiting: list[Responder] = field(default_factory=list)  # the requests that wait for its result
    response: Any = None  # its result, once it has ended
    ended_at: float = 0.0  # when it ended, on the steady clock [s]

    def __post_init__(self) -> None:
        """Set the status to accepted."""
        self.listing = GoalStatus(goal_info=self.info, status=GoalStatus.STATUS_ACCEPTED)

    @property
    def key(self) -> bytes:
        """Its identifier as bytes."""
        return bytes(self.id.uuid)

    @property
    def info(self) -> GoalInfo:
        """Its identifier and stamp, as in the messages of actions."""
        return GoalInfo(goal_id=self.id, stamp=self.stamp)

    @property
    def status(self) -> int:
        """One of the STATUS constants of action_msgs/GoalStatus."""
        return int(self.listing.status)

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self.response is not None

    def change(self, status: int) -> None:
        """Change its status, and publish that."""
        self.listing.status = status
        self.server.publish_status_soon()

    def set_executing(self) -> None:
        """Set the status to executing."""
        if self.status == GoalStatus.STATUS_ACCEPTED:
            self.change(GoalStatus.STATUS_EXECUTING)

    def publish_feedback(self, progress: Any) -> None:
        """Publish its progress, unless it has ended."""
        if not self.has_ended:
            self.server.publish_feedback(self, progress)

    def abort(self, reason: str) -> None:
        """End it as aborted."""
        self.end(GoalEnded(goal=self, outcome=Outcome.INVALID_GOAL, message=reason))

    def end(self, event: GoalEnded) -> None:
        """End it, and send the result; later calls do nothing."""
        if self.has_ended:
            return
        if event.outcome is Outcome.SUCCESSFUL:
            status = GoalStatus.STATUS_SUCCEEDED
        elif event.outcome is Outcome.CANCELED and self.status == GoalStatus.STATUS_CANCELING:
            status = GoalStatus.STATUS_CANCELED
        else:
            status = GoalStatus.STATUS_ABORTED
        self.change(status)
        self.server.finish(self, event)


def _instant(stamp: Time) -> tuple[int, int]:
    return stamp.sec, stamp.nanosec
