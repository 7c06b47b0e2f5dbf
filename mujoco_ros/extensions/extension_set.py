"""The extensions of a scene: one instance for each model, robot and entry of the scene."""

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from operator import attrgetter
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np

from mujoco_ros.extensions.callbacks import register, stepping, unregister
from mujoco_ros.extensions.hook_table import HookTable
from mujoco_ros.extensions.interface import Extension, load_extension
from mujoco_ros.extensions.own_elements import OwnElements
from mujoco_ros.extensions.runner import ExtensionRunner, WriteGuard, raised
from mujoco_ros.extensions.settings import read_settings
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.config import ExtensionConfig
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.extension_states import ExtensionState


class BoundExtension(NamedTuple):
    """An instance for a model, and who calls it."""

    runner: ExtensionRunner
    extension: Extension
    state: ExtensionState


class ExtensionSet:
    """Creates, switches and calls the extensions of a simulation."""

    def __init__(
        self,
        simulation: Simulation,
        initial_settings: Callable[[ExtensionRunner], Any] = attrgetter("settings"),
    ) -> None:
        """Create the extensions of the scene.

        `initial_settings` is called in any thread; it returns the settings that an extension begins
        with. Its runner has the settings of the scene.
        """
        self._simulation, self._initial_settings = simulation, initial_settings
        # Call the extensions of the present model, in the order of the scene
        self.runners: tuple[ExtensionRunner, ...] = ()
        # Call the extensions of the next model, from `build` until `commit`
        self.next: tuple[ExtensionRunner, ...] = ()
        self._bound: tuple[BoundExtension, ...] = ()
        self._before: tuple[ExtensionRunner, ...] = ()
        self._after: tuple[ExtensionRunner, ...] = ()
        self._hooks = HookTable(simulation.plant, (), WriteGuard(simulation.data))
        self.build(simulation.plant)
        self.commit()
        simulation.on_reset.append(self._reset)

    def build(self, plant: Plant) -> None:
        """Create the instances for another model, which changes nothing; in any thread."""
        kept = {} if plant.fresh else {each.key: each for each in self.runners}
        bound = []
        for config, robot, part in _places(plant):
            key = config.label if robot is None else f"{robot.name}/{config.label}"
            namespace = "" if robot is None else robot.namespace
            where = f"extension '{key}'"
            runner = kept.get(key)
            if runner is None:
                runner = ExtensionRunner(self._simulation, key, namespace, config)
                try:
                    cls = load_extension(config.use)
                except UserInputError as error:
                    raise UserInputError(f"{where}: {error}") from error
                settings = read_settings(cls.Settings, config.settings, f"{where}: settings")
                runner.settings = settings
                runner.settings = self._initial_settings(runner)
            bound.append(_create(runner, plant, robot, part, self._simulation.seed))
        self._bound, self.next = tuple(bound), tuple(binding.runner for binding in bound)
        self._next_guard = WriteGuard(plant.data)
        pairs = ((binding.runner, binding.extension) for binding in bound)
        self._next_hooks = HookTable(plant, pairs, self._next_guard)

    def commit(self) -> None:
        """Call the instances from `build` from now on; between two steps."""
        unregister(self._hooks)
        self._hooks = self._next_hooks
        for runner, extension, state in self._bound:
            runner.bind(extension, state, self._next_guard)
            runner.reset()  # the state is from the previous model
        self.runners, self.next, self._bound = self.next, (), ()
        self._before = self._overriding("before_step")
        self._after = self._overriding("after_step")
        self._is_timed = "time" in self._hooks.kinds
        register(self._hooks)

    def rollback(self) -> None:
        """Discard the instances from `build`."""
        self.next, self._bound = (), ()

    def close(self) -> None:
        """Remove the hooks from the engine."""
        unregister(self._hooks)

    def before_step(self) -> None:
        """Call all extensions before a step."""
        if self._is_timed:
            stepping[get_ident()] = self._hooks
        for runner in self._before:
            runner.before_step()

    def after_step(self) -> None:
        """Call all extensions after a step."""
        if self._is_timed:
            stepping.pop(get_ident(), None)
        for runner in self._after:
            runner.after_step()
        for runner in self.runners:
            runner.end_step()

    def _overriding(self, method: str) -> tuple[ExtensionRunner, ...]:
        base = getattr(Extension, method)
        return tuple(
            runner for runner in self.runners if getattr(type(runner.extension), method) is not base
        )

    def _reset(self) -> None:
        for runner in self.runners:
            runner.reset()


def _places(plant: Plant) -> Iterator[tuple[ExtensionConfig, RobotLayout | None, ScenePart | None]]:
    robots = list(zip(plant.layout.robots, plant.assembly.robots, strict=True))
    for config in plant.assembly.config.extensions:
        if not config.robot:
            yield config, None, None
            continue
        found = [candidate for candidate in robots if fnmatchcase(candidate[0].name, config.robot)]
        if not found and plant.fresh and not set(config.robot) & set("*?["):
            names = [candidate.name for candidate, _ in robots]
            raise unknown("robot", config.robot, names, where=f"extension '{config.label}'")
        for robot, part in found:
            yield config, robot, part


def _create(
    runner: ExtensionRunner,
    plant: Plant,
    robot: RobotLayout | None,
    part: ScenePart | None,
    seed: int,
) -> BoundExtension:
    cls = load_extension(runner.config.use)
    try:
        extension = cls(OwnElements(plant, robot), plant.data)
        initial = extension.initial_values()
        parts = [np.array(numbers, dtype=float).reshape(-1) for numbers in initial.values()]
        state = ExtensionState(runner.key, part, np.concatenate([np.empty(0), *parts]), seed)
        views = np.split(state.values, np.cumsum([len(pieces) for pieces in parts])[:-1])
        extension.settings, extension.random = runner.settings, state.random
        extension.state = dict(zip(initial, views, strict=True)) if initial else {}
        extension.set_up()
    except UserInputError as error:
        raise UserInputError(f"extension '{runner.key}': {error}") from error
    except BaseException as error:  # such as SystemExit: no extension ends the simulator
        raise UserInputError(f"extension '{runner.key}': set_up {raised(error)}") from error
    plant.extensions.add(state)
    return BoundExtension(runner, extension, state)
