"""A controller that is a state machine."""

from concurrent.futures import Future
from typing import Any

from mujoco_ros.control.references import References
from mujoco_ros.controllers.fsm.machine import Machine
from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.fsm.state_calls import StateError
from mujoco_ros.controllers.fsm.state_references import StateReferences
from mujoco_ros.controllers.fsm.table import Table
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.model.errors import UserInputError


class FsmController:
    """A `Controller` built from a table of states.

    Attributes:
        table: The table.
        machine: The state machine.
        store: Values shared by the states and the host.
        seed: Seed of all random numbers.
        period: Time between two ticks [s].
        awaited: Futures that the next tick needs.
    """

    def __init__(self, table: Table, *, seed: int = 0) -> None:
        self.table = table
        self.machine = Machine(table)
        self.store = Store()
        self.seed = seed
        self.period = 1.0 / table.rate
        self.awaited: list[Future[Any]] = []
        self._robot: RobotModel | None = None
        self._context: StateContext | None = None

    def configure(self, robot: RobotModel) -> None:
        """Reset the controller and prepare all states for a robot."""
        self.reset()
        self._robot = None
        calls = self.machine.calls
        for path, state in self.machine.instances.items():
            try:
                calls.configure(path, state, robot, self.store)
            except UserInputError as error:
                raise UserInputError(f"controller '{self.table.name}': {error}") from error
            except StateError as error:
                place = calls.place_of(error)
                raise UserInputError(f"controller '{self.table.name}': {place}: {error}") from error
        self._robot = robot

    def reset(self) -> None:
        """Reset the machine and remove all values that states put into the store."""
        try:
            self.machine.reset()
        finally:
            self.store.clear()
            self.awaited.clear()
            self._context = None

    def step(self, observation: Observation, t: float) -> References:
        """Return the references of the tick at time `t` [s].

        The first tick starts with references that hold the measured positions.
        """
        context = self._context or self._first_context(observation)
        # States can set every attribute, which ends with the tick.
        context.observation, context.time, context.period = observation, t, self.period
        context.robot, context.store, context.seed = self._configured(), self.store, self.seed
        self.awaited.clear()
        self.machine.step(context)
        return context.references

    def _first_context(self, observation: Observation) -> StateContext:
        self._context = StateContext(
            robot=self._configured(),
            store=self.store,
            references=StateReferences.holding(observation.q),
            observation=observation,
            period=self.period,
            seed=self.seed,
            awaited=self.awaited,
        )
        return self._context

    def _configured(self) -> RobotModel:
        if self._robot is None:
            raise RuntimeError("call configure() before step()")
        return self._robot
