"""A controller's state machine, spoken in lifecycle_msgs: asked, changed and followed."""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, NamedTuple, TypeVar

from lifecycle_msgs import msg, srv
from rclpy.impl.implementation_singleton import rclpy_implementation
from std_msgs.msg import String

from mujoco_ros.bridge.publishing.topics import LATCHED, RELIABLE
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.service import Responder, Service
from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.controllers.fsm.transition import Transition, Transitioned
from mujoco_ros.controllers.runtime.supervisor import ERROR, SupervisedController
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.command_queue import QueueFullError

T = TypeVar("T")
Submit = Callable[[Callable[[], T]], "Future[T]"]
"""Has the controller's thread call something between two ticks, unless it ends (QueueFullError)."""

_MOST_IDS = 255
"""lifecycle_msgs number states and transitions in a byte; 0 is none."""
_UNASKED = 0
"""Number of what is no transition of the table: an error, a reset."""
_RESET, _GO_ON = "reset", "go_on"
_MOST_NEWS = 1000
_BURST = 10
"""Transitions, made or refused, beyond so many within a second go to the debug log."""


class _News(NamedTuple):
    """What has happened since the last news.

    Attributes:
        made: Transitions, oldest first.
        state: Where the machine stood then.
        time: When that was [s].
    """

    made: tuple[Transitioned, ...]
    state: str
    time: float


class _Logged:
    """Remembers when something was logged last."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=_BURST)

    def is_often(self) -> bool:
        """Return whether that is too often, and count once more."""
        now, times = time.monotonic(), self._times
        often = len(times) == _BURST and now - times[0] < 1.0
        times.append(now)
        return often


class LifecycleInterface:
    """Serves a controller's machine on its own node, as ``ros2 lifecycle`` and others speak to it.

    Everything here runs in the executor's thread, unless it says otherwise.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        runner: SupervisedController,
        submit: Submit[Any],
        now: Callable[[], float],
        conditions: Sequence[str] = (),
    ) -> None:
        """Offer the services and topics.

        Args:
            endpoints: Opens topics on the controller's node, which the services are of as well.
            runner: The controller; its `on_change` is taken.
            submit: The way into the controller's thread.
            now: Returns the simulated time [s].
            conditions: What its state can be beside those of the machine, and an error.

        Raises:
            ModelError: There are more states or transitions than the messages can number.
        """
        machine = runner.controller.machine
        self._runner, self._submit, self._now = runner, submit, now
        self._node = endpoints.node
        self._log = endpoints.node.get_logger()
        states = (*machine.states, *conditions, ERROR)
        self._ids = {state: number for number, state in enumerate(states, 1)}
        self._transitions = machine.transitions
        for what, count in (("states", len(states)), ("transitions", len(self._transitions))):
            if count > _MOST_IDS:
                raise UserInputError(
                    f"{count} {what} are too many: lifecycle_msgs number {_MOST_IDS}"
                )
        self._conditions = frozenset(conditions)
        self._told = ""
        self._news: deque[_News] = deque(maxlen=_MOST_NEWS)
        self._telling = False
        self._made, self._refused = _Logged(), _Logged()
        self._happened = endpoints.publisher(msg.TransitionEvent, "~/transition_event", RELIABLE)
        self._state = endpoints.publisher(String, "~/state", LATCHED)
        self._services = [
            Service(self._node, kind, f"~/{name}", handler)
            for name, kind, handler in (
                ("get_state", srv.GetState, self._get_state),
                ("get_available_states", srv.GetAvailableStates, self._get_states),
                ("get_available_transitions", srv.GetAvailableTransitions, self._get_available),
                ("get_transition_graph", srv.GetAvailableTransitions, self._get_graph),
                ("change_state", srv.ChangeState, self._change),
            )
        ]
        runner.on_change = self._note
        self._note()
        self._tell()

    def _get_state(self, _request: Any, answer: Responder) -> None:
        answer.response.current_state = self._state_message(self._runner.state)
        answer()

    def _get_states(self, _request: Any, answer: Responder) -> None:
        answer.response.available_states = [self._state_message(state) for state in self._ids]
        answer()

    def _get_graph(self, _request: Any, answer: Responder) -> None:
        self._list(answer, self._transitions)

    def _get_available(self, _request: Any, answer: Responder) -> None:
        try:
            available = self._submit(lambda: self._runner.available)
        except QueueFullError:
            self._list(answer, ())
        else:
            available.add_done_callback(lambda done: self._list(answer, _result(done)))

    def _list(self, answer: Responder, transitions: Iterable[Transition]) -> None:
        answer.response.available_transitions = [self._described(each) for each in transitions]
        answer()

    def _change(self, request: srv.ChangeState.Request, answer: Responder) -> None:
        wanted = request.transition
        try:
            asked = self._submit(partial(self._request, wanted.label, wanted.id))
        except QueueFullError as error:
            self._refuse(answer, str(error))
        else:
            asked.add_done_callback(partial(self._answer, answer))

    def _request(self, label: str, number: int) -> Transition:
        """Have a transition made, in the controller's thread; its label goes before its number."""
        if not label:
            named = [each.label for each in self._runner.available if each.id == number]
            label = named[0] if named else f"transition {number}"
        return self._runner.request(label)

    def _answer(self, answer: Responder, asked: "Future[Transition]") -> None:
        """Tell whether a transition will be made; in the thread that decided it."""
        error = None if asked.cancelled() else asked.exception()
        if asked.cancelled():
            self._refuse(answer, "the controller ends")
        elif error is not None:
            self._refuse(answer, str(error) or repr(error))
        else:
            answer.response.success = True
            answer()

    def _refuse(self, answer: Responder, reason: str) -> None:
        # The response has no text; whoever asks finds the reason in the log, and what is available
        # by the service of that name.
        (self._log.debug if self._refused.is_often() else self._log.warning)(f"refused: {reason}")
        answer.response.success = False
        answer()

    def _note(self) -> None:
        """Note what has happened, in the controller's thread, and have the executor tell it."""
        events = self._runner.events
        # Together: of the two read one after the other, one would be older than the other.
        self._news.append(_News(tuple(events), self._runner.state, self._now()))
        events.clear()
        if not self._telling:
            self._telling = True  # first: the executor may be quicker
            if not later(self._node, self._tell):
                self._telling = False

    def _tell(self) -> None:
        """Publish what has happened since the last call, and where the machine stands now."""
        self._telling = False  # first: what happens from now on may be missed below
        for news in [self._news.popleft() for _ in range(len(self._news))]:
            for made in news.made:
                self._publish_made(made)
            if news.state != self._told:
                self._publish_unasked(news.state, news.time)

    def _publish_unasked(self, state: str, time: float) -> None:
        """Publish what no transition of the table led to: an error, a pause, or back from these."""
        if self._told:
            back = _GO_ON if self._told in self._conditions else _RESET
            label = back if state in self._runner.controller.machine.states else state
            self._publish_event(time, _UNASKED, label, self._told, state)
        self._show(state)

    def _publish_made(self, event: Transitioned) -> None:
        made = event.transition
        self._publish_event(event.time, made.id, made.label, made.start, made.goal)
        if made.start == self._told:  # else it was in a branch of a parallel state
            self._show(made.goal)
        text = f"{event.time:.3f} s: {made.start} -> {made.goal}: {made.label}"
        reason = f" ({event.reason})" if event.reason else ""
        (self._log.debug if self._made.is_often() else self._log.info)(text + reason)

    def _publish_event(self, at: float, number: int, label: str, start: str, goal: str) -> None:
        message = msg.TransitionEvent(
            timestamp=round(at * 1e9),
            transition=msg.Transition(id=number, label=label),
            start_state=self._state_message(start),
            goal_state=self._state_message(goal),
        )
        with contextlib.suppress(rclpy_implementation.RCLError):  # an overloaded middleware
            self._happened.publish(message)

    def _show(self, state: str) -> None:
        self._told = state
        with contextlib.suppress(rclpy_implementation.RCLError):
            self._state.publish(String(data=state))

    def _described(self, transition: Transition) -> msg.TransitionDescription:
        return msg.TransitionDescription(
            transition=msg.Transition(id=transition.id, label=transition.label),
            start_state=self._state_message(transition.start),
            goal_state=self._state_message(transition.goal),
        )

    def _state_message(self, state: str) -> msg.State:
        return msg.State(id=self._ids.get(state, 0), label=state)


def _result(done: "Future[tuple[Transition, ...]]") -> tuple[Transition, ...]:
    return () if done.cancelled() or done.exception() else done.result()
