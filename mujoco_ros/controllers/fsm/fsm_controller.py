"""A controller made of states: what hosts run."""

from concurrent.futures import Future
from typing import Any

from mujoco_ros.control.references import References
from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.fsm.machine import Machine
from mujoco_ros.controllers.fsm.table import Table
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.model.errors import UserInputError


class FsmController:
    """A `Controller` that is a state machine.

    Attributes:
        table: What it is made of.
        machine: The state machine.
        store: What its states and the host share.
        seed: From which everything random in it is derived.
        period: Time between two ticks [s].
        awaited: Results that the last tick asked for, without which there is no next one.
    """

    def __init__(self, table: Table, *, seed: int = 0) -> None:
        """Make the states."""
        self.table = table
        self.machine = Machine(table)
        self._name = table.name
        self.store = Store()
        self.seed = seed
        self.period = 1.0 / table.rate
        self.awaited: list[Future[Any]] = []
        self._robot: RobotModel | None = None
        self._context: StateContext | None = None

    def configure(self, robot: RobotModel) -> None:
        """Have all states get ready for a robot, and begin anew.

        Raises:
            ModelError: It lacks what a state needs.
        """
        self.reset()
        self._robot = None
        for state in self.machine.members.values():
            try:
                state.configure(robot, self.store)
            except UserInputError as error:
                raise UserInputError(f"controller '{self._name}': {error}") from error
        self._robot = robot

    def reset(self) -> None:
        """Begin anew: what runs is torn down, and what states put into the store is forgotten."""
        try:
            self.machine.reset()
        finally:
            self.store.clear()
            self.awaited.clear()
            self._context = None

    def step(self, observation: Observation, t: float) -> References:
        """Return the references of the tick at time `t` [s].

        Before the first, they hold the measured positions still.
        """
        context = self._context or self._begun(observation)
        context.observation, context.time = observation, t
        self.awaited.clear()
        self.machine.step(context)
        return context.references

    def _begun(self, observation: Observation) -> StateContext:
        if self._robot is None:
            raise RuntimeError("configure() comes before step()")
        self._context = StateContext(
            robot=self._robot,
            store=self.store,
            references=References.holding(observation.q),
            observation=observation,
            period=self.period,
            seed=self.seed,
            awaited=self.awaited,
        )
        return self._context
