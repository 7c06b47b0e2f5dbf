"""Consistency checks of a table: every outcome is handled, every state is reached, no circles."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from mujoco_ros.controllers.fsm.table import TIMEOUT, Join, StateDef, Table, Trigger
from mujoco_ros.model.errors import UserInputError, unknown


def check_cycles(table: Table, where: str) -> None:
    """Raise UserInputError if a machine runs forever in a circle of states that take no time."""
    automatic = {Trigger.AUTO} if table.step_by_step else {Trigger.AUTO, Trigger.STEP_BY_STEP}
    checker = _CycleChecker(1.0 / table.rate, automatic)
    for machine in table.root.walk():
        cycle = checker.cycle(machine.children) if machine.initial else []
        if cycle:
            raise UserInputError(
                f"{where}: these states would follow each other forever without taking time: "
                f"{' -> '.join(cycle)}; give one of them a duration, or a transition that waits "
                "for a request ('trigger: strict')"
            )


class _CycleChecker:
    def __init__(self, period: float, automatic: set[Trigger]) -> None:
        self._period, self._automatic = period, automatic

    def cycle(self, states: Mapping[str, StateDef]) -> list[str]:
        """Return the full names of the states of a machine in a circle; empty without one."""
        goals = {name: self._goal(state) for name, state in states.items()}
        checked: set[str] = set()
        for first in states:
            path: list[str] = []
            name: str | None = first
            while name is not None and name not in checked:
                checked.add(name)
                path.append(name)
                name = goals[name]
            if name in path:
                return [states[state].path for state in (*path[path.index(name) :], name)]
        return []

    def _goal(self, state: StateDef) -> str | None:
        """Return the state that always follows at once; None if there is none."""
        outcome = self._outcome(state)
        definition = None if outcome is None else state.transitions.get(outcome)
        is_made = definition is not None and definition.trigger in self._automatic
        return definition.goal if definition is not None and is_made else None

    def _outcome(self, state: StateDef) -> str | None:
        """Return the outcome that a state always has without taking time; None if it can take."""
        outcome = None
        if state.cls is not None:
            outcome = state.cls.immediate_outcome(state.config, self._period)
            if outcome is None and state.cls.outcomes:
                return None  # it may have one of them
        elif state.initial:
            outcome = self._end(state)
        elif state.children:
            outcomes = {name: self._outcome(branch) for name, branch in state.children.items()}
            if any(outcomes[name] is None and state.children[name].outcomes for name in outcomes):
                return None
            outcome = next((join.outcome for join in state.joins if join.holds(outcomes)), None)
        is_short = state.timeout is not None and state.timeout < 0.5 * self._period
        return TIMEOUT if outcome is None and is_short else outcome

    def _end(self, machine: StateDef) -> str | None:
        """Return the outcome of a machine that always ends without taking time."""
        name: str | None = machine.initial
        visited: set[str] = set()
        while name is not None and name not in visited:
            visited.add(name)
            state = machine.children[name]
            if state.outcome is not None:
                return state.outcome
            name = self._goal(state)
        return None


_MAX_COMBINATIONS = 4096


def check_machine(initial: str, states: Mapping[str, StateDef], where: str) -> None:
    """Raise UserInputError unless every state is reachable and every outcome has a transition."""
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
        goals = {definition.goal for definition in states[edge.pop()].transitions.values()} - found
        found |= goals
        edge += goals
    return found


def check_joins(branches: Mapping[str, StateDef], joins: Sequence[Join], where: str) -> None:
    """Raise UserInputError unless the joins cover all combinations of final outcomes."""
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
        elif all(outcomes[name] or not branch.outcomes for name, branch in branches.items()):
            listing = ", ".join(
                f"{name}: {outcome}" for name, outcome in outcomes.items() if outcome
            )
            if listing:
                raise UserInputError(f"{where}.join: no row for {listing}")
    for number in range(len(joins)):
        if number not in used:
            raise UserInputError(
                f"{where}.join[{number}]: it never applies: an earlier row always holds first"
            )
