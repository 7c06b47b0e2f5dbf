"""Runners of simple, composite and parallel states: start, run and tear down."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.fsm.state_calls import StateCalls
from mujoco_ros.controllers.fsm.table import (
    TIMEOUT,
    CompositeState,
    FlatTransition,
    ParallelState,
    SimpleState,
    StateDef,
    TransitionDef,
)
from mujoco_ros.controllers.fsm.transition import Transition, TransitionLog, Trigger

REQUESTED = "requested"


@dataclass(kw_only=True, slots=True)
class MachineData:
    """Data shared by all runners of a machine.

    Attributes:
        states: State instances by full name.
        configs: Settings for the next start of each state, by full name.
        transitions: All flat transitions.
        step_by_step: Whether transitions with that trigger need a request.
        log: Record of the transitions that were made.
        calls: Calls the methods of the states.
    """

    states: Mapping[str, State]
    configs: dict[str, object]
    transitions: Mapping[FlatTransition, Transition]
    step_by_step: bool
    log: TransitionLog = field(default_factory=TransitionLog)
    calls: StateCalls = field(default_factory=StateCalls)

    def needs_request(self, definition: TransitionDef) -> bool:
        """Return whether a transition needs a request after its outcome."""
        return definition.trigger is Trigger.STRICT or (
            definition.trigger is Trigger.STEP_BY_STEP and self.step_by_step
        )


class StateRunner(ABC):
    """Runs one state of the table.

    Attributes:
        definition: The state.
        outcome: The last outcome since the start; None before the first.
        reason: Reason of that outcome.
        is_active: Whether the state was started and not torn down.
    """

    def __init__(self, definition: StateDef, machine: MachineData) -> None:
        self.definition = definition
        self.outcome: str | None = None
        self.reason = ""
        self.is_active = False
        self._machine = machine
        self._start_time = 0.0

    @property
    def active(self) -> str:
        """Full name of the innermost active state; a parallel state counts as innermost."""
        return self.definition.path

    def start(self, context: StateContext) -> None:
        """Start the state."""
        self.outcome, self.reason, self.is_active = None, "", True
        self._start_time = context.time
        context.elapsed, context.reason = 0.0, ""
        self._start(context)

    def run(self, context: StateContext) -> None:
        """Run one tick."""
        outcome = self._run(context)
        context.elapsed = context.time - self._start_time
        timeout = self.definition.timeout
        if outcome is None and self.outcome is None and timeout and context.has_elapsed(timeout):
            outcome, context.reason = TIMEOUT, f"timeout of {timeout:g} s"
        if outcome is not None and outcome != self.outcome:
            self.outcome, self.reason = outcome, context.reason

    def teardown(self, context: StateContext) -> None:
        """Tear the state down if it is active."""
        if self.is_active:
            self.is_active = False
            self._teardown(context)

    @abstractmethod
    def simple_states(self) -> Iterator[str]:
        """Yield the full names of all active simple states."""

    def offers(self) -> Iterator["Offer"]:
        """Yield the transitions that can be requested now, inner ones first."""
        return iter(())

    @abstractmethod
    def _start(self, context: StateContext) -> None: ...

    @abstractmethod
    def _run(self, context: StateContext) -> str | None: ...

    @abstractmethod
    def _teardown(self, context: StateContext) -> None: ...


class SimpleStateRunner(StateRunner):
    """Runs an instance of a state class, or nothing for a state without a class."""

    def __init__(self, definition: StateDef, machine: MachineData) -> None:
        super().__init__(definition, machine)
        self._state = machine.states.get(definition.path)
        self._calls, self._robot = machine.calls, definition.robot

    def simple_states(self) -> Iterator[str]:
        """Yield the name of the state."""
        yield self.definition.path

    def _start(self, context: StateContext) -> None:
        if self._state is not None:
            self._state.config = self._machine.configs[self.definition.path]
            own = self._own(context, 0.0)
            self._calls.call(self.definition.path, self._state.start, own)

    def _run(self, context: StateContext) -> str | None:
        if self._state is None:
            return None
        own = self._own(context, context.time - self._start_time)
        outcome = self._calls.run(self.definition.path, self._state, own)
        context.reason = own.reason
        return outcome

    def _teardown(self, context: StateContext) -> None:
        if self._state is not None:
            own = self._own(context, context.time - self._start_time)
            self._calls.call(self.definition.path, self._state.teardown, own)

    def _own(self, context: StateContext, elapsed: float) -> StateContext:
        """Return the context of the state's robot, or of all robots, after `elapsed` [s]."""
        for each in context.robots.values():
            each.elapsed, each.reason = elapsed, ""
        own = context.robots[self._robot] if self._robot else context
        own.elapsed, own.reason = elapsed, ""
        return own


class CompositeStateRunner(StateRunner):
    """Runs a machine or sub-machine: one of its states at a time.

    Attributes:
        current: Runner of the active state.
    """

    def __init__(
        self, definition: StateDef, composite: CompositeState, machine: MachineData
    ) -> None:
        super().__init__(definition, machine)
        self._runners = {
            name: make_runner(child, machine) for name, child in composite.states.items()
        }
        self._initial = self._runners[composite.initial]
        self._scheduled: TransitionDef | None = None
        self._schedule_reason = ""
        self.current = self._initial

    @property
    def active(self) -> str:
        """Full name of the innermost active state; a parallel state counts as innermost."""
        return self.current.active

    def simple_states(self) -> Iterator[str]:
        """Yield those of the active state."""
        return self.current.simple_states()

    def offers(self) -> Iterator["Offer"]:
        """Yield the transitions that wait for a request, and those that need a request."""
        if self._scheduled is None:
            yield from self.current.offers()
        for definition in self.current.definition.transitions.values():
            is_waiting = self._scheduled is None and definition.label == self.current.outcome
            if is_waiting or definition.trigger is Trigger.REQUEST:
                yield Offer(self, definition)

    def transition(self, definition: TransitionDef) -> Transition:
        """Return the flat transition from the innermost active state."""
        key = FlatTransition(self.current.definition.path, definition.label, self.current.active)
        return self._machine.transitions[key]

    def schedule(self, definition: TransitionDef, reason: str) -> None:
        """Schedule a transition for the start of the next tick."""
        self._scheduled, self._schedule_reason = definition, reason

    def rewind(self) -> None:
        """Return to the initial state without starting it."""
        self._scheduled, self._schedule_reason, self.outcome = None, "", None
        self.current = self._initial
        if isinstance(self.current, CompositeStateRunner):
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
            if not self._machine.needs_request(definition):
                self.schedule(definition, self.current.reason)
        context.reason = self._schedule_reason
        return self.current.definition.outcome

    def _make(self, definition: TransitionDef, context: StateContext) -> None:
        transition = self.transition(definition)
        self._scheduled, self.outcome = None, None
        self.current.teardown(context)
        self.current = self._runners[definition.goal]
        self._machine.log.record(transition, time=context.time, reason=self._schedule_reason)
        context.references.replace_nan(context.observation.q)
        self.current.start(context)

    def _teardown(self, context: StateContext) -> None:
        self.current.teardown(context)


class ParallelStateRunner(StateRunner):
    """Runs several states at a time until a join holds."""

    def __init__(self, definition: StateDef, parallel: ParallelState, machine: MachineData) -> None:
        super().__init__(definition, machine)
        self._joins = parallel.joins
        self._branches = {
            name: make_runner(child, machine) for name, child in parallel.branches.items()
        }
        self._outcomes: dict[str, str | None] = dict.fromkeys(self._branches)

    def simple_states(self) -> Iterator[str]:
        """Yield those of all branches."""
        for branch in self._branches.values():
            yield from branch.simple_states()

    def offers(self) -> Iterator["Offer"]:
        """Yield those of all branches."""
        for branch in self._branches.values():
            yield from branch.offers()

    def _start(self, context: StateContext) -> None:
        for branch in self._branches.values():
            branch.start(context)

    def _run(self, context: StateContext) -> str | None:
        for name, branch in self._branches.items():
            branch.run(context)
            self._outcomes[name] = branch.outcome
        for join in self._joins:
            if join.holds(self._outcomes):
                reasons = [self._branches[name].reason for name in join.when]
                context.reason = "; ".join(reason for reason in reasons if reason)
                return join.outcome
        return None

    def _teardown(self, context: StateContext) -> None:
        # An exception in one branch must not prevent the teardown of the others.
        with ExitStack() as stack:
            for branch in self._branches.values():
                stack.callback(branch.teardown, context)


class Offer(NamedTuple):
    """A transition that can be requested, and the machine that makes it."""

    machine: CompositeStateRunner
    definition: TransitionDef


def make_runner(definition: StateDef, machine: MachineData) -> StateRunner:
    """Return a runner for a state."""
    match definition.kind:
        case SimpleState():
            return SimpleStateRunner(definition, machine)
        case CompositeState() as composite:
            return CompositeStateRunner(definition, composite, machine)
        case ParallelState() as parallel:
            return ParallelStateRunner(definition, parallel, machine)
