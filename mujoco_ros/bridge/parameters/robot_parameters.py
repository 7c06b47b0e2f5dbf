"""A robot and its parameters: PD gains, and settings of its controllers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, get_args, get_type_hints

import mujoco
import numpy as np

from mujoco_ros.control.cartesian import CartesianSettings
from mujoco_ros.control.gains import LARGEST_GAIN, Gains
from mujoco_ros.control.joints import INTERFACES, POSITION, ControlledJoints
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import GripperSettings, StreamSettings, TrajectorySettings
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.names import parameter_prefix
from mujoco_ros.wire.parameter_spec import ParameterSpec

_TRAJECTORY = "joint_trajectory_controller."
_GRIPPER = "gripper_controller."


def _specs(settings: type, prefix: str = "") -> dict[str, ParameterSpec]:
    """Return the parameter of each field of a settings class."""
    kinds, specs = get_type_hints(settings), {}
    for each in fields(settings):
        metadata = dict(each.metadata)
        name = prefix + (metadata.pop("parameter") or each.name)
        default: Any = 0.0 if "<joint>" in name else each.default
        choices = get_args(kinds[each.name]) if isinstance(default, str) else ()
        specs[each.name] = ParameterSpec(name, default, choices=choices, **metadata)
    return specs


# Templates: names contain <joint>, and units two forms, for hinge and slide joints.
GAINS = tuple(
    ParameterSpec(f"gains.<joint>.{name}", 0.0, description, low=0.0, high=LARGEST_GAIN)
    for name, description in (
        ("kp", "Stiffness of the PD law [Nm/rad or N/m]"),
        ("kd", "Damping of the PD law [Nms/rad or Ns/m]"),
    )
)
GAINS_FILE = ParameterSpec(
    "gains_file",
    "",
    "File from which all PD gains are read when this is set, and by a reset: YAML, or lines of 'kp "
    "kd' in joint order; empty for the gains of the scene",
)
STREAM = _specs(StreamSettings)
"""Field of StreamSettings to its parameter."""
FORWARD = {
    interface: ParameterSpec(
        f"{interface}_controller.joints",
        (),
        f"Joints that take {interface} commands, in the order of {interface}_controller/commands",
        fixed=True,
    )
    for interface in INTERFACES
}
TRAJECTORY_JOINTS = ParameterSpec(
    f"{_TRAJECTORY}joints", (), "Joints that trajectories may name", fixed=True
)
_OF_TRAJECTORIES = _specs(TrajectorySettings, _TRAJECTORY)
TRAJECTORY = {name: spec for name, spec in _OF_TRAJECTORIES.items() if "<joint>" not in spec.name}
"""Field of TrajectorySettings to its parameter."""
TOLERANCES = {name: spec for name, spec in _OF_TRAJECTORIES.items() if "<joint>" in spec.name}
"""Field of TrajectorySettings to its parameter for each joint."""
GRIPPER_JOINT = ParameterSpec(f"{_GRIPPER}joint", "", "Joint or tendon of the gripper", fixed=True)
GRIPPER = _specs(GripperSettings, _GRIPPER)
"""Field of GripperSettings to its parameter."""
STALL_SPEED = GRIPPER["stall_velocity_threshold"]
CARTESIAN = _specs(CartesianSettings, "cartesian_controller.")
"""Field of CartesianSettings to its parameter."""
# The tolerance is the default of ros2_controllers, and the speed closes common fingers in a second.
ANGULAR_GRIPPER = {f"{_GRIPPER}goal_tolerance": 0.01, f"{_GRIPPER}max_velocity": 1.0}
"""Defaults of a gripper whose position is an angle [rad, rad/s], by name of the parameter."""


Settings = tuple[
    StreamSettings, TrajectorySettings, GripperSettings | None, CartesianSettings | None
]


@dataclass(eq=False, kw_only=True)
class RobotParameters:
    """A robot and its parameters; joints are indices into its own."""

    control: RobotControl
    prefix: str
    slides: tuple[bool, ...]
    servos: tuple[int, ...]
    controllers: bool
    of_scene: np.ndarray  # gains of the scene; the rows are kp and kd (2, n)
    of_file: np.ndarray  # gains of the file that `gains_file` names (2, n)
    specs: list[ParameterSpec] = field(default_factory=list)

    @property
    def joints(self) -> ControlledJoints:
        """Its joints."""
        return self.control.joints

    @property
    def gains_file(self) -> str:
        """Name of the parameter that names its gains file."""
        return self.prefix + GAINS_FILE.name

    @property
    def has_gripper(self) -> bool:
        """Whether it has a gripper controller."""
        return self.joints.has_gripper and self.controllers

    def commanded(self, interface: str) -> tuple[int, ...]:
        """Return the joints that the controllers of `interface` command."""
        return self.joints.with_interface(interface) if self.controllers else ()

    def names(self, joints: tuple[int, ...]) -> tuple[str, ...]:
        """Return the names of joints."""
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
        if template.name == STALL_SPEED.name:
            default = round(joints.gripper_speed_at_rest, 6)
        return self.spec(template, description=_in_unit(template, angle=angle), default=default)

    def spec(
        self, template: ParameterSpec, joint: int | None = None, **changes: Any
    ) -> ParameterSpec:
        """Return the parameter of a template, for this robot or one of its joints."""
        if joint is not None:
            changes["description"] = _in_unit(template, angle=not self.slides[joint])
        return replace(template, name=self.name(template, joint), **changes)

    @cached_property
    def gains(self) -> dict[str, tuple[int, int]]:
        """Row and joint of each gain, by parameter."""
        return {
            self.name(template, joint): (row, joint)
            for joint in self.servos
            for row, template in enumerate(GAINS)
        }

    def settings(self, values: Mapping[str, Any]) -> Settings:
        """Return its settings from the values of parameters."""

        def chosen(table: Mapping[str, ParameterSpec]) -> dict[str, Any]:
            return {name: values[self.name(template)] for name, template in table.items()}

        joints = self.commanded(POSITION)
        tolerances: dict[str, Any] = {name: np.zeros(len(self.slides)) for name in TOLERANCES}
        for name, template in TOLERANCES.items():
            for joint in joints:
                tolerances[name][joint] = values[self.name(template, joint)]
        return (
            StreamSettings(**chosen(STREAM)),
            TrajectorySettings(**tolerances, **(chosen(TRAJECTORY) if joints else {})),
            GripperSettings(**chosen(GRIPPER)) if self.has_gripper else None,
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
        """Check that its Cartesian controller can have the settings."""
        settings, cartesian = self.cartesian(values), self.control.cartesian
        if settings is None or cartesian is None:
            return
        try:
            cartesian.check(settings)
        except UserInputError as error:
            raise UserInputError(f"{self.prefix}cartesian_controller: {error}") from error


def robot_parameters(
    plant: Plant, index: int, columns: slice, controllers: bool
) -> RobotParameters:
    """Return the entry of a robot, with the gains of the scene."""
    robot, model = plant.layout.robots[index], plant.model
    types = model.jnt_type[robot.joints.ids]
    servos = set(plant.drives.servo_joints.tolist())
    rows = stacked(plant.gains.configured(plant.assembly.robots[index]))
    return RobotParameters(
        control=plant.controls[index],
        prefix=parameter_prefix(robot.namespace),
        slides=tuple((types == mujoco.mjtJoint.mjJNT_SLIDE).tolist()),
        servos=tuple(i for i in range(len(types)) if columns.start + i in servos),
        controllers=controllers,
        of_scene=rows,
        of_file=rows,
    )


def settings_specs(robot: RobotParameters) -> Iterator[ParameterSpec]:
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


def stacked(gains: Gains) -> np.ndarray:
    """Return gains as rows: kp, kd.  # (2, n)"""
    return np.stack([gains.kp, gains.kd])


def _in_unit(template: ParameterSpec, *, angle: bool) -> str:
    """Return the description of a template with the unit of angles, or else of distances."""
    unit = r"[\1]" if angle else r"[\2]"
    return re.sub(r"\[(\S+) or (\S+)\]", unit, template.description)
