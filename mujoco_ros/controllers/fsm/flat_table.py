"""The table without its levels: every transition from one place to another, as hosts show it."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mujoco_ros.controllers.fsm.table import TIMEOUT, CompositeState, StateDef, TransitionDef
from mujoco_ros.controllers.fsm.transition import Transition, Trigger


class FlatTransition(NamedTuple):
    """How a transition comes about: by an arrow of a row, while the machine is at a place."""

    row: str
    label: str
    place: str


def places(root: StateDef) -> tuple[str, ...]:
    """Return the full names of all states that can be the present one, the initial one first.

    The states of sub-machines that are branches of a parallel one come with them, as events tell of
    their transitions, too.
    """
    found = dict.fromkeys([root.entry.path])
    found |= dict.fromkeys(_places(root))
    return tuple(found)


def _places(row: StateDef) -> Iterator[str]:
    for inner in row.inner.values():
        if isinstance(row.work, CompositeState) and not isinstance(inner.work, CompositeState):
            yield inner.path
        yield from _places(inner)


def transitions(root: StateDef) -> Mapping[FlatTransition, Transition]:
    """Return all transitions, numbered from 1 on, in the order of `places`."""
    order = {path: number for number, path in enumerate(places(root))}
    ways = sorted(_ways(root), key=lambda found: order[found[0].place])
    return {
        way: Transition(
            id=number, label=arrow.label, start=way.place, goal=goal, trigger=arrow.trigger
        )
        for number, (way, arrow, goal) in enumerate(ways, start=1)
    }


def _ways(row: StateDef) -> Iterator[tuple[FlatTransition, TransitionDef, str]]:
    """Yield inner ones first, as a request that a state takes itself is its own.

    Only while the machine around that state is being left does it reach those around.
    """
    siblings = row.inner
    for inner in siblings.values():
        yield from _ways(inner)
    for inner in siblings.values():
        for arrow in inner.arrows.values():
            goal = siblings[arrow.goal].entry.path
            for place in _starts(inner, arrow):
                yield FlatTransition(inner.path, arrow.label, place), arrow, goal


def _starts(row: StateDef, arrow: TransitionDef) -> Iterator[str]:
    """Yield the places at which the machine can be when it takes an arrow of a row."""
    if not isinstance(row.work, CompositeState):
        yield row.path
        return
    anywhere = arrow.trigger is Trigger.REQUEST or (arrow.label == TIMEOUT and row.timeout)
    for inner in row.work.rows.values():
        if anywhere or inner.outcome == arrow.label:
            yield from (place.path for place in inner.places())
