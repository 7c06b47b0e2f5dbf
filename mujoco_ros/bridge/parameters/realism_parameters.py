"""Parameters of the imperfections of robots: channels of sensors and joints, and motors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.report import OK, DiagnosticReport
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.bridge.parameters.setting_specs import setting_specs
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism.channel_settings import Channel
from mujoco_ros.model.realism.realism_config import Entry, Section
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.realism.robot_realism import RobotRealism

ROW = "realism of <robot>"
"""Name of the row of a robot on /diagnostics."""


@dataclass(eq=False)
class _EntryParameters:
    """The parameters of one entry, and the settings that the accepted values make."""

    part: Part
    entry: Entry
    prefix: str
    settings: Channel

    @property
    def specs(self) -> list[ParameterSpec]:
        """The parameters to declare; their defaults are those of the scene."""
        return setting_specs(self.prefix, self.entry.settings)

    def changed(self, values: Mapping[str, Any]) -> Channel:
        """Return the settings after a change of parameters.

        Raises:
            UserInputError: They contradict each other.
        """
        start = f"{self.prefix}."
        own = {
            name.removeprefix(start): it for name, it in values.items() if name.startswith(start)
        }
        if not own:
            return self.settings
        try:
            settings = replace(self.settings, **own)
        except UserInputError as error:
            raise UserInputError(f"parameter '{start}*': {error}") from error
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
        self._added: list[str] = []
        self.prepare(self._simulation.plant)
        self.finish()

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject settings that contradict each other, or that a robot cannot have."""
        realism = self._simulation.plant.realism
        for it in self._entries:
            settings = it.changed(values)
            if realism is not None and it.part in realism.robots and settings != it.settings:
                realism.robots[it.part].check(it.entry.section, it.entry.name, settings)

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that applies settings."""
        changes: dict[Part, dict[tuple[Section, str], Channel]] = {}
        # A client may be quicker than `finish`; its command then comes after the change.
        for it in {id(it): it for it in (*self._entries, *self._next)}.values():
            settings = it.changed(values)
            if settings != it.settings:
                it.settings = settings
                changes.setdefault(it.part, {})[it.entry.section, it.entry.name] = settings
        return partial(self._apply, changes) if changes else None

    def prepare(self, plant: Plant) -> None:
        """Declare the parameters of new robots, and configure the next plant by their values.

        Raises:
            UserInputError: The user gave a value that a parameter or the robot cannot have.
        """
        present = {(it.part, it.entry.section, it.entry.name): it for it in self._entries}
        self._next, self._added = [], []
        robots = {} if plant.realism is None else plant.realism.robots
        for part, robot in robots.items():
            namespace = plant.layout.robots[plant.assembly.robots.index(part)].namespace
            for entry in robot.entries:
                key: tuple[Part, Section, str] = (part, entry.section, entry.name)
                if key in present:
                    self._next.append(present[key])
                    continue
                parts = (namespace.replace("/", "."), "realism", entry.section, entry.name)
                prefix = ".".join(it for it in parts if it)
                added = _EntryParameters(part, entry, prefix, entry.settings)
                self._parameters.declare(added.specs)
                self._added += [spec.name for spec in added.specs]
                self._next.append(added)
                added.settings = added.changed(self._parameters.values)
                robot.check(entry.section, entry.name, added.settings)
                robot.change(entry.section, entry.name, added.settings)
            robot.configure()

    def finish(self) -> None:
        """Undeclare the parameters of deleted robots."""
        kept = {it.prefix for it in self._next}
        gone = [spec.name for it in self._entries if it.prefix not in kept for spec in it.specs]
        self._entries, self._next, self._added = self._next, [], []
        self._parameters.withdraw(gone)

    def rollback(self) -> None:
        """Undeclare the parameters that `prepare` declared."""
        self._parameters.withdraw(self._added)
        self._next, self._added = [], []

    def reports(self) -> Mapping[str, DiagnosticReport]:
        """Return a row for each robot: lost samples, and the hottest motor."""
        realism = self._simulation.plant.realism
        if realism is None:
            return {}
        return {
            ROW.replace("<robot>", robot.name): _report(robot) for robot in realism.robots.values()
        }

    def _apply(self, changes: Mapping[Part, Mapping[tuple[Section, str], Channel]]) -> None:
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
