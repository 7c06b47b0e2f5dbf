"""A controller that is a state machine."""

from concurrent.futures import Future
from functools import partial
from typing import Any

from mujoco_ros.control.references import References
from mujoco_ros.controllers.fsm.machine import Machine
from mujoco_ros.controllers.fsm.state import StateContext, StateReferences
from mujoco_ros.controllers.fsm.state_calls import StateError
from mujoco_ros.controllers.fsm.table import Table
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.model.errors import UserInputError


class FsmController:
    """A controller built from a table of states, for the simulator and for a robot.

    A host calls `configure` once, `follow` after every change of the scene, `reset` after every
    reset of the simulation, and `step` at every tick. An exception in `step` stops the controller,
    and the robot holds its position.
    """

    def __init__(self, table: Table, *, seed: int = 0) -> None:
        self.table = table
        self.machine = Machine(table)
        self.store = Store()  # values shared by the states and the host
        # Of a table of several robots, the values of each robot by its name in the table. Missing
        # values are read from `store`.
        self.stores = {name: Store(self.store) for name in table.robots}
        self.seed = seed
        self.period = 1.0 / table.rate  # time between two ticks [s]
        # Futures that the next tick needs. A simulator stops the clock until they are done, so that
        # results do not depend on computing time; a real robot does not wait.
        self.awaited: list[Future[Any]] = []
        self._robot: RobotModel | None = None
        self._robot_in_scene: RobotModel | None = None
        self._context: StateContext | None = None
        self._robots: dict[str, StateContext] = {}  # by name in the table

    def configure(self, robot: RobotModel) -> None:
        """Reset the controller and prepare all states, with their settings, for its robots."""
        self.reset()
        self._robot = None
        if robot.robots.keys() != self.table.robots.keys():
            known = ", ".join(self.table.robots) or "one robot"
            given = ", ".join(robot.robots) or "one robot"
            raise UserInputError(f"controller '{self.table.name}' is for {known}, not for {given}")
        calls = self.machine.calls
        for path, state in self.machine.instances.items():
            own = self.machine.robots[path]
            arguments = (robot.robots[own], self.stores[own]) if own else (robot, self.store)
            state.config = self.machine.configs[path]
            try:
                calls.configure(path, state, *arguments)
            except (UserInputError, StateError) as error:
                place = f"{calls.place_of(error)}: " if isinstance(error, StateError) else ""
                raise UserInputError(f"controller '{self.table.name}': {place}{error}") from error
        self._robot = self._robot_in_scene = robot

    def follow(self, robot: RobotModel) -> None:
        """Give the states the same robot in another scene, from the next tick on."""
        self._robot_in_scene = robot

    def reset(self) -> None:
        """Reset the machine and remove all values that states put into the store."""
        try:
            self.machine.reset()
        finally:
            for store in (self.store, *self.stores.values()):
                store.clear()
            self.awaited.clear()
            self._context = None

    def step(self, observation: Observation, t: float) -> References:
        """Return the references of the tick at time `t` [s].

        The first tick starts with references that hold the measured positions.
        """
        robot, scene = self._robot, self._robot_in_scene
        if robot is None or scene is None:
            raise RuntimeError("call configure() before step()")
        context = self._context or self._first_context(robot, observation)
        parts = [(context, robot, scene, self.store, observation)]
        for name, own in self._robots.items():
            seen, store = observation.robots[name], self.stores[name]
            parts.append((own, robot.robots[name], scene.robots[name], store, seen))
        # All attributes, which states can set until the end of a tick.
        for own, own_robot, own_scene, store, seen in parts:
            own.robot, own.robot_in_scene, own.robots = own_robot, own_scene, self._robots
            own.store, own.seed, own.period = store, self.seed, self.period
            own.observation, own.time = seen, t
        self.awaited.clear()
        self.machine.step(context)
        return context.references

    def _first_context(self, robot: RobotModel, observation: Observation) -> StateContext:
        references, first, parts = StateReferences.holding(observation.q), 0, {}
        for name, own in robot.robots.items():
            parts[name] = StateReferences(references.values[:, first : first + len(own.joints)])
            first += len(own.joints)
        references.robots = parts
        new = partial(StateContext, period=self.period, seed=self.seed, awaited=self.awaited)
        self._robots = {
            name: new(
                robot=robot.robots[name],
                store=self.stores[name],
                references=parts[name],
                observation=seen,
            )
            for name, seen in observation.robots.items()
        }
        self._context = new(
            robot=robot, store=self.store, references=references, observation=observation
        )
        return self._context
