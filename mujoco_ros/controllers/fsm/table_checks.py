"""What makes a table one that can be run: nothing in it is left open, lost or in vain."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from mujoco_ros.controllers.fsm.table import Join, StateDef
from mujoco_ros.model.errors import UserInputError, unknown

_MOST_COMBINATIONS = 4096


def check_level(initial: str, rows: Mapping[str, StateDef], where: str) -> None:
    """Refuse a level in which a state or an outcome leads nowhere, or cannot be reached.

    Raises:
        ModelError: It names the state and what it lacks.
    """
    if initial not in rows:
        raise unknown("state", initial, rows, where=f"{where}.initial")
    for row in rows.values():
        _check_arrows(row, f"{where}: {row.path}")
    lost = [name for name in rows if name not in _reachable(initial, rows)]
    if lost:
        raise UserInputError(
            f"{where}: unreachable: {', '.join(lost)}; no transition leads there from '{initial}'"
        )


def _check_arrows(row: StateDef, where: str) -> None:
    for label in row.outcomes:
        if label not in row.arrows:
            raise UserInputError(
                f"{where}: outcome '{label}' without a row in transitions; "
                f"there are rows for: {', '.join(row.arrows) or 'nothing'}"
            )
    if row.outcome is None and not row.arrows:
        raise UserInputError(
            f"{where}: dead end: it has no transition; a state that ends the machine has 'outcome'"
        )


def _reachable(initial: str, rows: Mapping[str, StateDef]) -> set[str]:
    found, edge = {initial}, [initial]
    while edge:
        goals = {arrow.goal for arrow in rows[edge.pop()].arrows.values()} - found
        found |= goals
        edge += goals
    return found


def check_joins(branches: Mapping[str, StateDef], joins: Sequence[Join], where: str) -> None:
    """Refuse a parallel state that could end in a way that nothing is said of.

    Raises:
        ModelError: It names the branch, the outcome, or the combination of outcomes.
    """
    if not branches:
        raise UserInputError(f"{where}.parallel: there are no branches")
    for row in branches.values():
        if row.outcome is not None:
            raise UserInputError(
                f"{where}.parallel.{row.name}: a branch has no 'outcome' of its own"
            )
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
    """Go through all that the branches can come to together; None is one that still runs."""
    choices = [(None, *row.outcomes) for row in branches.values()]
    if prod(map(len, choices)) > _MOST_COMBINATIONS:
        raise UserInputError(
            f"{where}.parallel: too many branches and outcomes to go through them all"
        )
    used: set[int] = set()
    for combination in product(*choices):
        state = dict(zip(branches, combination, strict=True))
        first = next((n for n, join in enumerate(joins) if holds(join, state)), None)
        if first is not None:
            used.add(first)
        elif all(state[name] or not row.outcomes for name, row in branches.items()):
            said = ", ".join(f"{name}: {outcome}" for name, outcome in state.items() if outcome)
            if said:
                raise UserInputError(f"{where}.join: no row for {said}")
    for number in range(len(joins)):
        if number not in used:
            raise UserInputError(
                f"{where}.join[{number}]: it never counts: one above it always does"
            )


def holds(join: Join, outcomes: Mapping[str, str | None]) -> bool:
    """Return whether branches have come to what a join asks for."""
    return all(outcomes[name] == outcome for name, outcome in join.when.items())
