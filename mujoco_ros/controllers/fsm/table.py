"""The table of a controller: its states, their robots and transitions, and a record of these."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.model.errors import UserInputError, unknown

TIMEOUT = "timeout"
"""The outcome of a state that ran for its `timeout`."""
_CAPACITY = 10_000  # transitions that the log keeps


class Trigger(StrEnum):
    """The condition of a transition; the first three as in mc_rtc."""

    AUTO = "auto"  # made as soon as the state has the outcome
    STEP_BY_STEP = "step_by_step"  # as AUTO, but needs a request in step-by-step mode
    STRICT = "strict"  # always needs a request
    REQUEST = "request"  # not an outcome of the state: made on request while the state runs


@dataclass(frozen=True, kw_only=True, slots=True)
class Transition:
    """A transition from one simple or parallel state to another."""

    id: int  # number in the table, from 1 on; 0 for an error, a reset, a pause or its end
    label: str  # the outcome or the request
    start: str
    goal: str
    trigger: Trigger = Trigger.AUTO
    failure: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Join:
    """Ends a parallel state with `outcome` when all branches in `when` have these outcomes."""

    when: dict[str, str]
    outcome: str
    failure: bool = False

    def holds(self, outcomes: Mapping[str, str | None]) -> bool:
        """Return whether the branches have the required outcomes."""
        return all(outcomes[name] == outcome for name, outcome in self.when.items())


@dataclass(frozen=True, kw_only=True, slots=True)
class TransitionDef:
    """The transition after an outcome or a request, to a state of the same machine.

    `from_any` is true if the table lists it under ``*``.
    """

    label: str
    goal: str
    trigger: Trigger
    failure: bool = False
    from_any: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class StateDef:
    """A state of a machine, or a branch of a parallel state: simple, a machine, or parallel."""

    name: str = ""
    path: str = ""  # full name: the names of all enclosing states and its own, separated by slashes
    cls: type[State] | None = None  # class of a simple state; None if it only ends its machine
    config: Any = None
    # The states of a machine, one of which is active, or the branches of a parallel state; a later
    # branch overwrites the references of an earlier one
    children: Mapping[str, "StateDef"] = field(default_factory=dict)
    initial: str = ""  # name of the first child of a machine; empty for other states
    # The conditions of the end of a parallel state; the first one that holds applies
    joins: tuple[Join, ...] = ()
    # All possible outcomes, including ``timeout``; `failures` has some of them
    outcomes: tuple[str, ...] = ()
    failures: frozenset[str] = frozenset()
    # Time after which the outcome is ``timeout``, if there is none before [s]
    timeout: float | None = None
    # The outcome with which this state ends its machine; None if it does not
    outcome: str | None = None
    failure: bool = False  # whether that outcome is a failure
    transitions: Mapping[str, TransitionDef] = field(default_factory=dict)
    # The robot on which the state acts, in a table of several; empty for all of them
    robot: str = ""

    @property
    def is_parallel(self) -> bool:
        """Whether all children are active together."""
        return bool(self.children) and not self.initial

    @property
    def entry(self) -> "StateDef":
        """The simple or parallel state that is active first."""
        return self.children[self.initial].entry if self.initial else self

    def innermost(self) -> Iterator["StateDef"]:
        """Yield the simple and parallel states that can be active in the state."""
        if not self.initial:
            yield self
            return
        for child in self.children.values():
            yield from child.innermost()

    def walk(self) -> Iterator["StateDef"]:
        """Yield the state and all states inside, outer ones first."""
        yield self
        for child in self.children.values():
            yield from child.walk()


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A controller as read from its file."""

    name: str
    rate: float  # ticks per second
    step_by_step: bool  # whether the controller starts in step-by-step mode
    root: StateDef  # the outermost machine, as a state without a name
    # Whether it is an error when the references of a commanded joint become NaN
    strict: bool = False
    # Names of robots by the name that the table uses; empty for a single robot
    robots: Mapping[str, str] = field(default_factory=dict)


def with_robots(state: StateDef, robots: Mapping[str, str], where: str) -> StateDef:
    """Return a state in which every state inside has the robot of the enclosing one.

    UserInputError, which begins with `where`, if a state names a robot that is not in `robots`, or
    another one than the enclosing state.
    """
    if state.robot and state.robot not in robots:
        if not robots:
            raise UserInputError(
                f"{where}: state '{state.path}' has the key 'robot', and the table has no key "
                "'robots'"
            )
        raise unknown("robot", state.robot, robots, where=f"{where}: state '{state.path}'")
    for child in state.children.values():
        if state.robot and child.robot not in ("", state.robot):
            raise UserInputError(
                f"{where}: state '{child.path}' acts on robot '{child.robot}', but it is inside "
                f"'{state.path}', which acts on robot '{state.robot}'"
            )
    children = {
        name: with_robots(replace(child, robot=child.robot or state.robot), robots, where)
        for name, child in state.children.items()
    }
    return replace(state, children=children)


class FlatTransition(NamedTuple):
    """Key of a flat transition: the state that defines it, its label, and the active state."""

    state: str
    label: str
    active: str


def flat_states(root: StateDef) -> tuple[str, ...]:
    """Return the full names of all states that can be active, the initial one first.

    States of machines in the branches of a parallel state are among them: events report these.
    """
    states = tuple(root.walk())
    branches = {
        child.path for state in states if state.is_parallel for child in state.children.values()
    }
    active = [state.path for state in states if not state.initial and state.path not in branches]
    return tuple(dict.fromkeys([root.entry.path, *active]))


def flat_transitions(root: StateDef) -> Mapping[FlatTransition, Transition]:
    """Return all transitions, numbered from 1 on, in the order of `flat_states`."""
    order = {path: number for number, path in enumerate(flat_states(root))}
    found = sorted(_flat_transitions(root), key=lambda entry: order[entry[0].active])
    return {
        key: Transition(
            id=number,
            label=key.label,
            start=key.active,
            goal=goal,
            trigger=definition.trigger,
            failure=definition.failure,
        )
        for number, (key, definition, goal) in enumerate(found, start=1)
    }


def _flat_transitions(state: StateDef) -> Iterator[tuple[FlatTransition, TransitionDef, str]]:
    """Yield inner transitions first, because a request goes to the innermost state that defines it.

    A request reaches an outer state only while its inner machine ends.
    """
    siblings = state.children
    for child in siblings.values():
        yield from _flat_transitions(child)
    for child in siblings.values():
        for definition in child.transitions.values():
            goal = siblings[definition.goal].entry.path
            for active in _starts(child, definition):
                yield FlatTransition(child.path, definition.label, active), definition, goal


def _starts(state: StateDef, definition: TransitionDef) -> Iterator[str]:
    """Yield the states that can be active when a transition of `state` is made."""
    if not state.initial:
        yield state.path
        return
    from_all = definition.trigger is Trigger.REQUEST or (
        definition.label == TIMEOUT and state.timeout
    )
    for child in state.children.values():
        if from_all or child.outcome == definition.label:
            yield from (active.path for active in child.innermost())


@dataclass(frozen=True, kw_only=True, slots=True)
class TransitionEvent:
    """A transition that was made, with its number in the log, from 1 on.

    `time` is the time of the tick in which the goal state started [s].
    """

    number: int
    time: float
    transition: Transition
    reason: str


class TransitionLog:
    """The one record of the transitions of a controller; any thread may read it.

    Each reader passes the number of the last event that it has read. `count` is the number of
    events since the start; the newest 10,000 are kept.
    """

    def __init__(self) -> None:
        self.count = 0
        self._events: deque[TransitionEvent] = deque(maxlen=_CAPACITY)
        self._lock = Lock()

    def record(self, transition: Transition, *, time: float, reason: str = "") -> None:
        """Append a transition that was made at `time` [s]."""
        with self._lock:
            self.count += 1
            self._events.append(
                TransitionEvent(number=self.count, time=time, transition=transition, reason=reason)
            )

    def since(self, number: int) -> list[TransitionEvent]:
        """Return the events after the one with `number`, oldest first."""
        with self._lock:
            kept = len(self._events)
            return list(islice(self._events, max(0, kept - (self.count - number)), kept))


class TransitionRejectedError(ValueError):
    """A requested transition is not available; the message lists the available ones."""
