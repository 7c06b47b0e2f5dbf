"""Parameters of the imperfections of robots: channels of sensors and joints, and motors."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from mujoco_ros.bridge.component import ModelParameters, NodeContext
from mujoco_ros.bridge.diagnostics.report import OK, DiagnosticReport
from mujoco_ros.bridge.parameters.parameters import Command, changed_settings, setting_specs
from mujoco_ros.model.realism_config import Channel, Entry, Section
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.realism.robot_realism import RobotRealism
from mujoco_ros.wire.names import REALISM, TEMPERATURE, parameter_prefix

_TIMESTEP = "physics.timestep"


@dataclass(eq=False)
class _EntryParameters:
    """One entry, and the settings that the accepted values of its parameters make."""

    part: ScenePart
    entry: Entry
    prefix: str
    settings: Channel

    @property
    def key(self) -> tuple[ScenePart, Section, str]:
        return self.part, self.entry.section, self.entry.name

    def changed(self, values: Mapping[str, Any]) -> Channel:
        """Return the settings after a change of parameters, unless they contradict each other."""
        settings: Channel = changed_settings(self.prefix, self.settings, values)
        return settings


class RealismParameters(ModelParameters[_EntryParameters]):
    """A view of the settings of each entry of ``realism``."""

    remedy = "rename a robot or an entry"

    def __init__(self, context: NodeContext) -> None:
        super().__init__(context)
        self.prepare(self._simulation.plant)
        self.finish()

    @property
    def _entries(self) -> dict[_EntryParameters, None]:
        return dict.fromkeys(self._elements.values())

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
        """Find the parameters of the next plant, and configure its new robots by their values."""
        robots = {} if plant.realism is None else plant.realism.robots
        timestep = None if plant.fresh else self._parameters.values[_TIMESTEP]
        present = {parameters.key: parameters for parameters in self._entries}
        entries = []
        for part, robot in robots.items():
            namespace = plant.layout.robots[plant.assembly.robots.index(part)].namespace
            for entry in robot.entries:
                prefix = f"{parameter_prefix(namespace)}realism.{entry.section}.{entry.name}"
                new = _EntryParameters(part, entry, prefix, entry.settings)
                entries.append(present.get(new.key, new))
        values = self._find(
            (spec, each)
            for each in entries
            for spec in setting_specs(each.prefix, each.entry.settings)
        )
        for added in (each for each in entries if each.key not in present):
            part, section, name = added.key
            added.settings = added.changed(values)
            robots[part].check(section, name, added.settings, timestep)
            robots[part].change(section, name, added.settings)
        for robot in robots.values():
            robot.configure()

    def reports(self) -> Mapping[str, DiagnosticReport]:
        """Return a row for each robot: lost samples, and the hottest motor."""
        realism = self._simulation.plant.realism
        if realism is None:
            return {}
        return {
            REALISM.replace("<robot>", robot.name): _report(robot)
            for robot in realism.robots.values()
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
    for joint, temperature in robot.temperatures.items():
        values[TEMPERATURE.replace("<joint>", joint)] = f"{temperature:.1f}"
    return DiagnosticReport("acts", values, OK)
