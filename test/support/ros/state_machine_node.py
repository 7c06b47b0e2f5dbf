"""A state machine of a controller that serves the documented interface.

Run as a program it spins until a signal: ``python state_machine_node.py --ros-args …``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import signalled_program
from lifecycle_msgs.msg import State, Transition, TransitionDescription, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions, GetState
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String


@dataclass(frozen=True)
class Move:
    """A transition: its label, start state and goal state."""

    label: str
    start: str
    goal: str


STATES = ("idle", "standing", "walking", "fault")
MOVES = (
    Move("stand", "idle", "standing"),
    Move("walk", "standing", "walking"),
    Move("stop", "walking", "standing"),
    Move("relax", "standing", "idle"),
    Move("fail", "walking", "fault"),
    Move("recover", "fault", "idle"),
)


class StateMachineNode(Node):
    """Serves the interface for the table above, starting in its first state."""

    def __init__(self, name: str = "walking_controller", context: Context | None = None) -> None:
        super().__init__(name, context=context)
        self.state = STATES[0]
        self._events = self.create_publisher(TransitionEvent, "~/transition_event", 10)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._state = self.create_publisher(String, "~/state", latched)
        served: tuple[tuple[Any, str, Callable[[Any, Any], Any]], ...] = (
            (GetState, "get_state", self._get),
            (GetAvailableStates, "get_available_states", self._get_states),
            (GetAvailableTransitions, "get_available_transitions", self._get_available),
            (GetAvailableTransitions, "get_transition_graph", self._get_graph),
            (ChangeState, "change_state", self._change),
        )
        for kind, service, handler in served:
            self.create_service(kind, f"~/{service}", handler)
        self._publish_state()

    @property
    def available(self) -> list[Move]:
        """The transitions that can be taken now."""
        return [move for move in MOVES if move.start == self.state]

    def _get(self, _request: Any, response: GetState.Response) -> GetState.Response:
        response.current_state = _state(self.state)
        return response

    def _get_states(self, _request: Any, response: Any) -> Any:
        response.available_states = [_state(name) for name in STATES]
        return response

    def _get_available(self, _request: Any, response: Any) -> Any:
        response.available_transitions = [_description(move) for move in self.available]
        return response

    def _get_graph(self, _request: Any, response: Any) -> Any:
        response.available_transitions = [_description(move) for move in MOVES]
        return response

    def _change(
        self, request: ChangeState.Request, response: ChangeState.Response
    ) -> ChangeState.Response:
        label = request.transition.label
        taken = [move for move in self.available if move.label == label]
        response.success = bool(taken)
        if not taken:
            offered = ", ".join(move.label for move in self.available)
            self.get_logger().warning(f"'{label}' refused in '{self.state}': try {offered}")
            return response
        (move,) = taken
        self.state = move.goal
        described = _description(move)
        self._events.publish(
            TransitionEvent(
                timestamp=self.get_clock().now().nanoseconds,
                transition=described.transition,
                start_state=described.start_state,
                goal_state=described.goal_state,
            )
        )
        self._publish_state()
        return response

    def _publish_state(self) -> None:
        self._state.publish(String(data=self.state))


def _state(name: str) -> State:
    return State(id=STATES.index(name) + 1, label=name)


def _description(move: Move) -> TransitionDescription:
    return TransitionDescription(
        transition=Transition(id=MOVES.index(move) + 1, label=move.label),
        start_state=_state(move.start),
        goal_state=_state(move.goal),
    )


if __name__ == "__main__":
    signalled_program.run(StateMachineNode)
