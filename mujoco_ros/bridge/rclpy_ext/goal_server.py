"""Action goals whose fate the physics thread decides."""

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from builtin_interfaces.msg import Time
from rclpy.duration import Duration
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from unique_identifier_msgs.msg import UUID

from mujoco_ros.bridge.publishing.template_publisher import nanoseconds
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.service import Responder, Service
from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.control.events import GoalEnded, Outcome

_LOG = logging.getLogger(__name__)
_FEEDBACK = QoSProfile(depth=10)
_STATUS = QoSProfile(
    depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""As is the rule, but for a depth of 1: while Fast DDS still tries to reach a client that has died,
it could take no second status."""
_LAST_WORDS = Duration(seconds=0.5)
"""For so long at most are clients waited for, some of which may have died."""
_RESULT_S = 10.0
"""For so long a result can be asked for after the end of its goal; rclcpp_action's default."""
_MOST_ENDED = 1000
"""Of so many goals that ended, the newest, results are kept."""
_MOST_LISTED = 50
"""So many goals that ended, the newest, are listed in the status."""


class GoalServer:
    """An action server whose goals end when they are told to.

    rclpy's own expects a function that runs as long as its goal does, which would block the
    executor, and must not be destroyed while a request may be on its way. An action is three
    services and two topics, and that is what this offers (design.ros2.org/articles/actions.html).
    """

    def __init__(
        self,
        endpoints: Endpoints,
        action: Any,
        name: str,
        *,
        check: Callable[[Any], bool],
        accept: Callable[["Goal"], None],
        cancel: Callable[["Goal"], None],
        result: Callable[[GoalEnded], Any],
        feedback: Callable[[Any], Any],
    ) -> None:
        """Serve an action.

        Args:
            endpoints: Opens what is published; the services are its node's.
            action: Type of the action.
            name: Name of the action.
            check: Whether to accept a goal message.
            accept: Begins to pursue the goal whose message was just accepted.
            cancel: Gives a goal up because its client wants it.
            result: Makes the result message of a goal that ended.
            feedback: Makes a feedback message of what `Goal.tell` is handed.
        """
        self.name = name
        self._node = endpoints.node
        self._endpoints = endpoints
        self._check, self._accept, self._cancel = check, accept, cancel
        self._result, self._feedback = result, feedback
        self._feedback_message = action.Impl.FeedbackMessage
        self._result_response = action.Impl.GetResultService.Response
        self._pursued: dict[bytes, Goal] = {}
        self._ended: dict[bytes, Goal] = {}  # the oldest first
        self._closed = False
        self._telling = False
        self._feedbacks = endpoints.publisher(
            self._feedback_message, f"{name}/_action/feedback", _FEEDBACK
        )
        self._statuses = endpoints.publisher(GoalStatusArray, f"{name}/_action/status", _STATUS)
        self._services = [
            Service(self._node, kind, f"{name}/_action/{what}", handler)
            for kind, what, handler in (
                (action.Impl.SendGoalService, "send_goal", self._sent),
                (CancelGoal, "cancel_goal", self._canceled),
                (action.Impl.GetResultService, "get_result", self._asked),
            )
        ]

    def give_up_all(self, reason: str) -> None:
        """End all goals that are pursued."""
        for goal in list(self._pursued.values()):
            goal.give_up(reason)

    def close(self, reason: str) -> None:
        """End all goals and accept no more; `destroy` may follow when clients were told."""
        self._closed = True
        self.give_up_all(reason)

    def flush(self) -> None:
        """Wait until clients have heard how their goals ended, as the process is about to end.

        What the middleware has yet to send is lost with the process. It sends in order, and whoever
        waits for a result listens to the status too, of which alone it tells what has arrived.
        """
        if self._telling:
            self._publish_status()
            self._statuses.wait_for_all_acked(_LAST_WORDS)

    def destroy(self) -> None:
        """Withdraw the action."""
        self._closed = True
        for service in self._services:
            service.destroy()
        for publisher in (self._feedbacks, self._statuses):
            self._endpoints.close(publisher)

    def publish_feedback(self, goal: "Goal", progress: Any) -> None:
        """Tell where a goal stands; under overload the middleware may not take it."""
        message = self._feedback_message(goal_id=goal.id, feedback=self._feedback(progress))
        with contextlib.suppress(rclpy_implementation.RCLError):
            self._feedbacks.publish(message)

    def finish(self, goal: "Goal", event: GoalEnded) -> None:
        """Send the result of a goal that has ended to those who asked, and keep it for a while."""
        self._pursued.pop(goal.key, None)
        self._ended[goal.key] = goal
        if len(self._ended) > _MOST_ENDED:
            del self._ended[next(iter(self._ended))]
        goal.ended_at = time.monotonic()
        goal.response = self._result_response(status=goal.status, result=self._result(event))
        for answer in goal.asked:
            answer(goal.response)
        goal.asked.clear()

    def tell_status(self) -> None:
        """Have the status of all goals published when what happens now is over."""
        if not self._telling:
            self._telling = later(self._node, self._publish_status)
            if not self._telling:
                self._publish_status()

    def _sent(self, request: Any, answer: Responder) -> None:
        """Accept a goal or refuse it."""
        response, key = answer.response, bytes(request.goal_id.uuid)
        known = key in self._pursued or key in self._ended
        response.accepted = not (known or self._closed) and self._decide(request.goal)
        response.stamp = self._node.get_clock().now().to_msg()
        answer()
        if not response.accepted:
            return
        goal = self._pursued[key] = Goal(self, request.goal_id, response.stamp)
        self.tell_status()
        try:
            self._accept(goal)
        except Exception as error:
            _LOG.exception("%s: a goal was given up", self.name)
            goal.give_up(repr(error))

    def _decide(self, message: Any) -> bool:
        try:
            return self._check(message)
        except Exception:
            _LOG.exception("%s: a goal was refused", self.name)
            return False

    def _canceled(self, request: CancelGoal.Request, answer: Responder) -> None:
        """Cancel what a request means: a goal, those until a time, both, or all."""
        response = answer.response
        key, until = bytes(request.goal_info.goal_id.uuid), nanoseconds(request.goal_info.stamp)
        named = any(key)
        if named and not until:
            chosen = [self._pursued[key]] if key in self._pursued else []
            if not chosen:
                over = key in self._ended
                response.return_code = (
                    response.ERROR_GOAL_TERMINATED if over else response.ERROR_UNKNOWN_GOAL_ID
                )
        else:
            chosen = [
                goal
                for goal in self._pursued.values()
                if not until or nanoseconds(goal.stamp) <= until or goal.key == key
            ]
        response.goals_canceling = [goal.info for goal in chosen if self._give_way(goal)]
        if chosen and not response.goals_canceling:
            response.return_code = response.ERROR_REJECTED
        answer()

    def _give_way(self, goal: "Goal") -> bool:
        """Begin to cancel a goal; return whether that is possible."""
        if goal.status == GoalStatus.STATUS_CANCELING:
            return True
        try:
            self._cancel(goal)
        except Exception:
            _LOG.exception("%s: a goal cannot be canceled", self.name)
            return False
        goal.change(GoalStatus.STATUS_CANCELING)
        return True

    def _asked(self, request: Any, answer: Responder) -> None:
        """Answer with the result of a goal, at once or when it ends."""
        key = bytes(request.goal_id.uuid)
        if key in self._pursued:
            self._pursued[key].asked.append(answer)
            return
        self._forget()
        if key in self._ended:
            answer(self._ended[key].response)
        else:
            answer.response.status = GoalStatus.STATUS_UNKNOWN
            answer()

    def _forget(self) -> None:
        """Drop the results that were kept long enough."""
        oldest = time.monotonic() - _RESULT_S
        for key in [key for key, goal in self._ended.items() if goal.ended_at < oldest]:
            del self._ended[key]

    def _publish_status(self) -> None:
        self._telling = False
        if self._closed and not self._pursued and not self._ended:
            return
        self._forget()
        message = GoalStatusArray(status_list=list(self._listed()))
        with contextlib.suppress(rclpy_implementation.RCLError, InvalidHandle):
            self._statuses.publish(message)

    def _listed(self) -> Iterator[GoalStatus]:
        for goal in list(self._ended.values())[-_MOST_LISTED:]:
            yield goal.listing
        for goal in self._pursued.values():
            yield goal.listing


@dataclass(eq=False)
class Goal:
    """A goal being pursued: what the physics thread knows it by.

    Attributes:
        server: What it was sent to.
        id: Its identifier.
        stamp: When it was accepted.
        asked: Who waits for its result.
        response: Its result, once it has ended.
        ended_at: When that was, on the steady clock [s].
        listing: What the status of all goals says of it.
    """

    server: GoalServer
    id: UUID
    stamp: Time
    asked: list[Responder] = field(default_factory=list)
    response: Any = None
    ended_at: float = 0.0

    def __post_init__(self) -> None:
        """Be accepted."""
        self.listing = GoalStatus(goal_info=self.info, status=GoalStatus.STATUS_ACCEPTED)

    @property
    def key(self) -> bytes:
        """Its identifier as bytes."""
        return bytes(self.id.uuid)

    @property
    def info(self) -> GoalInfo:
        """What others know it by."""
        return GoalInfo(goal_id=self.id, stamp=self.stamp)

    @property
    def status(self) -> int:
        """One of the STATUS constants of action_msgs/GoalStatus."""
        return int(self.listing.status)

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.response is not None

    def change(self, status: int) -> None:
        """Change its status, and tell."""
        self.listing.status = status
        self.server.tell_status()

    def begin(self) -> None:
        """Tell the client that it is being executed."""
        if self.status == GoalStatus.STATUS_ACCEPTED:
            self.change(GoalStatus.STATUS_EXECUTING)

    def tell(self, progress: Any) -> None:
        """Tell the client where it stands."""
        if not self.is_over:
            self.server.publish_feedback(self, progress)

    def give_up(self, reason: str) -> None:
        """Tell the client that nobody pursues it any more."""
        self.end(GoalEnded(goal=self, outcome=Outcome.INVALID_GOAL, message=reason))

    def end(self, event: GoalEnded) -> None:
        """Tell the client how it ended; what is said of that first counts."""
        if self.is_over:
            return
        if event.outcome is Outcome.SUCCESSFUL:
            status = GoalStatus.STATUS_SUCCEEDED
        elif event.outcome is Outcome.CANCELED and self.status == GoalStatus.STATUS_CANCELING:
            status = GoalStatus.STATUS_CANCELED
        else:
            status = GoalStatus.STATUS_ABORTED
        self.change(status)
        self.server.finish(self, event)
