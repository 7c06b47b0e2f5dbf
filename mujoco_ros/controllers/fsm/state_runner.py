"""What runs of a table: a state, a level, or branches, all started, run and ended alike."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.fsm.flat_table import FlatTransition
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.fsm.table import (
    TIMEOUT,
    CompositeState,
    Parallel,
    SimpleState,
    StateDef,
    TransitionDef,
)
from mujoco_ros.controllers.fsm.table_checks import holds
from mujoco_ros.controllers.fsm.transition import Transition, Transitioned, Trigger

_MOST_EVENTS = 1024
REQUESTED = "requested"


class StateError(RuntimeError):
    """A state returned what is no outcome of its class."""


@dataclass(kw_only=True, slots=True)
class Shared:
    """What all activities of a machine have in common.

    Attributes:
        states: The states, by full name.
        configs: The settings that each takes at its next start, by full name.
        transitions: All of them.
        step_by_step: Whether transitions of that trigger wait for a request.
        events: What happened, oldest first.
    """

    states: Mapping[str, State]
    configs: dict[str, object]
    transitions: Mapping[FlatTransition, Transition]
    step_by_step: bool
    events: deque[Transitioned] = field(default_factory=lambda: deque(maxlen=_MOST_EVENTS))

    def waits(self, arrow: TransitionDef) -> bool:
        """Return whether an outcome alone is not enough for an arrow."""
        return arrow.trigger is Trigger.STRICT or (
            arrow.trigger is Trigger.STEP_BY_STEP and self.step_by_step
        )


class StateRunner(ABC):
    """A row of the table while it runs.

    Attributes:
        row: The row.
        outcome: The one that it had last; None as long as it had none.
        reason: Why, in words.
        is_on: Whether it was started and has not ended.
    """

    def __init__(self, row: StateDef, shared: Shared) -> None:
        """Be ready to start."""
        self.row = row
        self.outcome: str | None = None
        self.reason = ""
        self.is_on = False
        self._shared = shared
        self._began = 0.0

    @property
    def place(self) -> str:
        """Full name of where it is."""
        return self.row.path

    def start(self, context: StateContext) -> None:
        """Begin."""
        self.outcome, self.reason, self._began, self.is_on = None, "", context.time, True
        context.elapsed, context.reason = 0.0, ""
        self._start(context)

    def run(self, context: StateContext) -> None:
        """Do one tick."""
        outcome = self._run(context)
        context.elapsed = context.time - self._began
        timeout = self.row.timeout
        if outcome is None and self.outcome is None and timeout and context.over(timeout):
            outcome, context.reason = TIMEOUT, f"{timeout:g} s are over"
        if outcome is not None and outcome != self.outcome:
            self.outcome, self.reason = outcome, context.reason

    def teardown(self, context: StateContext) -> None:
        """End, whatever it is doing; nothing happens if it has not begun."""
        if self.is_on:
            self.is_on = False
            self._teardown(context)

    @abstractmethod
    def leaves(self) -> Iterator[str]:
        """Yield the full names of all states that run."""

    def offers(self) -> Iterator["Offer"]:
        """Yield what a request can make now, inner ones first."""
        return iter(())

    @abstractmethod
    def _start(self, context: StateContext) -> None: ...

    @abstractmethod
    def _run(self, context: StateContext) -> str | None: ...

    @abstractmethod
    def _teardown(self, context: StateContext) -> None: ...


class SimpleStateRunner(StateRunner):
    """A state of a class, or nothing at all."""

    def __init__(self, row: StateDef, shared: Shared) -> None:
        """Take the state from those of the machine."""
        super().__init__(row, shared)
        self._state = shared.states.get(row.path)

    def leaves(self) -> Iterator[str]:
        """Yield its own name."""
        yield self.row.path

    def _start(self, context: StateContext) -> None:
        if self._state is not None:
            self._state.config = self._shared.configs[self.row.path]
            self._state.start(context)

    def _run(self, context: StateContext) -> str | None:
        if self._state is None:
            return None
        context.elapsed, context.reason = context.time - self._began, ""
        outcome = self._state.run(context)
        if outcome is not None and outcome not in self._state.outcomes:
            known = ", ".join(self._state.outcomes) or "none"
            raise StateError(
                f"{self.row.path}: {type(self._state).__name__}.run returned {outcome!r}, "
                f"which is no outcome of it; there are: {known}"
            )
        return outcome

    def _teardown(self, context: StateContext) -> None:
        if self._state is not None:
            context.elapsed = context.time - self._began
            self._state.teardown(context)


class CompositeStateRunner(StateRunner):
    """A machine or sub-machine: one of its states runs, until that leads to another.

    Attributes:
        present: That state.
    """

    def __init__(self, row: StateDef, level: CompositeState, shared: Shared) -> None:
        """Be ready to start in the initial state."""
        super().__init__(row, shared)
        self._level = level
        self._members = {name: activity(inner, shared) for name, inner in level.rows.items()}
        self._chosen: TransitionDef | None = None
        self._why = ""
        self.present = self._members[level.initial]

    @property
    def place(self) -> str:
        """Full name of the innermost present state."""
        return self.present.place

    def leaves(self) -> Iterator[str]:
        """Yield those of the present state."""
        return self.present.leaves()

    def offers(self) -> Iterator["Offer"]:
        """Yield what waits for a request, and what can be requested at any time."""
        if self._chosen is None:
            yield from self.present.offers()
        for arrow in self.present.row.arrows.values():
            is_waiting = self._chosen is None and arrow.label == self.present.outcome
            if is_waiting or arrow.trigger is Trigger.REQUEST:
                yield Offer(self, arrow)

    def transition(self, arrow: TransitionDef) -> Transition:
        """Return what an arrow of the present state is from where it is now."""
        way = FlatTransition(self.present.row.path, arrow.label, self.present.place)
        return self._shared.transitions[way]

    def choose(self, arrow: TransitionDef, why: str) -> None:
        """Have a transition made at the beginning of the next tick."""
        self._chosen, self._why = arrow, why

    def rewind(self) -> None:
        """Be in the initial state again, not started."""
        self._chosen, self._why, self.outcome = None, "", None
        self.present = self._members[self._level.initial]
        if isinstance(self.present, CompositeStateRunner):
            self.present.rewind()

    def _start(self, context: StateContext) -> None:
        self.rewind()
        self.present.start(context)

    def _run(self, context: StateContext) -> str | None:
        if self._chosen is not None:
            self._go(context, self._chosen)
        self.present.run(context)
        self._look()
        context.reason = self._why
        return self.present.row.outcome

    def _go(self, context: StateContext, arrow: TransitionDef) -> None:
        made = Transitioned(time=context.time, transition=self.transition(arrow), reason=self._why)
        self._chosen, self.outcome = None, None
        self.present.teardown(context)
        self.present = self._members[arrow.goal]
        self._shared.events.append(made)
        self.present.start(context)

    def _look(self) -> None:
        """See whether the present state has come to something."""
        if self.present.outcome is not None:
            arrow = self.present.row.arrows[self.present.outcome]
            if not self._shared.waits(arrow):
                self.choose(arrow, self.present.reason)

    def _teardown(self, context: StateContext) -> None:
        self.present.teardown(context)


class ParallelStateRunner(StateRunner):
    """Several at a time, until they have come to something together."""

    def __init__(self, row: StateDef, parallel: Parallel, shared: Shared) -> None:
        """Be ready to start all of them."""
        super().__init__(row, shared)
        self._joins = parallel.joins
        self._branches = {
            name: activity(inner, shared) for name, inner in parallel.branches.items()
        }
        self._outcomes: dict[str, str | None] = dict.fromkeys(self._branches)

    def leaves(self) -> Iterator[str]:
        """Yield those of all branches."""
        for branch in self._branches.values():
            yield from branch.leaves()

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
            if holds(join, self._outcomes):
                reasons = [self._branches[name].reason for name in join.when]
                context.reason = "; ".join(reason for reason in reasons if reason)
                return join.outcome
        return None

    def _teardown(self, context: StateContext) -> None:
        # One that raises must not keep the others from ending.
        with ExitStack() as stack:
            for branch in self._branches.values():
                stack.callback(branch.teardown, context)


class Offer(NamedTuple):
    """A transition that a request can make."""

    level: CompositeStateRunner
    arrow: TransitionDef


def activity(row: StateDef, shared: Shared) -> StateRunner:
    """Return what runs a row."""
    match row.work:
        case SimpleState():
            return SimpleStateRunner(row, shared)
        case CompositeState() as level:
            return CompositeStateRunner(row, level, shared)
        case Parallel() as parallel:
            return ParallelStateRunner(row, parallel, shared)
