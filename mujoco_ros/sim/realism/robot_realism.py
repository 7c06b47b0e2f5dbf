"""The imperfections of one robot: sensors, buses, and motors."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism_config import ActuatorChannel, Channel, Entry, Section
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.drives import Drives
from mujoco_ros.sim.realism.channel import ChannelPart, ImperfectChannel, SavedChannel
from mujoco_ros.sim.realism.measurements import Measurements, claim
from mujoco_ros.sim.sample import Sample


class MotorLimits:
    """Limits the force ranges of actuators on joints at every step.

    In the direction of motion, the largest effort of a joint is on the line from `stall_effort` at
    standstill to zero at `no_load_velocity`; against it, it is not lowered. Copper losses heat the
    winding, a thermal mass of first order, and its temperature lowers all efforts.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        drives: Drives,
        groups: Iterable[tuple[str, np.ndarray]],
    ) -> None:
        """Limit the actuators on the joints, indices of all joints, of each entry by name."""
        self._model, self._data, self._limits = model, data, drives.force_limits
        self._entry: list[str] = []
        rows: list[tuple[int, int, int]] = []  # actuator, joint, actuators on the joint
        for name, joints in groups:
            for joint in joints.tolist():
                actuators = sorted(drives.actuators(joint))
                rows += [(actuator, joint, len(actuators)) for actuator in actuators]
                self._entry += [name] * len(actuators)
        self._actuators, self._joints, sharing = np.array(rows, dtype=np.intp).reshape(-1, 3).T
        self._outputs = model.actuator_outadr[self._actuators]
        self._gear = model.actuator_gear[self._outputs, 0] * sharing  # joint effort per force
        self._direction = np.sign(self._gear)
        self._gear = np.abs(self._gear)
        self._sharing = sharing
        count = len(rows)
        self.temperature = np.zeros(count)  # of the winding of each motor [°C] (m,)
        self._ambient = np.zeros(count)
        self._acts = False

    def configure(self, settings: dict[str, ActuatorChannel], timestep: float) -> None:
        """Set the settings of the entries by name, and the simulated time of a step [s]."""
        acted = self._acts

        def values_of(name: str) -> np.ndarray:
            return np.array([getattr(settings[entry], name) for entry in self._entry], dtype=float)

        peak, stall, speed = (
            values_of("peak_effort"),
            values_of("stall_effort"),
            values_of("no_load_velocity"),
        )
        self._peak = np.where(peak > 0.0, peak, np.inf) / self._gear
        has_line = (stall > 0.0) & (speed > 0.0)
        self._stall = np.where(has_line, stall, np.inf) / self._gear
        self._slope = np.where(has_line, 1.0 / np.where(speed > 0.0, speed, 1.0), 0.0)
        self._slope *= self._direction
        loss = values_of("copper_loss")
        self._heating = loss * values_of("thermal_resistance") * (self._gear / self._sharing) ** 2
        self._ambient = values_of("ambient_temperature")
        self._decay = -np.expm1(-timestep / np.maximum(values_of("thermal_time_constant"), 1e-9))
        self._derating_end = values_of("derating_end")
        self._derating_width = self._derating_end - values_of("derating_start")
        self._heats = bool(self._heating.any())
        self._acts = self._heats or bool((peak > 0.0).any() or has_line.any())
        if acted and not self._acts:
            self._limits.apply(self._actuators)

    def check(self, name: str, settings: ActuatorChannel, where: str) -> None:
        """Reject derating of motors that have no limit of effort."""
        has_limit = settings.peak_effort or (settings.stall_effort and settings.no_load_velocity)
        if has_limit or not settings.copper_loss:
            return
        for entry, actuator in zip(self._entry, self._actuators.tolist(), strict=True):
            if entry == name and not self._limits.limited[actuator]:
                raise UserInputError(
                    f"{where}: actuator '{self._model.actuator(actuator).name}' has no limit of "
                    "effort that heat can lower; set 'peak_effort', or 'stall_effort' and "
                    "'no_load_velocity'"
                )

    def temperatures(self) -> dict[int, float]:
        """Return the hottest winding of each joint, an index into all joints, if some heat [°C]."""
        hottest: dict[int, float] = {}
        for joint, value in zip(self._joints.tolist(), self.temperature.tolist(), strict=True):
            hottest[joint] = max(value, hottest.get(joint, value))
        return hottest if self._heats else {}

    def reset(self) -> None:
        """Let the motors be cold."""
        self.temperature[:] = self._ambient
        if self._acts:
            self._limits.apply(self._actuators)

    def heat(self) -> None:
        """Heat the motors by the efforts of the last step."""
        if self._heats:
            force = self._data.actuator_force[self._outputs]
            steady = self._ambient + self._heating * force * force
            self.temperature += self._decay * (steady - self.temperature)

    def update(self, dq: np.ndarray) -> None:
        """Set the limits of the next step, for velocities of all joints (n,) [rad/s or m/s]."""
        if not self._acts:
            return
        limits, actuators = self._limits, self._actuators
        share = self._slope * dq[self._joints]
        most = np.minimum(self._peak, self._stall * np.maximum(1.0 - share, 0.0))
        least = np.minimum(self._peak, self._stall * np.maximum(1.0 + share, 0.0))
        # Against the motion, the line would exceed the effort at standstill.
        np.minimum(most, self._stall, out=most)
        np.minimum(least, self._stall, out=least)
        own = limits.ranges[actuators]
        limited = limits.limited[actuators]
        low = np.where(limited, np.maximum(own[:, 0], -least), -least)
        high = np.where(limited, np.minimum(own[:, 1], most), most)
        if self._heats:
            factor = (self._derating_end - self.temperature) / self._derating_width
            hot = factor < 1.0
            if hot.any():
                factor = np.maximum(factor[hot], 0.0)
                low[hot] *= factor
                high[hot] *= factor
        has_limit = np.isfinite(low) & np.isfinite(high)
        model = self._model
        model.actuator_forcelimited[actuators] = has_limit
        chosen = actuators[has_limit]
        factors = limits.factors[chosen]
        model.actuator_forcerange[chosen, 0] = factors * low[has_limit]
        model.actuator_forcerange[chosen, 1] = factors * high[has_limit]


REFERENCE_ROWS = 3
"""Position, velocity and effort."""


class CommandChannel:
    """Transports the references of joints to their drives."""

    def __init__(self, key: str, seed: int, groups: Iterable[tuple[str, np.ndarray]]) -> None:
        """Transport the references of the joints, indices of all joints, of each entry by name."""
        self._groups = list(groups)
        joints = [joints for _, joints in self._groups]
        rows = [np.repeat(np.arange(REFERENCE_ROWS), len(own)) for own in joints]
        none = np.array([], dtype=np.intp)
        self._joints, self._rows = np.concatenate([none, *joints]), np.concatenate([none, *rows])
        self._columns = np.concatenate([none, *(np.tile(own, REFERENCE_ROWS) for own in joints)])
        self._truth = np.zeros(len(self._rows))
        # The references, for each entry the rows of its joints
        self.channel = ImperfectChannel(key, seed, len(self._rows))
        self._has_play = False

    def configure(self, settings: dict[str, ActuatorChannel], timestep: float) -> None:
        """Set the settings of the entries by name, and the simulated time of a step [s]."""
        streams, play = [], [np.zeros(0)]
        for name, joints in self._groups:
            own, count = settings[name], len(joints)
            quanta = (own.position_quantisation, 0.0, own.effort_quantisation)
            quantisation = tuple(np.repeat(quanta, count).tolist())
            size = REFERENCE_ROWS * count
            streams.append(ChannelPart(count=size, transport=own, quantisation=quantisation))
            play.append(np.full(count, own.backlash))
        self.channel.configure(streams, timestep)
        widths = np.concatenate(play)
        self._has_play = bool(widths.any())
        self._half_play = 0.5 * widths[widths > 0.0]
        self._loose = self._joints[widths > 0.0]

    def send(self, references: np.ndarray, sent: np.ndarray) -> None:
        """Write the references (3, n) that have arrived into the drives' references (3, n)."""
        np.copyto(self._truth, references[self._rows, self._columns])
        self.channel.update(self._truth)
        sent[self._rows, self._columns] = self.channel.output

    def add_play(self, sent: np.ndarray, q: np.ndarray, dq: np.ndarray) -> None:
        """Change the references (3, n) of drives where the gears of joints have play.

        Within the play, the reference is the joint's own state: no effort. Beyond, it is the flank.
        """
        if not self._has_play:
            return
        loose, half = self._loose, self._half_play
        wanted, position = sent[0, loose], q[loose]
        flank = np.minimum(np.maximum(position, wanted - half), wanted + half)
        sent[0, loose] = flank
        sent[1, loose] = np.where(flank == position, dq[loose], sent[1, loose])


SavedRealism = tuple[SavedChannel, SavedChannel, np.ndarray]
"""Copies of what is measured, of what is commanded, and of temperatures of the motors [°C] (m,)."""


class RobotRealism:
    """The channels and motors of one robot."""

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
        """Find the elements of the entries; `columns` are the robot's among all joints."""
        self.name = robot.name  # name of the robot
        self._joints = dict(enumerate(robot.joints.names, columns.start))
        self.entries = list(entries)  # its entries with their present settings
        self._model = model
        self.measurements = Measurements(
            f"{robot.name} measurements", seed, model, robot, entries, sample
        )
        groups = _driven(robot, columns.start, drives, entries)
        self.commands = CommandChannel(f"{robot.name} commands", seed, groups)  # its references
        self.motors = MotorLimits(model, data, drives, groups)  # the limits of its motors
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

    @property
    def temperatures(self) -> dict[str, float]:
        """The temperature of the motors of each joint that heats [°C]."""
        return {self._joints[joint]: it for joint, it in self.motors.temperatures().items()}

    def check(
        self, section: Section, name: str, settings: Channel, timestep: float | None = None
    ) -> None:
        """Reject settings that the motors cannot have, and delays that need too much memory."""
        where = f"realism of robot '{self.name}': {section}.{name}"
        part = self.commands if section == "actuators" else self.measurements
        part.channel.check(settings, timestep or float(self._model.opt.timestep), where)
        if section == "actuators":
            assert isinstance(settings, ActuatorChannel)
            self.motors.check(name, settings, where)

    def change(self, section: Section, name: str, settings: Channel) -> None:
        """Set the settings of an entry, between two steps; `configure` applies them."""
        self.entries = [
            replace(entry, settings=settings)
            if (entry.section, entry.name) == (section, name)
            else entry
            for entry in self.entries
        ]

    def configure(self) -> None:
        """Apply the settings and the timestep of the model."""
        timestep = float(self._model.opt.timestep)
        self.measurements.configure(self.entries, timestep)
        actuators = {
            entry.name: entry.settings
            for entry in self.entries
            if isinstance(entry.settings, ActuatorChannel)
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
        channels = self.measurements.channel.save(), self.commands.channel.save()
        return *channels, self.motors.temperature.copy()

    def restore(self, saved: SavedRealism) -> None:
        """Continue from a saved state of the same robot."""
        measured, commanded, temperature = saved
        self.measurements.channel.restore(measured)
        self.commands.channel.restore(commanded)
        if temperature.shape == self.motors.temperature.shape:
            self.motors.temperature[:] = temperature


def _driven(
    robot: RobotLayout, first: int, drives: Drives, entries: Sequence[Entry]
) -> list[tuple[str, np.ndarray]]:
    """Return the name of each entry of actuators, and its joints as indices into all joints."""
    names = robot.joints.names
    driven = [name for index, name in enumerate(names) if drives.actuators(first + index)]
    found: list[tuple[str, np.ndarray]] = []
    taken: dict[str, str] = {}
    for entry in entries:
        if entry.section != "actuators":
            continue
        where = f"realism of robot '{robot.name}': actuators.{entry.name}"
        selected = entry.selection.select(driven, "joint with an actuator", where)
        claim(taken, [f"joint {name}" for name in selected], where)
        found.append((entry.name, first + np.flatnonzero(np.isin(names, selected))))
    return found
