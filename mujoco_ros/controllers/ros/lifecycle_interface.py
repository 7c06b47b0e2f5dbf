"""The state machine of a controller as services and topics of lifecycle_msgs."""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from lifecycle_msgs import msg, srv
from rclpy.impl.implementation_singleton import rclpy_implementation
from std_msgs.msg import String

from mujoco_ros.control.events import QueueFullError
from mujoco_ros.controllers.fsm.table import Transition, TransitionEvent
from mujoco_ros.controllers.runtime import supervisor
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.rclpy_ext.service import Responder, Service
from mujoco_ros.wire.qos import LATCHED, RELIABLE

T = TypeVar("T")
Submit = Callable[[Callable[[], T]], "Future[T]"]
"""Calls a function in the controller's thread between two ticks; QueueFullError at shutdown."""

_MAX_IDS = 255  # lifecycle_msgs has one-byte ids of states and transitions; 0 is none
_BURST = 10  # more log lines of one kind within a second are debug messages


class _BurstLimit:
    """Counts log lines of one kind."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=_BURST)

    def is_exceeded(self) -> bool:
        """Count one line; return whether there were too many within the last second."""
        now, times = time.monotonic(), self._times
        is_exceeded = len(times) == _BURST and now - times[0] < 1.0
        times.append(now)
        return is_exceeded


class LifecycleInterface:
    """Serves the state machine of a controller, as ``ros2 lifecycle``, in the executor's thread."""

    def __init__(
        self,
        endpoints: Endpoints,
        supervised: supervisor.SupervisedController,
        submit: Submit[Any],
        pauses: Sequence[str] = (),
        switches: Mapping[str, Callable[[], object]] | None = None,
    ) -> None:
        """Open the services and topics.

        `submit` calls functions in the controller's thread, `pauses` are all reasons of
        `SupervisedController.pause`. `switches` start and stop the controller, by the labels
        `ACTIVATE` and `DEACTIVATE`, unless the table has such labels.
        """
        machine = supervised.machine
        self._supervised, self._submit = supervised, submit
        self._node = endpoints.node
        self._logger = endpoints.node.get_logger()
        states = (*machine.states, *pauses, supervisor.ERROR)
        self._ids = {state: number for number, state in enumerate(states, 1)}
        self._transitions = machine.transitions
        self._initial = machine.states[0]
        labels = {transition.label for transition in self._transitions}
        self._switches = {
            label: call for label, call in (switches or {}).items() if label not in labels
        }
        count_of_transitions = len(self._transitions) + len(self._switches)
        for what, count in (("states", len(states)), ("transitions", count_of_transitions)):
            if count > _MAX_IDS:
                raise UserInputError(
                    f"{count} {what} are too many: lifecycle_msgs can number {_MAX_IDS}"
                )
        self._published_event = supervised.log.count
        self._is_scheduled = False
        self._made_lines, self._rejection_lines = _BurstLimit(), _BurstLimit()
        self._events = endpoints.publisher(msg.TransitionEvent, "~/transition_event", RELIABLE)
        self._states = endpoints.publisher(String, "~/state", LATCHED)
        self._reasons = endpoints.publisher(String, "~/reason", LATCHED)
        self._services = [
            Service(self._node, kind, f"~/{name}", handler)
            for name, kind, handler in (
                ("get_state", srv.GetState, self._get_state),
                ("get_available_states", srv.GetAvailableStates, self._get_states),
                ("get_available_transitions", srv.GetAvailableTransitions, self._get_available),
                ("get_transition_graph", srv.GetAvailableTransitions, self._get_graph),
                ("change_state", srv.ChangeState, self._change_state),
            )
        ]
        self._publish_state(supervised.state, supervised.error)
        supervised.on_change.append(self._schedule)

    def _get_state(self, _request: Any, answer: Responder) -> None:
        answer.response.current_state = self._state_message(self._supervised.state)
        answer()

    def _get_states(self, _request: Any, answer: Responder) -> None:
        answer.response.available_states = [self._state_message(state) for state in self._ids]
        answer()

    def _get_graph(self, _request: Any, answer: Responder) -> None:
        self._answer_transitions(answer, self._transitions)

    def _get_available(self, _request: Any, answer: Responder) -> None:
        self._run(self._available, lambda found, _: self._answer_transitions(answer, found or ()))

    def _answer_transitions(self, answer: Responder, transitions: Iterable[Transition]) -> None:
        answer.response.available_transitions = [
            msg.TransitionDescription(
                transition=msg.Transition(id=transition.id, label=transition.label),
                start_state=self._state_message(transition.start),
                goal_state=self._state_message(transition.goal),
            )
            for transition in transitions
        ]
        answer()

    def _change_state(self, request: srv.ChangeState.Request, answer: Responder) -> None:
        def respond(_made: Transition | None, problem: str) -> None:
            if problem:  # the response has no text
                is_exceeded = self._rejection_lines.is_exceeded()
                (self._logger.debug if is_exceeded else self._logger.warning)(
                    f"rejected: {problem}"
                )
            answer.response.success = not problem
            answer()

        self._run(partial(self._request, request.transition.label, request.transition.id), respond)

    def _run(self, call: Callable[[], T], respond: Callable[[T | None, str], object]) -> None:
        """Call a function in the controller's thread; respond with its result, or a problem."""

        def done(called: "Future[T]") -> None:
            if called.cancelled():
                respond(None, "the controller is shutting down")
            elif (error := called.exception()) is not None:
                respond(None, str(error) or repr(error))
            else:
                respond(called.result(), "")

        try:
            self._submit(call).add_done_callback(done)
        except QueueFullError as error:
            respond(None, str(error))

    def _request(self, label: str, number: int) -> Transition:
        """Request a transition by label, or by number without one; in the controller's thread."""
        if not label:
            labels = [
                transition.label for transition in self._available() if transition.id == number
            ]
            label = labels[0] if labels else f"transition {number}"
        for transition in self._switching():
            if transition.label == label:
                self._switches[label]()
                return transition
        return self._supervised.request(label)

    def _available(self) -> tuple[Transition, ...]:
        """Return the transitions that can be requested now; in the controller's thread."""
        return (*self._supervised.available, *self._switching())

    def _switching(self) -> Iterator[Transition]:
        """Yield the transitions that start and stop the controller, with numbers of their own."""
        state, count = self._supervised.state, len(self._transitions)
        goals = {supervisor.ACTIVATE: self._initial, supervisor.DEACTIVATE: supervisor.INACTIVE}
        for number, label in enumerate(self._switches, count + 1):
            is_start = label == supervisor.ACTIVATE
            if state == supervisor.ERROR or is_start == (state == supervisor.INACTIVE):
                yield Transition(id=number, label=label, start=state, goal=goals[label])

    def _schedule(self) -> None:
        """Schedule the publication of new events; in the controller's thread."""
        if not self._is_scheduled:
            self._is_scheduled = True  # before the call, because the executor may be faster
            if not later(self._node, self._publish_events):
                self._is_scheduled = False

    def _publish_events(self) -> None:
        self._is_scheduled = False  # before reading the log, which may miss later events
        for event in self._supervised.log.since(self._published_event):
            if event.number != self._published_event + 1:
                self._logger.warning(
                    "transition_event: the executor was too slow, and events were lost"
                )
            self._published_event = event.number
            self._publish_event(event)
            if event.transition.start == self._state:  # false inside a branch of a parallel state
                self._publish_state(event.transition.goal, event.reason)

    def _publish_event(self, event: TransitionEvent) -> None:
        made = event.transition
        message = msg.TransitionEvent(
            timestamp=round(event.time * 1e9),
            transition=msg.Transition(id=made.id, label=made.label),
            start_state=self._state_message(made.start),
            goal_state=self._state_message(made.goal),
        )
        with contextlib.suppress(rclpy_implementation.RCLError):  # an overloaded middleware
            self._events.publish(message)
        if made.id:
            text = f"{event.time:.3f} s: {made.start} -> {made.goal}: {made.label}"
            reason = f" ({event.reason})" if event.reason else ""
            is_exceeded = self._made_lines.is_exceeded()
            (self._logger.debug if is_exceeded else self._logger.info)(text + reason)

    def _publish_state(self, state: str, reason: str) -> None:
        self._state = state
        for publisher, text in ((self._reasons, reason), (self._states, state)):
            with contextlib.suppress(rclpy_implementation.RCLError):
                publisher.publish(String(data=text))

    def _state_message(self, state: str) -> msg.State:
        return msg.State(id=self._ids.get(state, 0), label=state)
