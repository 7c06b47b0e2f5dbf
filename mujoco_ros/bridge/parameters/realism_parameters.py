"""Parameters of the imperfections of robots: channels of sensors and joints, and motors."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.report import OK, DiagnosticReport
from mujoco_ros.bridge.parameters.parameters import Command, changed_settings, setting_specs
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism_config import Channel, Entry, Section
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.realism.robot_realism import RobotRealism
from mujoco_ros.wire.parameter_spec import ParameterSpec

_TIMESTEP = "physics.timestep"
ROW = "realism of <robot>"
"""Name of the row of a robot on /diagnostics."""


@dataclass(eq=False)
class _EntryParameters:
    """The parameters of one entry, and the settings that the accepted values make."""

    part: ScenePart
    entry: Entry
    prefix: str
    settings: Channel

    @property
    def key(self) -> tuple[ScenePart, Section, str]:
        """The robot, and the section and name of the entry in its realism."""
        return self.part, self.entry.section, self.entry.name

    @property
    def specs(self) -> list[ParameterSpec]:
        """The parameters to declare, with the values of the scene as defaults."""
        return setting_specs(self.prefix, self.entry.settings)

    def changed(self, values: Mapping[str, Any]) -> Channel:
        """Return the settings after a change of parameters.

        Raises:
            UserInputError: They contradict each other.
        """
        settings: Channel = changed_settings(self.prefix, self.settings, values)
        return settings


class RealismParameters(Component):
    """A view of the settings of each entry of ``realism``; robots bring theirs and take them."""

    def __init__(self, context: NodeContext) -> None:
        """Declare them, and configure the simulation by their values.

        Raises:
            UserInputError: The user gave a value that a parameter cannot have.
        """
        self._parameters, self._simulation = context.parameters, context.simulation
        self._entries: list[_EntryParameters] = []
        self._next: list[_EntryParameters] = []
        self._values: dict[str, Any] = {}  # of the parameters that the next robots bring
        self.prepare(self._simulation.plant)
        self.finish()

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject settings that contradict each other, or that a robot cannot have.

        A smaller timestep has more samples in flight.
        """
        realism = self._simulation.plant.realism
        timestep = values.get(_TIMESTEP, self._parameters.values[_TIMESTEP])
        for parameters in self._entries:
            settings = parameters.changed(values)
            if settings == parameters.settings and _TIMESTEP not in values:
                continue
            if realism is not None and parameters.part in realism.robots:
                robot = realism.robots[parameters.part]
                robot.check(parameters.entry.section, parameters.entry.name, settings, timestep)

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that applies settings."""
        changes: dict[ScenePart, dict[tuple[Section, str], Channel]] = {}
        for parameters in self._entries:
            settings = parameters.changed(values)
            if settings != parameters.settings:
                parameters.settings = settings
                part, section, name = parameters.key
                changes.setdefault(part, {})[section, name] = settings
        return partial(self._apply, changes) if changes else None

    def prepare(self, plant: Plant) -> None:
        """Declare the parameters of new robots, and configure the next plant by their values.

        Raises:
            UserInputError: The user gave a value that a parameter or the robot cannot have.
        """
        present = {parameters.key: parameters for parameters in self._entries}
        self._next, self._values = [], {}
        robots = {} if plant.realism is None else plant.realism.robots
        timestep = None if plant.fresh else self._parameters.values[_TIMESTEP]
        gone = {
            spec.name
            for parameters in self._entries
            if parameters.part not in robots
            for spec in parameters.specs
        }
        taken = self._parameters.names - gone
        for part, robot in robots.items():
            namespace = plant.layout.robots[plant.assembly.robots.index(part)].namespace
            for entry in robot.entries:
                key: tuple[ScenePart, Section, str] = (part, entry.section, entry.name)
                if key in present:
                    self._next.append(present[key])
                    continue
                parts = (namespace.replace("/", "."), "realism", entry.section, entry.name)
                prefix = ".".join(word for word in parts if word)
                added = _EntryParameters(part, entry, prefix, entry.settings)
                values = self._parameters.initial(added.specs)
                if clash := taken & values.keys():
                    raise UserInputError(
                        f"two parameters would be named '{min(clash)}'; rename a robot or an entry"
                    )
                taken |= values.keys()
                self._values |= values
                self._next.append(added)
                added.settings = added.changed(values)
                robot.check(entry.section, entry.name, added.settings, timestep)
                robot.change(entry.section, entry.name, added.settings)
            robot.configure()

    def finish(self) -> None:
        """Declare the parameters of new robots; undeclare the parameters of deleted ones."""
        before, self._entries = self._entries, self._next
        self._parameters.withdraw(
            spec.name for gone in before if gone not in self._entries for spec in gone.specs
        )
        for parameters in self._entries:
            if parameters not in before:
                self._parameters.declare(parameters.specs, self._values)
        self._next, self._values = [], {}

    def rollback(self) -> None:
        """Discard the parameters of the next robots."""
        self._next, self._values = [], {}

    def reports(self) -> Mapping[str, DiagnosticReport]:
        """Return a row for each robot: lost samples, and the hottest motor."""
        realism = self._simulation.plant.realism
        if realism is None:
            return {}
        return {
            ROW.replace("<robot>", robot.name): _report(robot) for robot in realism.robots.values()
        }

    def _apply(self, changes: Mapping[ScenePart, Mapping[tuple[Section, str], Channel]]) -> None:
        """Apply settings in the physics thread."""
        realism = self._simulation.plant.realism
        if realism is not None:
            for part, settings in changes.items():
                realism.change(part, settings)


def _report(robot: RobotRealism) -> DiagnosticReport:
    values = {
        "samples lost": str(robot.measurements.channel.lost),
        "commands lost": str(robot.commands.channel.lost),
    }
    if len(robot.motors.temperature):
        values["hottest motor [°C]"] = f"{robot.motors.temperature.max():.1f}"
    return DiagnosticReport("acts", values, OK)
