"""admittance_controller/AdmittanceController."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import atan2, copysign, hypot, isnan
from typing import Any

import numpy as np

from mujoco_ros.control.events import CommandError
from mujoco_ros.control.joints import POSITION, VELOCITY, check_numbers
from mujoco_ros.control.settings import setting
from mujoco_ros.model.errors import counted
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.hardware import CommandInterfaces, HardwareInterfaces, StateInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters

_KINDS = (POSITION, VELOCITY)
_AXES = tuple(f"{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz")
_SMALLEST_MASS, _LARGEST = 1e-4, 1e8
_LIVE = ("mass", "damping_ratio", "stiffness", "selected_axes")


def _numbers(description: str, parameter: str) -> Any:
    return setting(description, parameter=f"admittance.{parameter}")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Parameters:
    joints: tuple[str, ...] = setting("Joints, from the base on")
    command_joints: tuple[str, ...] = setting("Joints that are commanded; empty for all", ())
    command_interfaces: tuple[str, ...] = setting("Their command interfaces")
    references: tuple[str, ...] = setting(
        "Exported references", _KINDS, parameter="chainable_command_interfaces"
    )
    base: str = setting("Link of the axes of all vectors", parameter="kinematics.base")
    alpha: float = setting("Damping of the inverse Jacobian", 0.01, parameter="kinematics.alpha")
    sensor: str = setting("Name of the force-torque sensor", parameter="ft_sensor.name")
    sensor_frame: str = setting("Its frame, which gives way", parameter="ft_sensor.frame.id")
    filter_coefficient: float = setting(
        "Weight of a new wrench", 0.05, high=1.0, parameter="ft_sensor.filter_coefficient"
    )
    control_frame: str = setting("Frame of the axes", parameter="control.frame.id")
    world_frame: str = setting(
        "Frame whose z axis points upwards", parameter="fixed_world_frame.frame.id"
    )
    load_frame: str = setting("Frame of the load", parameter="gravity_compensation.frame.id")
    load_centre: tuple[float, ...] = setting(
        "Its centre of gravity [m]", parameter="gravity_compensation.CoG.pos"
    )
    load_weight: float = setting("Its weight [N]", 0.0, parameter="gravity_compensation.CoG.force")
    selected_axes: tuple[bool, ...] = _numbers("Which axes yield to forces", "selected_axes")
    mass: tuple[float, ...] = _numbers("Masses [kg, kg m²]", "mass")
    damping_ratio: tuple[float, ...] = _numbers("Damping ratios", "damping_ratio")
    stiffness: tuple[float, ...] = _numbers("Stiffness [N/m, Nm/rad]", "stiffness")
    joint_damping: float = setting(
        "Damping of joints [1/s]", 5.0, high=_LARGEST, parameter="admittance.joint_damping"
    )


def _checked(parameters: ControllerParameters) -> _Parameters:
    read = parameters.read(_Parameters)
    if not read.joints:
        raise parameters.reject("joints", "is empty")
    if read.command_joints and len(read.command_joints) != len(read.joints):
        raise parameters.reject("command_joints", "has another length than 'joints'")
    for name, kinds in (
        ("command_interfaces", read.command_interfaces),
        ("chainable_command_interfaces", read.references),
    ):
        if not kinds or not set(kinds) <= set(_KINDS):
            raise parameters.reject(name, f"is {list(kinds)}; choose from: {', '.join(_KINDS)}")
    if len(read.load_centre) != 3:
        raise parameters.reject("gravity_compensation.CoG.pos", "must have 3 numbers")
    for name, low in (
        ("selected_axes", 0.0),
        ("mass", _SMALLEST_MASS),
        ("damping_ratio", 0.0),
        ("stiffness", 0.0),
    ):
        values = getattr(read, name)
        if len(values) != 6 or not all(low <= value <= _LARGEST for value in values):
            raise parameters.reject(
                f"admittance.{name}", f"must have 6 values from {low:g} to {_LARGEST:g}"
            )
    return read


class AdmittanceController(Controller):
    """Adds to a motion what lets a tool yield to forces as a mass on a spring and a damper.

    References come from messages or from another controller. Vectors have linear before angular
    components.  # (6,)
    """

    saved = ("offset", "velocity", "wrench", "_reference", "twist", "wanted_wrench")
    without_meaning = (
        *("kinematics.plugin_name", "kinematics.plugin_package", "kinematics.tip"),
        *("kinematics.group_name", "state_interfaces", "robot_description"),
        "enable_parameter_update_without_reactivation",
    )

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        read = _checked(parameters)
        self._use(read)
        commanded = read.command_joints or read.joints
        self.command_interfaces = tuple(
            f"{joint}/{kind}" for kind in read.command_interfaces for joint in commanded
        )
        sensed = [f"{read.sensor}/{axis}" for axis in _AXES]
        joints = [f"{joint}/{POSITION}" for joint in read.joints]
        self.state_interfaces = (*joints, *sensed)
        self._commands = CommandInterfaces(hardware, self.command_interfaces)
        self._states = StateInterfaces(hardware, self.state_interfaces)
        self.export_references([f"{j}/{kind}" for kind in read.references for j in read.joints])
        self._kinematics = hardware.kinematics(
            read.joints,
            read.base,
            (read.sensor_frame, read.control_frame, read.world_frame, read.load_frame),
        )
        self._centre = np.array(read.load_centre)
        count = len(read.joints)
        self._alpha = read.alpha * np.eye(count)
        self._reference = np.zeros((2, count))  # last positions and velocities
        # Of the joints: what is added to positions and velocities, and its acceleration (k,)
        self.offset, self.velocity, self.acceleration = np.zeros((3, count))
        self.wrench = np.zeros(6)  # filtered, without the load, in the axes of the world
        self.wanted_wrench = np.zeros(6)  # of messages, which is added in the sensor's frame
        # In the axes of the base: wrench, displacement of the sensor's frame, twist, acceleration
        self._in_base = np.zeros((4, 6))
        self.wrench_base, self.twist, self.displacement, self.twist_rate = self._in_base
        # In the base as well: where the references put the sensor's frame, by which rotation the
        # frame is turned against that, and the axes of the control frame
        self.place, self.turns = np.zeros(3), np.tile(np.eye(3), (3, 1, 1))

    def _use(self, read: _Parameters) -> None:
        self.parameters = read
        self.mass, self.stiffness = np.array(read.mass), np.array(read.stiffness)
        self.damping = 2.0 * np.array(read.damping_ratio) * np.sqrt(self.mass * self.stiffness)
        self._selected = np.array(read.selected_axes, dtype=float)

    @property
    def live(self) -> dict[str, list[Any]]:
        """Masses, damping ratios, stiffness and axes."""
        return {f"admittance.{name}": list(getattr(self.parameters, name)) for name in _LIVE}

    def change(self, parameters: ControllerParameters) -> Callable[[], None]:
        return partial(self._use, _checked(parameters))

    def check(self, *values: Sequence[float]) -> np.ndarray:
        """Return the references of positions and velocities, NaN without numbers.  # (2, k)"""
        joints = self.parameters.joints
        found = np.full((2, len(joints)), np.nan)
        for row, kind, numbers in zip(found, _KINDS, values, strict=True):
            if len(numbers) not in (0, len(joints)):
                raise CommandError(f"{len(numbers)} {kind}s for {counted(len(joints), 'joint')}")
            if len(numbers):
                row[:] = numbers
                check_numbers(row, kind, joints, nan=False)
        return found

    def command(self, references: np.ndarray) -> None:
        """Follow checked references, unless it is chained."""
        if not self.is_chained:
            for at, kind in enumerate(self.parameters.references):
                row = references[_KINDS.index(kind)]
                part = self.references.reshape(-1, len(row))[at]
                np.copyto(part, row, where=~np.isnan(row))

    def push(self, wrench: np.ndarray) -> None:
        """Add a wrench, in the frame of the sensor, to the measured one from now on.  # (6,)"""
        self.wanted_wrench[:] = wrench

    def activate(self) -> None:
        """Begin without displacement, with the measured positions as references."""
        self.references[:] = np.nan  # former references would move the robot back
        self._reference[0], self._reference[1] = np.nan, 0.0
        for state in (self.offset, self.velocity, self.wrench, self.twist, self.wanted_wrench):
            state[:] = 0.0

    def update(self, time: float, period: float) -> None:
        """Write the references with what the wrench adds to them."""
        count = len(self.offset)
        states, reference = self._states.read(), self._reference
        if np.isnan(reference[0, 0]):  # the first update
            reference[0] = states[:count]
        for at, kind in enumerate(self.parameters.references):
            given = self.references[at * count : (at + 1) * count]
            np.copyto(reference[_KINDS.index(kind)], given, where=~np.isnan(given))
        measured = states[count:]
        if isnan(measured.dot(measured)):
            measured = np.zeros(6)
        self._yield(states[:count], measured, period)
        added = {POSITION: self.offset, VELOCITY: self.velocity}
        written = self._commands.values.reshape(-1, count)
        for row, kind in zip(written, self.parameters.command_interfaces, strict=True):
            np.add(reference[_KINDS.index(kind)], added[kind], out=row)
        self._commands.write()

    def _yield(self, q: np.ndarray, measured: np.ndarray, period: float) -> None:
        """Integrate the motion of mass, spring and damper at measured positions and wrench."""
        read, kinematics = self.parameters, self._kinematics
        kinematics.locate(self._reference[0])
        place, turn = kinematics.pose(read.sensor_frame)
        kinematics.locate(q)
        here, sensor = kinematics.pose(read.sensor_frame)
        axes, offset = kinematics.pose(read.control_frame)[1], sensor @ turn.T
        self.place[:] = place
        self.turns[0], self.turns[1], self.turns[2] = turn, offset, axes
        self.displacement[:3], self.displacement[3:] = here - place, _rotation(offset)
        world = kinematics.pose(read.world_frame)[1]
        self._filter(measured + self.wanted_wrench, world.T @ sensor, world)
        self.wrench_base[:] = _turned(world, self.wrench)
        wrench, twist, displacement = _turned(axes.T, self._in_base[:3])
        force = wrench * self._selected - self.damping * twist - self.stiffness * displacement
        jacobian = kinematics.jacobian(read.sensor_frame)
        square = jacobian.T @ jacobian + self._alpha
        rate = jacobian.T @ _turned(axes, force / self.mass)
        self.acceleration[:] = np.linalg.solve(square, rate) - read.joint_damping * self.velocity
        self.velocity += self.acceleration * period
        self.offset += self.velocity * period
        self.twist[:] = jacobian @ self.velocity
        self.twist_rate[:] = jacobian @ self.acceleration

    def _filter(self, measured: np.ndarray, sensor: np.ndarray, world: np.ndarray) -> None:
        """Subtract the load, and filter; `sensor` (3, 3) turns into the axes of the world."""
        read = self.parameters
        load = world.T @ self._kinematics.pose(read.load_frame)[1]
        new = np.concatenate([sensor @ measured[:3], sensor @ measured[3:]])
        x, y, _ = load @ self._centre
        new[2] += read.load_weight
        new[3:5] += read.load_weight * np.array([y, -x])
        self.wrench += read.filter_coefficient * (new - self.wrench)


def _turned(matrix: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Turn the linear and the angular parts of vectors.  # (…, 6)"""
    turned: np.ndarray = (vectors.reshape(-1, 3) @ matrix.T).reshape(vectors.shape)
    return turned


def quaternion_xyzw(turn: np.ndarray) -> np.ndarray:
    """Return the unit quaternion of a rotation matrix (3, 3).  # (4,)"""
    (xx, a, b), (c, yy, d), (e, f, zz) = turn.tolist()
    products = (  # of each of its components with all, times 4
        (1.0 + xx - yy - zz, c + a, b + e, f - d),
        (c + a, 1.0 - xx + yy - zz, f + d, b - e),
        (b + e, f + d, 1.0 - xx - yy + zz, c - a),
        (f - d, b - e, c - a, 1.0 + xx + yy + zz),
    )
    _, row = max((row[at], row) for at, row in enumerate(products))
    return np.array(row) / hypot(*row)


def _rotation(turn: np.ndarray) -> np.ndarray:
    """Return the rotation vector of a matrix (3, 3), of at most half a turn.  # (3,) [rad]"""
    x, y, z, w = quaternion_xyzw(turn).tolist()
    sine = hypot(x, y, z)
    factor = 2.0 * atan2(sine, abs(w)) / sine if sine else 2.0
    return np.array([x, y, z]) * copysign(factor, w)
