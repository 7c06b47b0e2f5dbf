"""All transitions of a table between simple and parallel states, as hosts publish them."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mujoco_ros.controllers.fsm.table import TIMEOUT, CompositeState, StateDef, TransitionDef
from mujoco_ros.controllers.fsm.transition import Transition, Trigger


class FlatTransition(NamedTuple):
    """Key of a flat transition: the state that defines it, its label, and the active state."""

    state: str
    label: str
    active: str


def flat_states(root: StateDef) -> tuple[str, ...]:
    """Return the full names of all states that can be active, the initial one first.

    States of sub-machines in the branches of a parallel state are included, because events report
    their transitions.
    """
    found = dict.fromkeys([root.entry.path])
    found |= dict.fromkeys(_flat_states(root))
    return tuple(found)


def _flat_states(state: StateDef) -> Iterator[str]:
    for child in state.children.values():
        is_member = isinstance(state.kind, CompositeState)
        if is_member and not isinstance(child.kind, CompositeState):
            yield child.path
        yield from _flat_states(child)


def flat_transitions(root: StateDef) -> Mapping[FlatTransition, Transition]:
    """Return all transitions, numbered from 1 on, in the order of `flat_states`."""
    order = {path: number for number, path in enumerate(flat_states(root))}
    found = sorted(_flat_transitions(root), key=lambda it: order[it[0].active])
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
    if not isinstance(state.kind, CompositeState):
        yield state.path
        return
    from_all = definition.trigger is Trigger.REQUEST or (
        definition.label == TIMEOUT and state.timeout
    )
    for child in state.kind.states.values():
        if from_all or child.outcome == definition.label:
            yield from (active.path for active in child.innermost())
