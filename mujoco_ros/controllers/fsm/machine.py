"""The state machine: one table, one present state, events that tell what happened."""

from collections import deque
from collections.abc import Mapping
from typing import Any

from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.fsm.flat_table import places, transitions
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.fsm.state_runner import REQUESTED, CompositeStateRunner, Shared
from mujoco_ros.controllers.fsm.table import CompositeState, SimpleState, Table
from mujoco_ros.controllers.fsm.transition import Transition, Transitioned, TransitionRejectedError
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.strict import updated


class Machine:
    """Runs a table.

    Attributes:
        states: Names of all states, the initial one first; in sub-machines as ``OUTER/INNER``.
        transitions: All of them; each starts at a state of these and leads to one.
        members: What runs, by name, branches of parallel states included.
    """

    states: tuple[str, ...]
    transitions: tuple[Transition, ...]
    members: Mapping[str, State]

    def __init__(self, table: Table) -> None:
        """Make the states of a table."""
        level = table.root.work
        assert isinstance(level, CompositeState)
        leaves = {
            row.path: row.work for row in table.root.walk() if isinstance(row.work, SimpleState)
        }
        self.members = {
            path: leaf.cls(leaf.config) for path, leaf in leaves.items() if leaf.cls is not None
        }
        self._shared = Shared(
            states=self.members,
            configs={path: state.config for path, state in self.members.items()},
            transitions=transitions(table.root),
            step_by_step=table.step_by_step,
        )
        self.states = places(table.root)
        self.transitions = tuple(self._shared.transitions.values())
        self._root = CompositeStateRunner(table.root, level, self._shared)
        self._requested: Transition | None = None
        self._context: StateContext | None = None
        self._failed: Exception | None = None

    @property
    def state(self) -> str:
        """The present state: the innermost, or a parallel one."""
        return self._root.place

    @property
    def active(self) -> tuple[str, ...]:
        """All states that run: several where the present one is parallel."""
        return tuple(self._root.leaves())

    @property
    def outcome(self) -> str | None:
        """How it ended; None as long as it has not."""
        return self._root.present.row.outcome if self._root.is_on else None

    @property
    def has_failed(self) -> bool:
        """Whether it ended, and in failure."""
        return self.outcome is not None and self._root.present.row.failure

    @property
    def events(self) -> deque[Transitioned]:
        """What happened, oldest first; whoever tells it takes it out."""
        return self._shared.events

    @property
    def step_by_step(self) -> bool:
        """Whether transitions of that trigger wait for a request."""
        return self._shared.step_by_step

    @step_by_step.setter
    def step_by_step(self, value: bool) -> None:
        self._shared.step_by_step = value

    @property
    def available(self) -> tuple[Transition, ...]:
        """The transitions that a request can make now, for one asked `label` each."""
        return tuple(level.transition(arrow) for level, arrow in self._offers().values())

    def config(self, state: str) -> Any:
        """Return the settings of a state; None where it has none.

        Raises:
            ModelError: There is no such state.
        """
        if state not in self.members:
            raise unknown("state", state, self.members)
        return self._shared.configs[state]

    def configure(self, state: str, changes: Mapping[str, Any]) -> None:
        """Change settings of a state, from its next start on.

        Args:
            state: Its full name.
            changes: New values by key, as plain data.

        Raises:
            ModelError: There is no such state or key, or it cannot have the value; nothing changes.
        """
        config = self.config(state)
        if config is None:
            raise UserInputError(f"{state}: it has no settings")
        self._shared.configs[state] = updated(config, changes, state)

    def request(self, label: str) -> Transition:
        """Have a transition made at the next tick.

        Raises:
            TransitionRefusedError: It is not available; nothing changes.
        """
        offers = self._offers()
        if label not in offers:
            raise TransitionRejectedError(self._refusal(label, tuple(offers)))
        level, arrow = offers[label]
        self._requested = level.transition(arrow)
        level.choose(arrow, REQUESTED)
        return self._requested

    def step(self, context: StateContext) -> None:
        """Do one tick: the present state runs, at most one transition is made (one in each branch).

        What a state raises comes through, after everything that runs was torn down; then nothing
        works any more before `reset`.
        """
        if self._failed is not None:
            raise RuntimeError("it has failed and was not reset") from self._failed
        self._requested, self._context = None, context
        try:
            if not self._root.is_on:
                self._root.start(context)
            self._root.run(context)
        except Exception as error:
            self._failed = error
            self._end(error)
            raise

    def reset(self) -> None:
        """Go back before the initial state, which starts at the next tick.

        What runs is torn down, with the context of the last tick.
        """
        failed, self._failed = self._failed, None
        try:
            if failed is None and self._context is not None:
                self._root.teardown(self._context)
        finally:
            self._root.rewind()
            self._root.is_on = False
            self._requested = self._context = None
            self.events.clear()

    def _offers(self) -> dict[str, Any]:
        if self._requested is not None or self._failed is not None or not self._root.is_on:
            return {}
        found: dict[str, Any] = {}
        for offer in self._root.offers():
            found.setdefault(offer.arrow.label, offer)
        return found

    def _refusal(self, label: str, available: tuple[str, ...]) -> str:
        if self._requested is not None:
            return f"'{label}' is not available: '{self._requested.label}' is being made"
        if self._failed is not None:
            return f"'{label}' is not available: the controller has failed, reset it"
        listing = ", ".join(available) or "nothing"
        if not self._root.is_on:
            listing = "nothing before the next tick, at which it begins"
        return f"'{label}' is not available in {self.state}; available: {listing}"

    def _end(self, error: Exception) -> None:
        """Tear down what runs; what that raises is noted on the first error."""
        assert self._context is not None
        try:
            self._root.teardown(self._context)
        except Exception as other:
            error.add_note(f"and while tearing down: {other!r}")
