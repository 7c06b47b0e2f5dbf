"""The parameters of every robot: PD gains, and settings of its controllers."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.parameters.control_specs import (
    FORWARD,
    GAINS,
    GAINS_FILE,
    GRIPPER,
    GRIPPER_JOINT,
    STREAM,
    TOLERANCES,
    TRAJECTORY,
    TRAJECTORY_JOINTS,
)
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.parameters.parameters import Command, Parameters
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.control.gains import Gains, load_gains
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.modes import POSITION
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import GripperSettings, StreamSettings, TrajectorySettings
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.model.uri import check_file, resolve
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.gains import GainChange
from mujoco_ros.sim.simulation import Simulation

Settings = tuple[StreamSettings, TrajectorySettings, GripperSettings | None]


@dataclass(eq=False, kw_only=True)
class _Robot:
    """A robot and its parameters; joints are indices into its own.

    Attributes:
        of_scene: Gains of the scene; the rows are kp and kd.  # (2, n)
        read: Gains of the file that `gains_file` names.  # (2, n)
        specs: All its parameters.
    """

    control: RobotControl
    prefix: str
    slides: tuple[bool, ...]
    servos: tuple[int, ...]
    controllers: bool
    of_scene: np.ndarray
    read: np.ndarray
    specs: list[ParameterSpec] = field(default_factory=list)

    @property
    def joints(self) -> ControlledJoints:
        return self.control.joints

    @property
    def gains_file(self) -> str:
        return self.prefix + GAINS_FILE.name

    @property
    def gripper(self) -> int | None:
        return self.joints.gripper if self.controllers else None

    def taking(self, interface: str) -> tuple[int, ...]:
        """Return the joints that the controllers of `interface` command."""
        return self.joints.with_interface(interface) if self.controllers else ()

    def names(self, joints: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(self.joints.names[joint] for joint in joints)

    def name(self, template: ParameterSpec, joint: int | None = None) -> str:
        """Return the name of the parameter of a template, for this robot or one of its joints."""
        name = template.name
        if joint is not None:
            name = name.replace("<joint>", self.joints.names[joint])
        return self.prefix + name

    def spec(
        self, template: ParameterSpec, joint: int | None = None, **changes: Any
    ) -> ParameterSpec:
        """Return the parameter of a template, for this robot or one of its joints."""
        if joint is not None:
            unit = r"[\2]" if self.slides[joint] else r"[\1]"
            changes["description"] = re.sub(r"\[(\S+) or (\S+)\]", unit, template.description)
        return replace(template, name=self.name(template, joint), **changes)

    def gain_places(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Yield the parameter of each gain, and its row and column."""
        for joint in self.servos:
            for row, template in enumerate(GAINS):
                yield self.name(template, joint), (row, joint)

    def settings(self, values: Mapping[str, Any]) -> Settings:
        """Return its settings from the values of parameters."""

        def read(table: Mapping[str, ParameterSpec]) -> dict[str, Any]:
            return {name: values[self.name(template)] for name, template in table.items()}

        joints = self.taking(POSITION)
        tolerances: dict[str, Any] = {name: np.zeros(len(self.slides)) for name in TOLERANCES}
        for name, template in TOLERANCES.items():
            for joint in joints:
                tolerances[name][joint] = values[self.name(template, joint)]
        return (
            StreamSettings(**read(STREAM)),
            TrajectorySettings(**tolerances, **(read(TRAJECTORY) if joints else {})),
            None if self.gripper is None else GripperSettings(**read(GRIPPER)),
        )


class ControlParameters(Component):
    """A view of the simulation's gains and of the settings of its controllers."""

    def __init__(self, parameters: Parameters, simulation: Simulation) -> None:
        """Declare them, and configure `simulation`, which does not run yet, by their values.

        Raises:
            UserInputError: The user set an invalid value, or an invalid gains file.
        """
        self._parameters = parameters
        self._simulation = simulation
        self._controllers = not parameters.values["ros2_control"]
        self._robots: dict[Part, _Robot] = {}
        self._next: dict[Part, _Robot] = {}
        self._values: dict[str, Any] = {}  # of the parameters that the next robots bring
        self._place: dict[str, tuple[Part, int, int]] = {}  # gain to robot, row and joint
        self._owner: dict[str, Part] = {}  # setting to robot
        self._changes = 0  # of gains, since the start
        self._changed_by: dict[str, int] = {}  # gain to the last of them
        self._showing = False  # whether a set shows gains that are in force already
        self.prepare(simulation.plant)
        simulation.gains.restore()
        self.finish()

    def prepare(self, plant: Plant) -> None:
        """Find the parameters of new robots, and configure the next plant by their values.

        Raises:
            UserInputError: Two parameters would have the same name, a gains file is invalid, or the
                user set an invalid value for the first plant.
        """
        first = not self._robots and plant is self._simulation.plant
        self._next, self._values, taken = {}, {}, set(self._others())
        for part in plant.assembly.robots:
            if part in self._robots:
                self._next[part] = self._robots[part]
                taken |= {spec.name for spec in self._robots[part].specs}
        for index, (part, columns) in enumerate(_columns(plant)):
            if part in self._robots:
                continue
            robot = self._next[part] = _robot(plant, index, columns, self._controllers)
            self._find_parameters(robot, strict=first)
            names = [spec.name for spec in robot.specs]
            for name in names:
                if name in taken:
                    raise UserInputError(f"two parameters would be named '{name}'; rename a joint")
                taken.add(name)
            plant.gains.configure(part, self._initial_gains(robot))
            robot.control.configure(*robot.settings(self._values))

    def finish(self) -> None:
        """Declare the parameters of new robots; undeclare those of deleted robots."""
        for part in self._robots.keys() - self._next.keys():
            self._parameters.withdraw(spec.name for spec in self._robots[part].specs)
        new = self._next.keys() - self._robots.keys()
        self._robots, self._next = self._next, {}
        for part, robot in self._robots.items():
            if part in new:
                self._parameters.declare(robot.specs, self._values)
        self._place = {
            name: (part, *place)
            for part, robot in self._robots.items()
            for name, place in robot.gain_places()
        }
        self._owner = {
            spec.name: part
            for part, robot in self._robots.items()
            for spec in robot.specs
            if spec.name not in self._place and spec.name != robot.gains_file
        }
        self._changed_by = {n: by for n, by in self._changed_by.items() if n in self._place}

    def rollback(self) -> None:
        """Discard the parameters of the next robots."""
        self._next, self._values = {}, {}

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that applies accepted gains and settings."""
        gains = [
            GainChange(*self._place[name], values[name]) for name in values if name in self._place
        ]
        if self._showing:
            return None
        if gains:
            self._changes += 1
            self._changed_by |= dict.fromkeys(values.keys() & self._place.keys(), self._changes)
        files = {
            part: _gains(robot.read)
            for part, robot in self._robots.items()
            if robot.gains_file in values
        }
        settings = [
            (self._robots[part].control, self._robots[part].settings(self._parameters.values))
            for part in {self._owner[name] for name in values if name in self._owner}
        ]
        if not (gains or files or settings):
            return None
        simulation = self._simulation

        def command() -> None:
            for part, configured in files.items():
                simulation.gains.configure(part, configured)
            if gains:
                simulation.gains.change(gains)
            for control, of_control in settings:
                control.configure(*of_control)

        return command

    def on_reset(self, event: SimulationReset) -> None:
        """Show the gains that a reset restored."""
        if event.state:
            self.show_gains(event.gain_changes, event.gains)

    def show_gains(self, gain_changes: int, present: Mapping[object, Gains] | None = None) -> None:
        """Set the parameters to the gains in force, where something else changed them.

        Args:
            gain_changes: Number of changes by parameters that these gains include; parameters set
                since stay.
            present: The gains by robot; without, the configured ones, which a reset restores.
        """
        if present is None:
            present = self._simulation.gains.configured_by_robot()
        rows = {part: _stacked(gains) for part, gains in present.items()}
        shown = {}
        for name, (part, row, joint) in self._place.items():
            if part in rows and self._changed_by.get(name, 0) <= gain_changes:
                value = float(rows[part][row, joint])
                if self._parameters.values[name] != value:
                    shown[name] = value
        if shown:
            self._showing = True
            try:
                self._parameters.set(shown)
            finally:
                self._showing = False

    def _others(self) -> set[str]:
        """Return the names of the parameters that belong to no robot."""
        return (
            self._parameters.names
            - self._place.keys()
            - self._owner.keys()
            - {robot.gains_file for robot in self._robots.values()}
        )

    def _initial_gains(self, robot: _Robot) -> Gains:
        """Return the gains that a new robot begins with."""
        rows = robot.read.copy()
        for name, place in robot.gain_places():
            rows[place] = self._values[name]
        return _gains(rows)

    def _find_parameters(self, robot: _Robot, *, strict: bool) -> None:
        """Find the parameters of a new robot, and their initial values."""

        def find(specs: Iterable[ParameterSpec]) -> None:
            specs = list(specs)
            robot.specs += specs
            self._values |= self._parameters.initial(specs, strict=strict)

        if robot.servos:
            find([robot.spec(GAINS_FILE)])
            rows = robot.read = self._load(robot, self._values[robot.gains_file])
            find(
                robot.spec(template, joint, default=float(rows[row, joint]))
                for joint in robot.servos
                for row, template in enumerate(GAINS)
            )
        find(_settings_specs(robot))

    def expand_parameters(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the gains in the files that a set names."""
        gains = {}
        for robot in self._robots.values():
            if robot.gains_file in values:
                robot.read = self._load(robot, values[robot.gains_file])
                for name, place in robot.gain_places():
                    gains[name] = float(robot.read[place])
        return gains

    def _load(self, robot: _Robot, file: str) -> np.ndarray:
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
            rows[:, servos] = _stacked(read)[:, servos]
        return rows


def _gains(rows: np.ndarray) -> Gains:
    kp, kd = rows.copy()
    return Gains(kp=kp, kd=kd)


def _stacked(gains: Gains) -> np.ndarray:
    return np.stack([gains.kp, gains.kd])


def _columns(plant: Plant) -> Iterator[tuple[Part, slice]]:
    """Return each robot with its columns in arrays over the joints of all robots."""
    return zip(plant.assembly.robots, plant.layout.columns, strict=True)


def _robot(plant: Plant, index: int, columns: slice, controllers: bool) -> _Robot:
    """Return the entry of a robot, with the gains of the scene."""
    robot, model = plant.layout.robots[index], plant.model
    types = model.jnt_type[robot.joints.ids]
    servos = set(plant.drives.servo_joints.tolist())
    rows = _stacked(plant.gains.configured(plant.assembly.robots[index]))
    return _Robot(
        control=plant.controls[index],
        prefix=robot.namespace.replace("/", ".") + "." if robot.namespace else "",
        slides=tuple((types == mujoco.mjtJoint.mjJNT_SLIDE).tolist()),
        servos=tuple(i for i in range(len(types)) if columns.start + i in servos),
        controllers=controllers,
        of_scene=rows,
        read=rows,
    )


def _settings_specs(robot: _Robot) -> Iterator[ParameterSpec]:
    """Yield the settings of each controller of a robot."""
    for template in STREAM.values():
        yield robot.spec(template)
    for interface, template in FORWARD.items():
        if joints := robot.taking(interface):
            yield robot.spec(template, default=robot.names(joints))
    if joints := robot.taking(POSITION):
        yield robot.spec(TRAJECTORY_JOINTS, default=robot.names(joints))
        for template in TRAJECTORY.values():
            yield robot.spec(template)
        for joint in joints:
            for template in TOLERANCES.values():
                yield robot.spec(template, joint)
    if robot.gripper is not None:
        yield robot.spec(GRIPPER_JOINT, default=robot.joints.names[robot.gripper])
        for template in GRIPPER.values():
            yield robot.spec(template, robot.gripper)
