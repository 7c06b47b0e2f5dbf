"""The state machine of a controller: it starts, runs and tears down the states of a table."""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.fsm.state_calls import StateCalls
from mujoco_ros.controllers.fsm.table import (
    TIMEOUT,
    FlatTransition,
    StateDef,
    Table,
    Transition,
    TransitionDef,
    TransitionLog,
    TransitionRejectedError,
    Trigger,
    flat_states,
    flat_transitions,
)
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.panel_items import button_methods
from mujoco_ros.model.strict import updated

_MOST_PRESSED = 100  # buttons that may wait for the next tick


class Machine:
    """Runs a table.

    Attributes:
        log: The transitions that were made; a reset does not clear them.
    """

    def __init__(self, table: Table) -> None:
        # The robot of each instance, in a table of several; empty for all of them
        self.robots = {state.path: state.robot for state in table.root.walk()}
        # State instances by full name, including branches of parallel states
        self.instances: Mapping[str, State] = {
            state.path: state.cls(state.config)
            for state in table.root.walk()
            if state.cls is not None
        }
        # Settings for the next start of each state, by full name; None without any
        self.configs = {path: state.config for path, state in self.instances.items()}
        # Whether transitions with that trigger need a request
        self.step_by_step = table.step_by_step
        # Names of all states, the initial one first; in sub-machines as ``OUTER/INNER``
        self.states = flat_states(table.root)
        self.transition_of = flat_transitions(table.root)
        # All transitions between these states
        self.transitions = tuple(self.transition_of.values())
        self.log, self.calls = TransitionLog(), StateCalls()
        self._root = _CompositeRunner(table.root, self)
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
    def available(self) -> tuple[Transition, ...]:
        """The transitions that can be requested now, one for each label."""
        return tuple(
            runner.transition(definition) for runner, definition in self._offers().values()
        )

    def configure(self, state: str, changes: Mapping[str, Any]) -> None:
        """Change settings of a state, given by its full name, from its next start on.

        A state with live settings gets them at its next tick. UserInputError if the state or a
        setting does not exist, or a value is invalid; nothing changes.
        """
        if state not in self.instances:
            raise unknown("state", state, self.instances)
        config = self.configs[state]
        if config is None:
            raise UserInputError(f"{state}: it has no settings")
        self.configs[state] = updated(config, changes, state)
        if self.instances[state].has_live_settings:
            self.instances[state].config = self.configs[state]

    def request(self, label: str) -> Transition:
        """Schedule a transition for the next tick; TransitionRejectedError if it is impossible."""
        offers = self._offers()
        if label not in offers:
            raise TransitionRejectedError(self._rejection(label, tuple(offers)))
        runner, definition = offers[label]
        self._requested = runner.transition(definition)
        runner.schedule(definition, "requested")
        return self._requested

    def press(self, state: str, method: str) -> None:
        """Call a button's method of an active state in the next tick, before `run`.

        UserInputError if the state is not active, has no such button, or too many wait.
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
        """Tear down the active states, with the last context, and return to the initial one."""
        error, self._error = self._error, None
        try:
            if error is None and self._context is not None:
                self._root.teardown(self._context)
        finally:
            self._root.rewind()
            self._root.is_active = False
            self._requested = self._context = None
            self._pressed.clear()

    def _offers(self) -> dict[str, tuple["_CompositeRunner", TransitionDef]]:
        """Return the transitions that can be requested, inner ones first, by label."""
        if self._requested is not None or self._error is not None or not self._root.is_active:
            return {}
        found: dict[str, tuple[_CompositeRunner, TransitionDef]] = {}
        for runner, definition in self._root.offers():
            found.setdefault(definition.label, (runner, definition))
        return found

    def _rejection(self, label: str, available: tuple[str, ...]) -> str:
        if self._requested is not None:
            return f"'{label}' is not available: '{self._requested.label}' is already requested"
        if self._error is not None:
            return f"'{label}' is not available: the controller has failed, reset it"
        first = "nothing" if self._root.is_active else "none before the first tick"
        listing = ", ".join(available) or first
        return f"'{label}' is not available in {self.state}; available: {listing}"


class _Runner:
    """Runs a simple state: an instance of its class, or nothing without a class.

    `outcome` is the last one since the start, and None before the first.
    """

    def __init__(self, definition: StateDef, machine: Machine) -> None:
        self.definition, self.machine = definition, machine
        self.outcome: str | None = None
        self.reason, self.is_active, self._start_time = "", False, 0.0
        self._state = machine.instances.get(definition.path)
        self._children = {
            name: _runner(child, machine) for name, child in definition.children.items()
        }

    @property
    def active(self) -> str:
        return self.definition.path

    def start(self, context: StateContext) -> None:
        self.outcome, self.reason, self.is_active = None, "", True
        self._start_time = context.time
        context.elapsed, context.reason = 0.0, ""
        self._start(context)

    def run(self, context: StateContext) -> None:
        outcome = self._run(context)
        context.elapsed = context.time - self._start_time
        timeout = self.definition.timeout
        if outcome is None and self.outcome is None and timeout and context.has_elapsed(timeout):
            outcome, context.reason = TIMEOUT, f"timeout of {timeout:g} s"
        if outcome is not None and outcome != self.outcome:
            self.outcome, self.reason = outcome, context.reason

    def teardown(self, context: StateContext) -> None:
        if not self.is_active:
            return
        self.is_active = False
        with ExitStack() as stack:  # an exception in one branch must not end the others' teardown
            for part in self.parts():
                stack.callback(part.teardown, context)
        if self._state is not None:
            self.machine.calls.call(self.definition.path, self._state.teardown, self._own(context))

    def parts(self) -> Collection["_Runner"]:
        """Return the runners of the active states inside."""
        return ()

    def simple_states(self) -> Iterator[str]:
        if not self.parts():
            yield self.definition.path
        for part in self.parts():
            yield from part.simple_states()

    def offers(self) -> Iterator[tuple["_CompositeRunner", TransitionDef]]:
        for part in self.parts():
            yield from part.offers()

    def _start(self, context: StateContext) -> None:
        if self._state is not None:
            path = self.definition.path
            self._state.config = self.machine.configs[path]
            self.machine.calls.call(path, self._state.start, self._own(context))

    def _run(self, context: StateContext) -> str | None:
        if self._state is None:
            return None
        own = self._own(context)
        outcome = self.machine.calls.run(self.definition.path, self._state, own)
        context.reason = own.reason
        return outcome

    def _own(self, context: StateContext) -> StateContext:
        """Return the context of the state's robot, or of all robots, with the state's time."""
        own = context.robots[self.definition.robot] if self.definition.robot else context
        for each in (*context.robots.values(), own):
            each.elapsed, each.reason = context.time - self._start_time, ""
        return own


class _CompositeRunner(_Runner):
    """Runs a machine or sub-machine: one of its states, `current`, at a time."""

    def __init__(self, definition: StateDef, machine: Machine) -> None:
        super().__init__(definition, machine)
        self._initial = self.current = self._children[definition.initial]
        self._scheduled: TransitionDef | None = None
        self._schedule_reason = ""

    @property
    def active(self) -> str:
        return self.current.active

    def parts(self) -> Collection[_Runner]:
        return (self.current,)

    def offers(self) -> Iterator[tuple["_CompositeRunner", TransitionDef]]:
        """Yield the transitions that wait for a request, and those that need a request."""
        if self._scheduled is None:
            yield from super().offers()
        for definition in self.current.definition.transitions.values():
            is_waiting = self._scheduled is None and definition.label == self.current.outcome
            if is_waiting or definition.trigger is Trigger.REQUEST:
                yield self, definition

    def transition(self, definition: TransitionDef) -> Transition:
        key = FlatTransition(self.current.definition.path, definition.label, self.current.active)
        return self.machine.transition_of[key]

    def schedule(self, definition: TransitionDef, reason: str) -> None:
        self._scheduled, self._schedule_reason = definition, reason

    def rewind(self) -> None:
        """Return to the initial state without starting it."""
        self._scheduled, self._schedule_reason, self.outcome = None, "", None
        self.current = self._initial
        if isinstance(self.current, _CompositeRunner):
            self.current.rewind()

    def _start(self, context: StateContext) -> None:
        self.rewind()
        self.current.start(context)

    def _run(self, context: StateContext) -> str | None:
        if self._scheduled is not None:
            self._make(self._scheduled, context)
        self.current.run(context)
        if self.current.outcome is not None:
            definition = self.current.definition.transitions[self.current.outcome]
            is_step = definition.trigger is Trigger.STEP_BY_STEP and self.machine.step_by_step
            if not (is_step or definition.trigger is Trigger.STRICT):
                self.schedule(definition, self.current.reason)
        context.reason = self._schedule_reason
        return self.current.definition.outcome

    def _make(self, definition: TransitionDef, context: StateContext) -> None:
        transition = self.transition(definition)
        self._scheduled, self.outcome = None, None
        self.current.teardown(context)
        self.current = self._children[definition.goal]
        self.machine.log.record(transition, time=context.time, reason=self._schedule_reason)
        context.references.replace_nan(context.observation.q)
        self.current.start(context)


class _ParallelRunner(_Runner):
    """Runs several states at a time until a join holds."""

    def parts(self) -> Collection[_Runner]:
        return self._children.values()

    def _start(self, context: StateContext) -> None:
        for branch in self._children.values():
            branch.start(context)

    def _run(self, context: StateContext) -> str | None:
        outcomes = {}
        for name, branch in self._children.items():
            branch.run(context)
            outcomes[name] = branch.outcome
        for join in self.definition.joins:
            if join.holds(outcomes):
                reasons = [self._children[name].reason for name in join.when]
                context.reason = "; ".join(reason for reason in reasons if reason)
                return join.outcome
        return None


def _runner(definition: StateDef, machine: Machine) -> _Runner:
    if definition.initial:
        return _CompositeRunner(definition, machine)
    return (_ParallelRunner if definition.children else _Runner)(definition, machine)
