"""The parameters of every robot: PD gains, and settings of its controllers."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.parameters.control_specs import (
    ANGULAR_GRIPPER,
    CARTESIAN,
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
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.control.cartesian.settings import CartesianSettings
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

Settings = tuple[
    StreamSettings, TrajectorySettings, GripperSettings | None, CartesianSettings | None
]


@dataclass(eq=False, kw_only=True)
class _Robot:
    """A robot and its parameters; joints are indices into its own.

    Attributes:
        of_scene: Gains of the scene; the rows are kp and kd.  # (2, n)
        of_file: Gains of the file that `gains_file` names.  # (2, n)
        specs: All its parameters.
    """

    control: RobotControl
    prefix: str
    slides: tuple[bool, ...]
    servos: tuple[int, ...]
    controllers: bool
    of_scene: np.ndarray
    of_file: np.ndarray
    specs: list[ParameterSpec] = field(default_factory=list)

    @property
    def joints(self) -> ControlledJoints:
        return self.control.joints

    @property
    def gains_file(self) -> str:
        return self.prefix + GAINS_FILE.name

    @property
    def has_gripper(self) -> bool:
        return self.joints.has_gripper and self.controllers

    def commanded(self, interface: str) -> tuple[int, ...]:
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

    def gripper_spec(self, template: ParameterSpec) -> ParameterSpec:
        """Return the parameter of a template for the gripper's joint or tendon."""
        joints = self.joints
        if joints.tendon is not None:
            angle = joints.tendon.is_angle
        else:
            angle = joints.gripper is not None and not self.slides[joints.gripper]
        default = template.default
        if angle:
            default = ANGULAR_GRIPPER.get(template.name, default)
        return self.spec(template, description=_in_unit(template, angle=angle), default=default)

    def spec(
        self, template: ParameterSpec, joint: int | None = None, **changes: Any
    ) -> ParameterSpec:
        """Return the parameter of a template, for this robot or one of its joints."""
        if joint is not None:
            changes["description"] = _in_unit(template, angle=not self.slides[joint])
        return replace(template, name=self.name(template, joint), **changes)

    def gain_indices(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Yield the parameter of each gain, and its row and column."""
        for joint in self.servos:
            for row, template in enumerate(GAINS):
                yield self.name(template, joint), (row, joint)

    def settings(self, values: Mapping[str, Any]) -> Settings:
        """Return its settings from the values of parameters."""

        def of(table: Mapping[str, ParameterSpec]) -> dict[str, Any]:
            return {name: values[self.name(template)] for name, template in table.items()}

        joints = self.commanded(POSITION)
        tolerances: dict[str, Any] = {name: np.zeros(len(self.slides)) for name in TOLERANCES}
        for name, template in TOLERANCES.items():
            for joint in joints:
                tolerances[name][joint] = values[self.name(template, joint)]
        return (
            StreamSettings(**of(STREAM)),
            TrajectorySettings(**tolerances, **(of(TRAJECTORY) if joints else {})),
            GripperSettings(**of(GRIPPER)) if self.has_gripper else None,
            self.cartesian(values),
        )

    def cartesian(self, values: Mapping[str, Any]) -> CartesianSettings | None:
        """Return the settings of its Cartesian controller from the values of parameters."""
        if not self.controllers or self.control.cartesian is None:
            return None
        return CartesianSettings(
            **{name: values[self.name(template)] for name, template in CARTESIAN.items()}
        )

    def check(self, values: Mapping[str, Any]) -> None:
        """Check that its Cartesian controller can have the settings.

        Raises:
            UserInputError: It cannot.
        """
        settings, cartesian = self.cartesian(values), self.control.cartesian
        if settings is None or cartesian is None:
            return
        try:
            cartesian.check(settings)
        except UserInputError as error:
            raise UserInputError(f"{self.prefix}cartesian_controller: {error}") from error


class ControlParameters(Component):
    """A view of the simulation's gains and of the settings of its controllers."""

    def __init__(self, context: NodeContext) -> None:
        """Declare them, and configure the simulation by their values.

        Raises:
            UserInputError: The user set an invalid value, or an invalid gains file.
        """
        self._parameters, self._simulation = context.parameters, context.simulation
        self._controllers = context.has_controllers
        self._robots: dict[Part, _Robot] = {}
        self._next: dict[Part, _Robot] = {}
        self._values: dict[str, Any] = {}  # of the parameters that the next robots bring
        self._gain_indices: dict[str, tuple[Part, int, int]] = {}  # robot, row and joint
        self._settings_of: dict[str, Part] = {}  # setting to robot
        self._changes = 0  # of gains, since the start
        self._changed_by: dict[str, int] = {}  # gain to the last of them
        self.prepare(self._simulation.plant)
        self._simulation.gains.restore()
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
            it.name for part in gone for it in self._robots[part].specs
        }
        for index, (part, columns) in enumerate(_columns(plant)):
            if part in self._robots:
                self._next[part] = self._robots[part]
                continue
            robot = self._next[part] = _robot(plant, index, columns, self._controllers)
            self._find_parameters(robot, strict=first)
            for name in (spec.name for spec in robot.specs):
                if name in taken:
                    raise UserInputError(f"two parameters would be named '{name}'; rename a joint")
                taken.add(name)
            plant.gains.configure(part, self._initial_gains(robot))
            robot.check(self._values)
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
                simulation.gains.configure(part, configured)
            if gains:
                simulation.gains.change(gains)
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
        rows = {part: _stacked(gains) for part, gains in present.items()}
        self._parameters.show(
            {
                name: float(rows[part][row, joint])
                for name, (part, row, joint) in self._gain_indices.items()
                if part in rows and self._changed_by.get(name, 0) <= gain_changes
            }
        )

    def _initial_gains(self, robot: _Robot) -> Gains:
        """Return the gains that a new robot begins with."""
        rows = robot.of_file.copy()
        for name, index in robot.gain_indices():
            rows[index] = self._values[name]
        return _gains(rows)

    def _find_parameters(self, robot: _Robot, *, strict: bool) -> None:
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
        find(_settings_specs(robot))

    def expand_parameters(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the gains in the files that a set names."""
        gains = {}
        for robot in self._robots.values():
            if robot.gains_file in values:
                robot.of_file = self._load(robot, values[robot.gains_file])
                for name, index in robot.gain_indices():
                    gains[name] = float(robot.of_file[index])
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


def _in_unit(template: ParameterSpec, *, angle: bool) -> str:
    """Return the description of a template with the unit of angles, or else of distances."""
    unit = r"[\1]" if angle else r"[\2]"
    return re.sub(r"\[(\S+) or (\S+)\]", unit, template.description)


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
        of_file=rows,
    )


def _settings_specs(robot: _Robot) -> Iterator[ParameterSpec]:
    """Yield the settings of each controller of a robot."""
    for template in STREAM.values():
        yield robot.spec(template)
    for interface, template in FORWARD.items():
        if joints := robot.commanded(interface):
            yield robot.spec(template, default=robot.names(joints))
    if joints := robot.commanded(POSITION):
        yield robot.spec(TRAJECTORY_JOINTS, default=robot.names(joints))
        for template in TRAJECTORY.values():
            yield robot.spec(template)
        for joint in joints:
            for template in TOLERANCES.values():
                yield robot.spec(template, joint)
    if robot.has_gripper:
        yield robot.spec(GRIPPER_JOINT, default=robot.joints.gripper_name)
        for template in GRIPPER.values():
            yield robot.gripper_spec(template)
    if robot.controllers and robot.control.cartesian is not None:
        for template in CARTESIAN.values():
            yield robot.spec(template)
