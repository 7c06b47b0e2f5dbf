"""The table of a controller: which states there are, and what follows which outcome."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.fsm.transition import Trigger

TIMEOUT = "timeout"
"""The outcome of a state whose time is over."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SimpleState:
    """The work of a state of a class; nothing is done where there is none.

    Attributes:
        cls: The class.
        config: Its settings.
    """

    cls: type[State] | None = None
    config: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CompositeState:
    """A machine, or a sub-machine: one of its states is the present one.

    Attributes:
        initial: Name of the state it begins in.
        rows: Its states by name, in the order of the file.
    """

    initial: str
    rows: Mapping[str, "StateDef"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Join:
    """What branches come to.

    Attributes:
        when: The outcomes that some of them must have, by branch.
        outcome: What all of them come to then.
        failure: Whether that is a failure.
    """

    when: Mapping[str, str]
    outcome: str
    failure: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Parallel:
    """Several states at a time.

    Attributes:
        branches: What runs, by name; the later writes over what the earlier tells the joints.
        joins: How it can end; the first that holds counts.
    """

    branches: Mapping[str, "StateDef"]
    joins: tuple[Join, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TransitionDef:
    """What follows an outcome, or a request.

    Attributes:
        label: The outcome, or the request.
        goal: Name of the state it leads to, in the same level.
        trigger: What it takes.
        failure: Whether the outcome is a failure.
        from_any: Whether the table says it of any state, not of this one.
    """

    label: str
    goal: str
    trigger: Trigger
    failure: bool = False
    from_any: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class StateDef:
    """One state of a level, or one branch.

    Attributes:
        name: Its name in there.
        path: Its full name: those of all states around it and its own, with slashes between.
        work: What it does.
        outcomes: All it can have, that of its time-out included.
        failures: Those of them that are failures.
        timeout: When it has the outcome ``timeout``, unless it has another [s].
        outcome: What its level ends with when it is entered; None if it does not end.
        failure: Whether that is a failure.
        arrows: What follows, by label.
    """

    name: str
    path: str
    work: SimpleState | CompositeState | Parallel
    outcomes: tuple[str, ...] = ()
    failures: frozenset[str] = frozenset()
    timeout: float | None = None
    outcome: str | None = None
    failure: bool = False
    arrows: Mapping[str, TransitionDef] = field(default_factory=dict)

    @property
    def inner(self) -> Mapping[str, "StateDef"]:
        """The rows inside of it, by name."""
        match self.work:
            case CompositeState(rows=rows):
                return rows
            case Parallel(branches=branches):
                return branches
            case _:
                return {}

    @property
    def entry(self) -> "StateDef":
        """The row without a level of its own in which it begins."""
        return (
            self.work.rows[self.work.initial].entry
            if isinstance(self.work, CompositeState)
            else self
        )

    def places(self) -> Iterator["StateDef"]:
        """Yield the rows that can be the present one while it runs."""
        if isinstance(self.work, CompositeState):
            for row in self.work.rows.values():
                yield from row.places()
        else:
            yield self

    def walk(self) -> Iterator["StateDef"]:
        """Yield it and all rows inside of it, outer ones first."""
        yield self
        for row in self.inner.values():
            yield from row.walk()


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """All a controller is made of.

    Attributes:
        name: What it is called.
        rate: Ticks per second.
        step_by_step: Whether it begins with transitions of that trigger waiting for a request.
        root: The level around everything, as a row without a name.
    """

    name: str
    rate: float
    step_by_step: bool
    root: StateDef
