"""The parameters of every robot: PD gains, and settings of its controllers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mujoco_ros.bridge.component import ModelParameters, NodeContext
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

_Element = tuple[ScenePart, tuple[int, int] | None]
"""The robot of a parameter, and row and joint of a gain."""


class ControlParameters(ModelParameters[_Element]):
    """A view of the simulation's gains and of the settings of its controllers."""

    def __init__(self, context: NodeContext) -> None:
        super().__init__(context)
        self._controllers = context.has_controllers
        self._robots: dict[ScenePart, RobotParameters] = {}
        self._next_robots: dict[ScenePart, RobotParameters] = {}
        self._gain_changes = 0  # since the start
        self._changed_by: dict[str, int] = {}  # gain to the last of them
        self.prepare(self._simulation.plant)
        self._simulation.plant.gains.restore()
        self.finish()

    def prepare(self, plant: Plant) -> None:
        """Find the parameters of the next plant, and configure its new robots by their values.

        An invalid value of the user is an error for the first plant only.
        """
        first = not self._robots and plant is self._simulation.plant
        self._next_robots = {
            part: self._robots.get(part) or self._new_robot(plant, index, columns, strict=first)
            for index, (part, columns) in enumerate(
                zip(plant.assembly.robots, plant.layout.columns, strict=True)
            )
        }
        found = (
            (spec, (part, robot.gains.get(spec.name)))
            for part, robot in self._next_robots.items()
            for spec in robot.specs
        )
        values = self._find(found, strict=first)
        for part, robot in self._next_robots.items():
            if part not in self._robots:
                plant.gains.configure(part, _initial_gains(robot, values))
                robot.check(values)
                robot.control.configure(*robot.settings(values))

    def finish(self) -> None:
        """Declare the parameters of new robots; undeclare the parameters of deleted ones."""
        super().finish()
        self._robots, self._next_robots = self._next_robots, {}
        self._changed_by = {n: by for n, by in self._changed_by.items() if n in self._elements}

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Check the settings of the Cartesian controllers that a set changes."""
        for part in self._set_robots(values):
            self._robots[part].check({**self._parameters.values, **values})

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that applies accepted gains and settings."""
        gains = {
            name: GainChange(part, *index, values[name])
            for name, (part, index) in self._elements.items()
            if index is not None and name in values
        }
        if gains:
            self._gain_changes += 1
            self._changed_by |= dict.fromkeys(gains, self._gain_changes)
        files = {
            part: _gains(robot.of_file)
            for part, robot in self._robots.items()
            if robot.gains_file in values
        }
        settings = [
            (self._robots[part].control, self._robots[part].settings(self._parameters.values))
            for part in self._set_robots(values)
        ]
        if not (gains or files or settings):
            return None
        simulation = self._simulation

        def command() -> None:
            for part, configured in files.items():
                simulation.plant.gains.configure(part, configured)
            if gains:
                simulation.plant.gains.change(gains.values())
            for control, of_control in settings:
                control.configure(*of_control)

        return command

    def on_reset(self, event: SimulationReset) -> None:
        """Show the gains that a reset restored."""
        if event.gains is not None:
            self.show_gains(event.gain_changes, event.gains)

    def show_gains(self, gain_changes: int, present: Mapping[object, Gains]) -> None:
        """Set the parameters to the gains in force by robot, except parameters that were set since.

        The gains include a number of changes by parameters.
        """
        rows = {part: stacked(gains) for part, gains in present.items()}
        self._parameters.show(
            {
                name: float(rows[part][index])
                for name, (part, index) in self._elements.items()
                if index and part in rows and self._changed_by.get(name, 0) <= gain_changes
            }
        )

    def _set_robots(self, values: Mapping[str, Any]) -> set[ScenePart]:
        """Return the robots of which a set changes settings."""
        found = {name: self._elements[name] for name in values if name in self._elements}
        files = [robot.gains_file for robot in self._robots.values()]
        return {part for name, (part, gain) in found.items() if gain is None and name not in files}

    def _new_robot(
        self, plant: Plant, index: int, columns: slice, *, strict: bool
    ) -> RobotParameters:
        """Return a new robot with its parameters, whose defaults are the gains of its file."""
        controllers = self._controllers and plant.controls[index].has_default_controllers
        robot = robot_parameters(plant, index, columns, controllers)
        if robot.servos:
            file = robot.spec(GAINS_FILE)
            rows = self._load(robot, self._parameters.initial([file], strict=strict)[file.name])
            robot.of_file = rows
            robot.specs.append(file)
            robot.specs += [
                robot.spec(GAINS[row], joint, default=float(rows[row, joint]))
                for row, joint in robot.gains.values()
            ]
        robot.specs += settings_specs(robot)
        return robot

    def expand_parameters(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the gains in the files that a set names."""
        gains: dict[str, float] = {}
        for robot in self._robots.values():
            if robot.gains_file in values:
                robot.of_file = self._load(robot, values[robot.gains_file])
                gains |= {n: float(robot.of_file[index]) for n, index in robot.gains.items()}
        return gains

    def _load(self, robot: RobotParameters, file: str) -> np.ndarray:
        """Return the gains of a file, or of the scene if no file is named."""
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


def _initial_gains(robot: RobotParameters, values: Mapping[str, Any]) -> Gains:
    """Return the gains that a new robot begins with."""
    rows = robot.of_file.copy()
    for name, index in robot.gains.items():
        rows[index] = values[name]
    return _gains(rows)


def _gains(rows: np.ndarray) -> Gains:
    kp, kd = rows.copy()
    return Gains(kp=kp, kd=kd)
