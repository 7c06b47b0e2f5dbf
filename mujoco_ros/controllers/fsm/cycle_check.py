"""Check of a table for circles of states that take no time."""

from collections.abc import Mapping

from mujoco_ros.controllers.fsm.table import (
    TIMEOUT,
    CompositeState,
    ParallelState,
    SimpleState,
    StateDef,
    Table,
)
from mujoco_ros.controllers.fsm.transition import Trigger
from mujoco_ros.model.errors import UserInputError


def check_cycles(table: Table, where: str) -> None:
    """Check that no machine runs forever in a circle of states that end in their first tick.

    Raises:
        UserInputError: It names the states of the circle.
    """
    automatic = {Trigger.AUTO} if table.step_by_step else {Trigger.AUTO, Trigger.STEP_BY_STEP}
    checker = _CycleChecker(1.0 / table.rate, automatic, where)
    for state in table.root.walk():
        if isinstance(state.kind, CompositeState):
            checker.check(state.kind.states)


class _CycleChecker:
    def __init__(self, period: float, automatic: set[Trigger], where: str) -> None:
        self._period, self._automatic, self._where = period, automatic, where

    def check(self, states: Mapping[str, StateDef]) -> None:
        """Check the states of a machine."""
        goals = {name: self._goal(state) for name, state in states.items()}
        done: set[str] = set()
        for first in states:
            path: list[str] = []
            name: str | None = first
            while name is not None and name not in done:
                done.add(name)
                path.append(name)
                name = goals[name]
            if name in path:
                cycle = [states[it].path for it in (*path[path.index(name) :], name)]
                raise UserInputError(
                    f"{self._where}: these states would follow each other forever without taking "
                    f"time: {' -> '.join(cycle)}; give one of them a duration, or a transition "
                    "that waits for a request ('trigger: strict')"
                )

    def _goal(self, state: StateDef) -> str | None:
        """Return the state that always follows at once; None if there is none."""
        outcome = self._outcome(state)
        definition = None if outcome is None else state.transitions.get(outcome)
        is_made = definition is not None and definition.trigger in self._automatic
        return definition.goal if definition is not None and is_made else None

    def _outcome(self, state: StateDef) -> str | None:
        """Return the outcome that a state always has without taking time; None if it can take."""
        outcome = None
        match state.kind:
            case SimpleState(cls=None):
                pass
            case SimpleState(cls=cls, config=config) if cls is not None:
                outcome = cls.immediate_outcome(config, self._period)
                if outcome is None and cls.outcomes:
                    return None  # it may have one of them
            case CompositeState() as machine:
                outcome = self._end(machine)
            case ParallelState() as parallel:
                outcomes = {name: self._outcome(it) for name, it in parallel.branches.items()}
                if any(
                    outcomes[name] is None and it.outcomes for name, it in parallel.branches.items()
                ):
                    return None
                outcome = next((it.outcome for it in parallel.joins if it.holds(outcomes)), None)
        is_short = state.timeout is not None and state.timeout < 0.5 * self._period
        return TIMEOUT if outcome is None and is_short else outcome

    def _end(self, machine: CompositeState) -> str | None:
        """Return the outcome of a machine that always ends without taking time."""
        name: str | None = machine.initial
        visited: set[str] = set()
        while name is not None and name not in visited:
            visited.add(name)
            if machine.states[name].outcome is not None:
                return machine.states[name].outcome
            name = self._goal(machine.states[name])
        return None
