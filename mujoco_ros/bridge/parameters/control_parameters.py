"""The parameters of every robot: PD gains, and settings of its controllers."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.bridge.parameters.robot_parameters import (
    GAINS,
    GAINS_FILE,
    RobotParameters,
    robot_parameters,
    settings_specs,
    stacked,
)
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.control.gains import Gains, load_gains
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.model.uri import check_file, resolve
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.gains import GainChange
from mujoco_ros.wire.parameter_spec import ParameterSpec


class ControlParameters(Component):
    """A view of the simulation's gains and of the settings of its controllers."""

    def __init__(self, context: NodeContext) -> None:
        """Declare them, and configure the simulation by their values.

        Raises:
            UserInputError: The user set an invalid value, or an invalid gains file.
        """
        self._parameters, self._simulation = context.parameters, context.simulation
        self._controllers = context.has_controllers
        self._robots: dict[ScenePart, RobotParameters] = {}
        self._next: dict[ScenePart, RobotParameters] = {}
        self._values: dict[str, Any] = {}  # of the parameters that the next robots bring
        self._gain_indices: dict[str, tuple[ScenePart, int, int]] = {}  # robot, row and joint
        self._settings_of: dict[str, ScenePart] = {}  # setting to robot
        self._changes = 0  # of gains, since the start
        self._changed_by: dict[str, int] = {}  # gain to the last of them
        self.prepare(self._simulation.plant)
        self._simulation.plant.gains.restore()
        self.finish()

    def prepare(self, plant: Plant) -> None:
        """Find the parameters of new robots, and configure the next plant by their values.

        Raises:
            UserInputError: Two parameters would have the same name, a gains file is invalid, or the
                user set an invalid value for the first plant.
        """
        first = not self._robots and plant is self._simulation.plant
        self._next, self._values, gone = {}, {}, self._robots.keys() - set(plant.assembly.robots)
        taken = self._parameters.names - {
            spec.name for part in gone for spec in self._robots[part].specs
        }
        for index, (part, columns) in enumerate(_columns(plant)):
            if part in self._robots:
                self._next[part] = self._robots[part]
                continue
            robot = self._next[part] = robot_parameters(plant, index, columns, self._controllers)
            self._find_parameters(robot, strict=first)
            for name in (spec.name for spec in robot.specs):
                if name in taken:
                    raise UserInputError(f"two parameters would be named '{name}'; rename a joint")
                taken.add(name)
            plant.gains.configure(part, self._initial_gains(robot))
            robot.check(self._values)
            robot.control.configure(*robot.settings(self._values))

    def finish(self) -> None:
        """Declare the parameters of new robots; undeclare the parameters of deleted ones."""
        for part in self._robots.keys() - self._next.keys():
            self._parameters.withdraw(spec.name for spec in self._robots[part].specs)
        new = self._next.keys() - self._robots.keys()
        self._robots, self._next = self._next, {}
        for part, robot in self._robots.items():
            if part in new:
                self._parameters.declare(robot.specs, self._values)
        self._gain_indices = {
            name: (part, *indices)
            for part, robot in self._robots.items()
            for name, indices in robot.gain_indices()
        }
        self._settings_of = {
            spec.name: part
            for part, robot in self._robots.items()
            for spec in robot.specs
            if spec.name not in self._gain_indices and spec.name != robot.gains_file
        }
        self._changed_by = {n: by for n, by in self._changed_by.items() if n in self._gain_indices}

    def rollback(self) -> None:
        """Discard the parameters of the next robots."""
        self._next, self._values = {}, {}

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Check the settings of the Cartesian controllers that a set changes.

        Raises:
            UserInputError: A frame or a joint does not exist, or takes no commands of the mode.
        """
        for part in {self._settings_of[n] for n in values if n in self._settings_of}:
            self._robots[part].check({**self._parameters.values, **values})

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that applies accepted gains and settings."""
        names = [name for name in values if name in self._gain_indices]
        gains = [GainChange(*self._gain_indices[name], values[name]) for name in names]
        if gains:
            self._changes += 1
            self._changed_by |= dict.fromkeys(names, self._changes)
        files = {
            part: _gains(robot.of_file)
            for part, robot in self._robots.items()
            if robot.gains_file in values
        }
        settings = [
            (self._robots[part].control, self._robots[part].settings(self._parameters.values))
            for part in {self._settings_of[n] for n in values if n in self._settings_of}
        ]
        if not (gains or files or settings):
            return None
        simulation = self._simulation

        def command() -> None:
            for part, configured in files.items():
                simulation.plant.gains.configure(part, configured)
            if gains:
                simulation.plant.gains.change(gains)
            for control, of_control in settings:
                control.configure(*of_control)

        return command

    def on_reset(self, event: SimulationReset) -> None:
        """Show the gains that a reset restored."""
        if event.gains is not None:
            self.show_gains(event.gain_changes, event.gains)

    def show_gains(self, gain_changes: int, present: Mapping[object, Gains]) -> None:
        """Set the parameters to the gains in force, where something else changed them.

        Args:
            gain_changes: Number of changes by parameters that these gains include; parameters set
                since stay.
            present: The gains by robot.
        """
        rows = {part: stacked(gains) for part, gains in present.items()}
        self._parameters.show(
            {
                name: float(rows[part][row, joint])
                for name, (part, row, joint) in self._gain_indices.items()
                if part in rows and self._changed_by.get(name, 0) <= gain_changes
            }
        )

    def _initial_gains(self, robot: RobotParameters) -> Gains:
        """Return the gains that a new robot begins with."""
        rows = robot.of_file.copy()
        for name, index in robot.gain_indices():
            rows[index] = self._values[name]
        return _gains(rows)

    def _find_parameters(self, robot: RobotParameters, *, strict: bool) -> None:
        """Find the parameters of a new robot, and their initial values."""

        def find(specs: Iterable[ParameterSpec]) -> None:
            specs = list(specs)
            robot.specs += specs
            self._values |= self._parameters.initial(specs, strict=strict)

        if robot.servos:
            find([robot.spec(GAINS_FILE)])
            rows = robot.of_file = self._load(robot, self._values[robot.gains_file])
            find(
                robot.spec(template, joint, default=float(rows[row, joint]))
                for joint in robot.servos
                for row, template in enumerate(GAINS)
            )
        find(settings_specs(robot))

    def expand_parameters(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the gains in the files that a set names."""
        gains = {}
        for robot in self._robots.values():
            if robot.gains_file in values:
                robot.of_file = self._load(robot, values[robot.gains_file])
                for name, index in robot.gain_indices():
                    gains[name] = float(robot.of_file[index])
        return gains

    def _load(self, robot: RobotParameters, file: str) -> np.ndarray:
        """Return the gains of a file, or of the scene if there is no file.

        Raises:
            UserInputError: There is no such file, or it is invalid.
        """
        rows = robot.of_scene.copy()
        if file:
            servos = list(robot.servos)
            try:
                path = resolve(file, Path.cwd())
                check_file(path, "gains file")
                read = load_gains(path, robot.joints.names, robot.names(robot.servos))
            except UserInputError as error:
                raise UserInputError(
                    f"parameter '{robot.gains_file}' cannot be {file!r}: {error}"
                ) from error
            rows[:, servos] = stacked(read)[:, servos]
        return rows


def _gains(rows: np.ndarray) -> Gains:
    kp, kd = rows.copy()
    return Gains(kp=kp, kd=kd)


def _columns(plant: Plant) -> Iterator[tuple[ScenePart, slice]]:
    """Return each robot with its columns in arrays over the joints of all robots."""
    return zip(plant.assembly.robots, plant.layout.columns, strict=True)
