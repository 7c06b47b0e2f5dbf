"""Transitions: what leads from one state to another, and what it takes."""

from dataclasses import dataclass
from enum import StrEnum


class Trigger(StrEnum):
    """What it takes for a transition to be made; the first three as in mc_rtc."""

    AUTO = "auto"  # made as soon as the state has the outcome
    STEP_BY_STEP = "step_by_step"  # as AUTO, but waits for a request while the machine steps
    STRICT = "strict"  # always waits for a request
    REQUEST = "request"  # no outcome of the state: offered while it runs, made when asked for


@dataclass(frozen=True, kw_only=True, slots=True)
class Transition:
    """A transition from one leaf of the table to another.

    Attributes:
        id: Its number, from 1 on.
        label: The outcome, or the request.
        start: State it starts from.
        goal: State it leads to.
        trigger: What it takes.
    """

    id: int
    label: str
    start: str
    goal: str
    trigger: Trigger


@dataclass(frozen=True, kw_only=True, slots=True)
class Transitioned:
    """A transition that was made.

    Attributes:
        time: Of the tick at which the goal state started [s].
        transition: Which one.
        reason: Why, in words.
    """

    time: float
    transition: Transition
    reason: str


class TransitionRejectedError(ValueError):
    """A transition was asked for that is not available now; the message says which are."""
