"""Every robot's parameters: PD gains, and how it treats what it is told."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.gains import Gains, load_gains
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.modes import POSITION
from mujoco_ros.control.settings import GripperSettings, StreamSettings, TrajectorySettings
from mujoco_ros.model.errors import ModelError
from mujoco_ros.model.uri import check_file, resolve
from mujoco_ros.ros.control_specs import (
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
from mujoco_ros.ros.parameters import Parameters, Spec
from mujoco_ros.sim.simulation import Simulation

Settings = tuple[StreamSettings, TrajectorySettings, GripperSettings | None]


@dataclass(frozen=True, kw_only=True)
class _Robot:
    """A robot and what there is to set of it; joints are indices into its own."""

    joints: ControlledJoints
    prefix: str
    first: int  # of its joints among those of all robots
    slides: tuple[bool, ...]
    servos: tuple[int, ...]
    controllers: bool

    @property
    def columns(self) -> slice:
        """Its joints among those of all robots."""
        return slice(self.first, self.first + len(self.joints.names))

    @property
    def gains_file(self) -> str:
        return self.prefix + GAINS_FILE.name

    @property
    def gripper(self) -> int | None:
        return self.joints.gripper if self.controllers else None

    def taking(self, interface: str) -> tuple[int, ...]:
        """Return the joints that the controllers of `interface` command."""
        return self.joints.taking(interface) if self.controllers else ()

    def names(self, joints: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(self.joints.names[joint] for joint in joints)

    def name(self, template: Spec, joint: int | None = None) -> str:
        """Return the parameter that a template makes for this robot, or one joint of it."""
        name = template.name
        if joint is not None:
            name = name.replace("<joint>", self.joints.names[joint])
        return self.prefix + name

    def spec(self, template: Spec, joint: int | None = None, **changes: Any) -> Spec:
        """Return what a template makes for this robot, or one joint of it."""
        if joint is not None:
            unit = r"[\2]" if self.slides[joint] else r"[\1]"
            changes["description"] = re.sub(r"\[(\S+) or (\S+)\]", unit, template.description)
        return replace(template, name=self.name(template, joint), **changes)


class ControlParameters:
    """Declares the parameters of all robots, and turns accepted changes into commands.

    Everything here runs in the executor's thread; what `change` returns is for the physics thread.
    """

    def __init__(self, parameters: Parameters, simulation: Simulation) -> None:
        """Declare them, and give `simulation`, which does not run yet, what they say.

        Raises:
            ModelError: The user gave a value that a parameter cannot take, or a broken gains file.
        """
        self._parameters = parameters
        self._simulation = simulation
        self._robots = list(_robots(simulation, not parameters.values["ros2_control"]))
        # Of all joints; the rows are kp and kd.  # (2, n)
        self._of_scene = _stacked(simulation.configured_gains)
        self._gains = self._of_scene.copy()
        self._files: dict[int, np.ndarray] = {}  # what the set being decided on read: robot to rows
        self._place: dict[str, tuple[int, int]] = {}  # gain to row and column
        self._owner: dict[str, int] = {}  # setting to robot
        self._changes = 0  # of gains, since the start
        self._changed_by: dict[str, int] = {}  # gain to the last of them
        for index, robot in enumerate(self._robots):
            if robot.servos:
                self._declare_gains(robot)
            specs = list(_settings_specs(robot))
            parameters.declare(specs)
            self._owner |= dict.fromkeys((spec.name for spec in specs), index)
        self._configured = self._gains.copy()
        simulation.configured_gains = _gains(self._configured)
        simulation.drives.set_gains(*self._gains)
        for index, control in enumerate(simulation.controls):
            control.configure(*self.settings(index))
        parameters.expand = self._expand

    def settings(self, robot: int) -> Settings:
        """Return the present settings of the robot with an index."""
        values, of = self._parameters.values, self._robots[robot]

        def read(table: Mapping[str, Spec]) -> dict[str, Any]:
            return {field: values[of.name(template)] for field, template in table.items()}

        joints = of.taking(POSITION)
        tolerances: dict[str, Any] = {field: np.zeros(len(of.slides)) for field in TOLERANCES}
        for field, template in TOLERANCES.items():
            for joint in joints:
                tolerances[field][joint] = values[of.name(template, joint)]
        return (
            StreamSettings(**read(STREAM)),
            TrajectorySettings(**tolerances, **(read(TRAJECTORY) if joints else {})),
            None if of.gripper is None else GripperSettings(**read(GRIPPER)),
        )

    def change(self, values: Mapping[str, Any]) -> Callable[[], None]:
        """Return the command that makes accepted parameters take effect."""
        for index, robot in enumerate(self._robots):
            if robot.gains_file in values:
                self._configured[:, robot.columns] = self._files[index]
        gains = [
            (self._place[name], value) for name, value in values.items() if name in self._place
        ]
        for place, value in gains:
            self._gains[place] = value
        if gains:
            self._changes += 1
            self._changed_by |= dict.fromkeys(values.keys() & self._place.keys(), self._changes)
        configured, new = _gains(self._configured), _gains(self._gains)
        robots = {self._owner[name] for name in values if name in self._owner}
        simulation = self._simulation
        settings = [(simulation.controls[robot], self.settings(robot)) for robot in robots]

        def command() -> None:
            simulation.configured_gains = configured
            if gains:
                simulation.drives.set_gains(new.kp, new.kd)
                simulation.gain_changes += 1
            for control, changed in settings:
                control.configure(*changed)

        return command

    def restore_gains(self, gain_changes: int) -> None:
        """Set the gains back to the configured ones, as a reset of the simulation did.

        Args:
            gain_changes: How many changes of gains that reset undid; later ones are in force.
        """
        wrong = self._gains != self._configured
        gains = {
            name: float(self._configured[place])
            for name, place in self._place.items()
            if wrong[place] and self._changed_by.get(name, 0) <= gain_changes
        }
        if gains:
            self._parameters.set(gains)

    def _declare_gains(self, robot: _Robot) -> None:
        spec = robot.spec(GAINS_FILE)
        rows = self._load(robot, self._parameters.declare([spec])[spec.name])
        for joint in robot.servos:
            for row, template in enumerate(GAINS):
                spec = robot.spec(template, joint, default=float(rows[row, joint]))
                place = row, robot.first + joint
                self._gains[place] = self._parameters.declare([spec])[spec.name]
                self._place[spec.name] = place

    def _expand(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the gains in the files that a set of parameters names."""
        gains = {}
        for index, robot in enumerate(self._robots):
            if robot.gains_file not in values:
                continue
            rows = self._files[index] = self._load(robot, values[robot.gains_file])
            for joint in robot.servos:
                for row, template in enumerate(GAINS):
                    gains[robot.name(template, joint)] = float(rows[row, joint])
        return gains

    def _load(self, robot: _Robot, file: str) -> np.ndarray:
        """Return the gains of a robot's joints that a file has, or the scene if there is no file.

        Raises:
            ModelError: There is no such file, or it is wrong.
        """
        rows = self._of_scene[:, robot.columns].copy()
        if file:
            servos = list(robot.servos)
            try:
                path = resolve(file, Path.cwd())
                check_file(path, "gains file")
                read = load_gains(path, robot.joints.names, robot.names(robot.servos))
            except ModelError as error:
                raise ModelError(
                    f"parameter '{robot.gains_file}' cannot be {file!r}: {error}"
                ) from error
            rows[:, servos] = _stacked(read)[:, servos]
        return rows


def _gains(rows: np.ndarray) -> Gains:
    kp, kd = rows.copy()
    return Gains(kp=kp, kd=kd)


def _stacked(gains: Gains) -> np.ndarray:
    return np.stack([gains.kp, gains.kd])


def _robots(simulation: Simulation, controllers: bool) -> Iterator[_Robot]:
    servos = set(simulation.drives.servo_joints.tolist())
    first = 0
    for robot, control in zip(simulation.layout.robots, simulation.controls, strict=True):
        types = simulation.model.jnt_type[robot.joints.ids]
        yield _Robot(
            joints=control.joints,
            prefix=robot.namespace.replace("/", ".") + "." if robot.namespace else "",
            first=first,
            slides=tuple((types == mujoco.mjtJoint.mjJNT_SLIDE).tolist()),
            servos=tuple(i for i in range(len(types)) if first + i in servos),
            controllers=controllers,
        )
        first += len(types)


def _settings_specs(robot: _Robot) -> Iterator[Spec]:
    """Yield how a robot treats what it is told, for each controller it has."""
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
