"""The imperfections of one robot."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism.channel_settings import ActuatorChannel, Channel
from mujoco_ros.model.realism.realism_config import Entry, Section
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.drives import Drives
from mujoco_ros.sim.realism.channel import SavedChannel
from mujoco_ros.sim.realism.drive_commands import DriveCommands
from mujoco_ros.sim.realism.measurements import Measurements
from mujoco_ros.sim.realism.motor_limits import MotorLimits
from mujoco_ros.sim.sample import Sample


@dataclass(frozen=True, kw_only=True)
class SavedRealism:
    """A copy of the state of a robot's sensors, buses and motors.

    Attributes:
        measured: Sensors and joint states.
        commanded: References.
        temperature: Temperatures of the motors [°C].  # (m,)
    """

    measured: SavedChannel
    commanded: SavedChannel
    temperature: np.ndarray


class RobotRealism:
    """The channels and motors of one robot.

    Attributes:
        name: Name of the robot.
        entries: Its entries with their present settings.
        measurements: Its sensors and joint states.
        commands: Its references.
        motors: The limits of its motors.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        robot: RobotLayout,
        columns: slice,
        drives: Drives,
        sample: Sample,
        entries: Sequence[Entry],
        seed: int,
    ) -> None:
        """Find the elements of the entries.

        Args:
            model: The model.
            data: The state.
            robot: The robot.
            columns: Its joints in arrays of the joints of all robots.
            drives: The actuators of all joints.
            sample: The sample, whose measured numbers it changes.
            entries: The entries.
            seed: Seed of the simulation.

        Raises:
            UserInputError: An entry does not fit the robot.
        """
        self.name = robot.name
        self.entries = list(entries)
        self._model = model
        self.measurements = Measurements(
            f"{robot.name} measurements", seed, model, robot, entries, sample
        )
        groups = _driven(robot, columns.start, drives, entries)
        self.commands = DriveCommands(f"{robot.name} commands", seed, groups)
        self.motors = MotorLimits(model, data, drives, groups)
        for entry in entries:
            self.check(entry.section, entry.name, entry.settings)
        self.configure()
        self.motors.reset()

    @property
    def has_measurements(self) -> bool:
        """Whether any sensor or joint is measured imperfectly."""
        return bool(self.measurements.channel.size)

    @property
    def has_commands(self) -> bool:
        """Whether any entry applies to actuators."""
        return bool(self.commands.channel.size)

    def check(
        self, section: Section, name: str, settings: Channel, timestep: float | None = None
    ) -> None:
        """Reject settings that the motors cannot have, and delays that need too much memory.

        Args:
            section: Section of the entry.
            name: Its name.
            settings: Its settings.
            timestep: Simulated time of a step [s]; None for that of the model.

        Raises:
            UserInputError: The robot cannot have the settings.
        """
        where = f"realism of robot '{self.name}': {section}.{name}"
        part = self.commands if section == "actuators" else self.measurements
        part.channel.check(settings, timestep or float(self._model.opt.timestep), where)
        if section == "actuators":
            assert isinstance(settings, ActuatorChannel)
            self.motors.check(name, settings, where)

    def change(self, section: Section, name: str, settings: Channel) -> None:
        """Set the settings of an entry, between two steps; `configure` applies them."""
        self.entries = [
            replace(it, settings=settings) if (it.section, it.name) == (section, name) else it
            for it in self.entries
        ]

    def configure(self) -> None:
        """Apply the settings and the timestep of the model."""
        timestep = float(self._model.opt.timestep)
        self.measurements.configure(self.entries, timestep)
        actuators = {
            it.name: it.settings for it in self.entries if isinstance(it.settings, ActuatorChannel)
        }
        self.commands.configure(actuators, timestep)
        self.motors.configure(actuators, timestep)

    def reset(self) -> None:
        """Return to the start."""
        self.measurements.channel.reset()
        self.commands.channel.reset()
        self.motors.reset()

    def save(self) -> SavedRealism:
        """Return a copy of the state."""
        return SavedRealism(
            measured=self.measurements.channel.save(),
            commanded=self.commands.channel.save(),
            temperature=self.motors.temperature.copy(),
        )

    def restore(self, saved: SavedRealism) -> None:
        """Continue from a saved state of the same robot."""
        self.measurements.channel.restore(saved.measured)
        self.commands.channel.restore(saved.commanded)
        if saved.temperature.shape == self.motors.temperature.shape:
            self.motors.temperature[:] = saved.temperature


def _driven(
    robot: RobotLayout, first: int, drives: Drives, entries: Sequence[Entry]
) -> list[tuple[str, np.ndarray]]:
    """Return the name of each entry of actuators, and its joints among those of all robots.

    Raises:
        UserInputError: A pattern matches no joint with an actuator, or two entries a joint.
    """
    names = robot.joints.names
    driven = [name for index, name in enumerate(names) if drives.actuators(first + index)]
    found: list[tuple[str, np.ndarray]] = []
    taken: dict[str, str] = {}
    for entry in entries:
        if entry.section != "actuators":
            continue
        where = f"realism of robot '{robot.name}': actuators.{entry.name}"
        selected = entry.selection.select(driven, "joint with an actuator", where)
        for name in selected:
            if name in taken:
                raise UserInputError(
                    f"{where}: joint {name} belongs to actuators.{taken[name]} as well; an element "
                    "can be in one entry"
                )
            taken[name] = entry.name
        found.append((entry.name, first + np.flatnonzero(np.isin(names, selected))))
    return found
