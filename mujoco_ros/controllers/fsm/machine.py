"""The state machine of a controller."""

from collections import deque
from collections.abc import Mapping
from typing import Any

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.fsm.state_runner import (
    REQUESTED,
    CompositeStateRunner,
    MachineData,
    Offer,
)
from mujoco_ros.controllers.fsm.table import (
    CompositeState,
    SimpleState,
    Table,
    flat_states,
    flat_transitions,
)
from mujoco_ros.controllers.fsm.transition import (
    Transition,
    TransitionRejectedError,
)
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.panel_items import button_methods
from mujoco_ros.model.strict import updated

_MOST_PRESSED = 100
"""Buttons that may wait for the next tick."""


class Machine:
    """Runs a table.

    Attributes:
        states: Names of all states, the initial one first; in sub-machines as ``OUTER/INNER``.
        transitions: All transitions between these states.
        instances: State instances by full name, including branches of parallel states.
        robots: The robot of each instance, in a table of several; empty for all of them.
        log: Record of the transitions that were made; a reset does not clear it.
        calls: Calls the methods of the states.
    """

    def __init__(self, table: Table) -> None:
        composite = table.root.kind
        assert isinstance(composite, CompositeState)
        self.robots = {state.path: state.robot for state in table.root.walk()}
        self.instances: Mapping[str, State] = {
            state.path: state.kind.cls(state.kind.config)
            for state in table.root.walk()
            if isinstance(state.kind, SimpleState) and state.kind.cls is not None
        }
        self._data = MachineData(
            states=self.instances,
            configs={path: state.config for path, state in self.instances.items()},
            transitions=flat_transitions(table.root),
            step_by_step=table.step_by_step,
        )
        self.states = flat_states(table.root)
        self.transitions = tuple(self._data.transitions.values())
        self.log, self.calls = self._data.log, self._data.calls
        self._root = CompositeStateRunner(table.root, composite, self._data)
        self._requested: Transition | None = None
        self._pressed: deque[tuple[str, str]] = deque()
        self._context: StateContext | None = None
        self._error: Exception | None = None

    @property
    def state(self) -> str:
        """The innermost active state; a parallel state counts as innermost."""
        return self._root.active

    @property
    def active(self) -> tuple[str, ...]:
        """All active simple states; several inside a parallel state."""
        return tuple(self._root.simple_states())

    @property
    def outcome(self) -> str | None:
        """Outcome of the machine; None until it has ended."""
        return self._root.current.definition.outcome if self._root.is_active else None

    @property
    def has_failed(self) -> bool:
        """Whether the machine has ended with a failure."""
        return self.outcome is not None and self._root.current.definition.failure

    @property
    def step_by_step(self) -> bool:
        """Whether transitions with that trigger need a request."""
        return self._data.step_by_step

    @step_by_step.setter
    def step_by_step(self, value: bool) -> None:
        self._data.step_by_step = value

    @property
    def available(self) -> tuple[Transition, ...]:
        """The transitions that can be requested now, one for each label."""
        return tuple(
            offer.machine.transition(offer.definition) for offer in self._offers().values()
        )

    def config(self, state: str) -> Any:
        """Return the settings of a state; None if it has none.

        Raises:
            UserInputError: The state does not exist.
        """
        if state not in self.instances:
            raise unknown("state", state, self.instances)
        return self._data.configs[state]

    def configure(self, state: str, changes: Mapping[str, Any]) -> None:
        """Change settings of a state, given by its full name, from its next start on.

        A state with live settings gets them at its next tick.

        Raises:
            UserInputError: The state or a setting does not exist, or a value is invalid; nothing
                changes.
        """
        config = self.config(state)
        if config is None:
            raise UserInputError(f"{state}: it has no settings")
        self._data.configs[state] = updated(config, changes, state)
        if self.instances[state].has_live_settings:
            self.instances[state].config = self._data.configs[state]

    def request(self, label: str) -> Transition:
        """Schedule a transition for the next tick.

        Raises:
            TransitionRejectedError: The transition is not available; nothing changes.
        """
        offers = self._offers()
        if label not in offers:
            raise TransitionRejectedError(self._rejection(label, tuple(offers)))
        runner, definition = offers[label]
        self._requested = runner.transition(definition)
        runner.schedule(definition, REQUESTED)
        return self._requested

    def press(self, state: str, method: str) -> None:
        """Call a method of an active state with its context in the next tick, before `run`.

        Args:
            state: Full name of the state.
            method: Name of a method of its buttons.

        Raises:
            UserInputError: The state is not active, or has no such button, or too many buttons wait
                for the next tick; nothing happens.
        """
        if state not in self.instances:
            raise unknown("state", state, self.instances)
        buttons = button_methods(self.instances[state].panel)
        if method not in buttons:
            raise unknown("button", method, buttons, where=state)
        if self._error is not None or not self._root.is_active or state not in self.active:
            active = "none is" if not self._root.is_active else f"{', '.join(self.active)} is"
            raise UserInputError(f"state '{state}' is not active; {active}")
        if len(self._pressed) >= _MOST_PRESSED:
            raise UserInputError(
                f"button '{method}' of state '{state}' is rejected: {_MOST_PRESSED} buttons "
                "already wait for the next tick"
            )
        self._pressed.append((state, method))

    def step(self, context: StateContext) -> None:
        """Run one tick with at most one transition (one in each branch of a parallel state).

        An exception of a state is raised again after all active states were torn down. Every later
        call raises RuntimeError until `reset`.
        """
        if self._error is not None:
            raise RuntimeError("the machine has failed and was not reset") from self._error
        self._requested, self._context = None, context
        try:
            if not self._root.is_active:
                self._root.start(context)
            while self._pressed:
                state, method = self._pressed.popleft()
                own = context.robots[self.robots[state]] if self.robots[state] else context
                self.calls.call(state, getattr(self.instances[state], method), own)
            self._root.run(context)
        except Exception as error:
            self._error = error
            try:
                self._root.teardown(context)
            except Exception as other:
                error.add_note(f"and during teardown: {other!r}")
            raise

    def reset(self) -> None:
        """Tear down the active states and return to the initial one, which starts at the next tick.

        The teardown gets the context of the last tick.
        """
        error, self._error = self._error, None
        try:
            if error is None and self._context is not None:
                self._root.teardown(self._context)
        finally:
            self._root.rewind()
            self._root.is_active = False
            self._requested = self._context = None
            self._pressed.clear()

    def _offers(self) -> dict[str, Offer]:
        if self._requested is not None or self._error is not None or not self._root.is_active:
            return {}
        found: dict[str, Offer] = {}
        for offer in self._root.offers():
            found.setdefault(offer.definition.label, offer)
        return found

    def _rejection(self, label: str, available: tuple[str, ...]) -> str:
        if self._requested is not None:
            return f"'{label}' is not available: '{self._requested.label}' is already requested"
        if self._error is not None:
            return f"'{label}' is not available: the controller has failed, reset it"
        listing = ", ".join(available) or "nothing"
        if not self._root.is_active:
            listing = "none before the first tick"
        return f"'{label}' is not available in {self.state}; available: {listing}"
