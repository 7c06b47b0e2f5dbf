"""Consistency checks of a table: every outcome is handled, every state is reachable."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from mujoco_ros.controllers.fsm.table import Join, StateDef
from mujoco_ros.model.errors import UserInputError, unknown

_MAX_COMBINATIONS = 4096


def check_machine(initial: str, states: Mapping[str, StateDef], where: str) -> None:
    """Check that every state is reachable and every outcome has a transition.

    Raises:
        UserInputError: It names the state and the problem.
    """
    if initial not in states:
        raise unknown("state", initial, states, where=f"{where}.initial")
    for state in states.values():
        _check_transitions(state, f"{where}: {state.path}")
    reachable = _reachable(initial, states)
    unreachable = [name for name in states if name not in reachable]
    if unreachable:
        raise UserInputError(
            f"{where}: unreachable: {', '.join(unreachable)}; no transition leads there from "
            f"'{initial}'"
        )


def _check_transitions(state: StateDef, where: str) -> None:
    for label in state.outcomes:
        if label not in state.transitions:
            raise UserInputError(
                f"{where}: outcome '{label}' without a row in transitions; "
                f"there are rows for: {', '.join(state.transitions) or 'nothing'}"
            )
    if state.outcome is None and not state.transitions:
        raise UserInputError(
            f"{where}: dead end: it has no transition; a state that ends the machine has 'outcome'"
        )


def _reachable(initial: str, states: Mapping[str, StateDef]) -> set[str]:
    found, edge = {initial}, [initial]
    while edge:
        goals = {it.goal for it in states[edge.pop()].transitions.values()} - found
        found |= goals
        edge += goals
    return found


def check_joins(branches: Mapping[str, StateDef], joins: Sequence[Join], where: str) -> None:
    """Check that the joins cover all combinations of final outcomes.

    Raises:
        UserInputError: It names the branch, the outcome, or the combination of outcomes.
    """
    if not branches:
        raise UserInputError(f"{where}.parallel: there are no branches")
    for branch in branches.values():
        if branch.outcome is not None:
            raise UserInputError(f"{where}.parallel.{branch.name}: a branch cannot have 'outcome'")
    for number, join in enumerate(joins):
        at = f"{where}.join[{number}].when"
        if not join.when:
            raise UserInputError(f"{at}: it names no branch")
        for name, outcome in join.when.items():
            if name not in branches:
                raise unknown("branch", name, branches, where=at)
            if outcome not in branches[name].outcomes:
                raise unknown("outcome", outcome, branches[name].outcomes, where=f"{at}.{name}")
    _check_combinations(branches, joins, where)


def _check_combinations(
    branches: Mapping[str, StateDef], joins: Sequence[Join], where: str
) -> None:
    """Check every combination of outcomes; None is a branch that still runs."""
    choices = [(None, *branch.outcomes) for branch in branches.values()]
    if prod(map(len, choices)) > _MAX_COMBINATIONS:
        raise UserInputError(
            f"{where}.parallel: too many branches and outcomes: more than {_MAX_COMBINATIONS} "
            "combinations"
        )
    used: set[int] = set()
    for combination in product(*choices):
        outcomes = dict(zip(branches, combination, strict=True))
        first = next((n for n, join in enumerate(joins) if join.holds(outcomes)), None)
        if first is not None:
            used.add(first)
        elif all(outcomes[name] or not it.outcomes for name, it in branches.items()):
            listing = ", ".join(f"{name}: {it}" for name, it in outcomes.items() if it)
            if listing:
                raise UserInputError(f"{where}.join: no row for {listing}")
    for number in range(len(joins)):
        if number not in used:
            raise UserInputError(
                f"{where}.join[{number}]: it never applies: an earlier row always holds first"
            )
