"""The command and state interfaces of a robot, by the names of ros2_control."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, NoReturn, Protocol

import numpy as np

from mujoco_ros.control.events import JointError
from mujoco_ros.control.joints import INTERFACES, LARGEST, POSITION, check_numbers
from mujoco_ros.control.references import as_slice
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.ros2_control.hardware_blocks import DeclaredHardware

_ROWS = {interface: row for row, interface in enumerate(INTERFACES)}
_LARGEST_SQUARE = LARGEST * LARGEST


class FrameKinematics(Protocol):
    """Poses and Jacobians of frames in the axes of a base."""

    def locate(self, q: np.ndarray) -> None:
        """Compute all poses at joint positions [rad or m].  # (k,)"""

    def pose(self, frame: str) -> tuple[np.ndarray, np.ndarray]:
        """Return position [m] and rotation of a frame in the base.  # (3,), (3, 3)"""

    def jacobian(self, frame: str) -> np.ndarray:
        """Return the Jacobian of a frame: linear, then angular rows.  # (6, k)"""


MakeKinematics = Callable[[Sequence[str], str, Sequence[str]], FrameKinematics]
"""Returns kinematics from joints, a base and frames; raises UserInputError for a wrong name."""


def _without_kinematics(_joints: Sequence[str], _base: str, _frames: Sequence[str]) -> NoReturn:
    raise UserInputError("the robot has no joints that take positions or efforts")


class _Cell(NamedTuple):
    """An element of an array outside of the joints."""

    array: np.ndarray
    at: int  # its index


class CommandInterfaces:
    """Some command interfaces, in the order of their names."""

    def __init__(self, hardware: "HardwareInterfaces", names: Sequence[str]) -> None:
        """Find interfaces by name; UserInputError if there is no such interface."""
        self.names = tuple(names)
        if len(set(names)) < len(names):
            twice = next(name for at, name in enumerate(names) if name in names[:at])
            raise UserInputError(f"command interface '{twice}' is named twice")
        self.values = np.full(len(names), np.nan)  # to be set before `write` (k,)
        self._robot, self._references = hardware.robot, hardware.robot.references
        self._cell = hardware.cell
        found = [hardware.joint_interface(name) for name in names]
        of_joints = [(at, *place) for at, place in enumerate(found) if place is not None]
        self._at, self._rows, self._columns = (
            np.array([entry[k] for entry in of_joints], dtype=np.intp) for k in range(3)
        )
        self._given = np.empty(len(self._at))
        positions = np.flatnonzero(self._rows == _ROWS[POSITION])
        self._clamps = len(positions) > 0
        self._positions, self._limited = as_slice(positions), as_slice(self._columns[positions])
        # Found anew by each `write`, as the controller that exports one may be configured again
        self._others = [(at, name) for at, name in enumerate(names) if found[at] is None]
        for _, name in self._others:
            hardware.cell(name)  # which must exist

    def write(self) -> None:
        """Write `values`; NaN is unchanged, and positions are clamped to the joints' limits.

        Raises:
            CommandError: A value is infinite or excessive; nothing is written.
            UserInputError: An interface exists no longer.
        """
        written, given = self._references.values, self._given
        self.values.take(self._at, out=given, mode="clip")  # other modes copy `out`
        if self._clamps:
            joints, limited = self._robot.joints, self._limited  # whose limits can change
            clamped = np.maximum(given[self._positions], joints.lower[limited])
            given[self._positions] = np.minimum(clamped, joints.upper[limited], out=clamped)
        if not given.dot(given) <= _LARGEST_SQUARE:  # several times faster than to look for NaN
            np.copyto(given, written[self._rows, self._columns], where=np.isnan(given))
            names = [self.names[at] for at in self._at.tolist()]
            check_numbers(given, "command", names, nan=False, kind="interface")
        written[self._rows, self._columns] = given
        for index, name in self._others:
            if not np.isnan(self.values[index]):
                cell = self._cell(name)
                cell.array[cell.at] = self.values[index]

    def read(self) -> np.ndarray:
        """Return what was written last, by any controller.  # (k,)"""
        found = np.empty(len(self.names))
        found[self._at] = self._references.values[self._rows, self._columns]
        for index, name in self._others:
            cell = self._cell(name)
            found[index] = cell.array[cell.at]
        return found


class StateInterfaces:
    """Some state interfaces, in the order of their names."""

    def __init__(self, hardware: "HardwareInterfaces", names: Sequence[str]) -> None:
        """Find interfaces by name; UserInputError if there is no such interface."""
        self.names = tuple(names)
        self.values = np.full(len(names), np.nan)  # measured when `read` was called last (k,)
        self._measure, self._sensor = hardware.measure, hardware.sensor
        found = [hardware.joint_interface(name, state=True) for name in names]
        of_joints = [(at, *place) for at, place in enumerate(found) if place is not None]
        # Of positions, velocities and efforts: indices in `values` and of joints, and a buffer
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for row in range(3):
            places = [(at, column) for at, of_row, column in of_joints if of_row == row]
            at, columns = np.array(places, dtype=np.intp).reshape(-1, 2).T.copy()
            self._parts.append((at, columns, np.empty(len(at))))
        self._others = [(at, name) for at, name in enumerate(names) if found[at] is None]
        for _, name in self._others:
            hardware.sensor(name)  # which must exist

    def read(self) -> np.ndarray:
        """Return the measured `values`, which the next call overwrites.  # (k,)"""
        for (at, columns, found), measured in zip(self._parts, self._measure(), strict=True):
            if len(at):
                self.values[at] = measured.take(columns, out=found, mode="clip")
        for index, name in self._others:
            self.values[index] = self._sensor(name)()
        return self.values


class HardwareInterfaces:
    """What controllers of a robot can claim and read: joints, sensors, references of others."""

    def __init__(
        self,
        robot: RobotControl,
        sensors: Mapping[str, Callable[[], float]] | None = None,
        declared: DeclaredHardware | None = None,
        measure: Callable[[], Sequence[np.ndarray]] | None = None,
        kinematics: MakeKinematics | None = None,
    ) -> None:
        """Use a robot; `sensors` return state interfaces as ``imu/orientation.x``.

        `measure` returns positions, velocities and efforts of the joints that differ from the true
        ones, as of imperfect encoders.  # (n,) each

        Interfaces that are `declared` and mean nothing to the simulator, such as GPIOs, are
        memory: a state is what was commanded last under the same name, or its initial value.
        """
        self.robot = robot
        self.kinematics: MakeKinematics = kinematics or _without_kinematics
        self.emit = robot.emit
        # Returns measured positions, velocities and efforts of all joints.  # (n,) each
        self.measure = measure or (lambda: (robot.q, robot.dq, robot.effort))
        self._sensors = dict(sensors or {})
        self.blocks = () if declared is None else declared.blocks
        # The references of controllers, by exported name, and the memory
        self._cells: dict[str, _Cell] = {}
        self._declared = () if declared is None else tuple(declared.initial)
        self.memory = tuple(dict.fromkeys(self._meaningless()))
        values = [0.0 if declared is None else declared.initial.get(n, 0.0) for n in self.memory]
        self.values, self._initial = np.array(values), np.array(values)  # of the memory
        self.export("", self.memory, self.values)

    def initialize(self) -> None:
        """Set interfaces that are memory to their initial values."""
        self.values[:] = self._initial

    @property
    def command_interfaces(self) -> tuple[str, ...]:
        """Names of all command interfaces."""
        joints = self.robot.joints
        own = [
            f"{name}/{interface}"
            for name, takes in zip(joints.names, joints.interfaces, strict=True)
            for interface in INTERFACES
            if interface in takes
        ]
        states = {name for block in self.blocks for name in block.states}
        commands = {name for block in self.blocks for name in block.commands}
        return (*own, *(name for name in self._cells if name in commands or name not in states))

    @property
    def state_interfaces(self) -> tuple[str, ...]:
        """Names of all state interfaces."""
        joints = self.robot.joints.names
        own = [f"{name}/{interface}" for name in joints for interface in INTERFACES]
        states = {name for block in self.blocks for name in block.states}
        return (*own, *self._sensors, *(name for name in self.memory if name in states))

    def find_joints(self, names: Sequence[str]) -> np.ndarray:
        """Return the indices of joints by name.

        Raises:
            UserInputError: There is no such joint, or one is named twice.
        """
        try:
            return self.robot.joints.find(names)
        except JointError as error:
            raise UserInputError(str(error)) from error

    def export(self, prefix: str, names: Iterable[str], values: np.ndarray) -> None:
        """Offer the elements of an array as command interfaces ``<prefix><name>``."""
        for index, name in enumerate(names):
            self._cells[f"{prefix}{name}"] = _Cell(values, index)

    def export_states(self, prefix: str, names: Iterable[str], values: np.ndarray) -> None:
        """Offer the elements of an array as state interfaces ``<prefix><name>``."""
        for index, name in enumerate(names):
            self._sensors[f"{prefix}{name}"] = partial(values.item, index)

    def withdraw(self, prefix: str) -> None:
        """Offer the interfaces of a controller no longer."""
        self._cells = {n: cell for n, cell in self._cells.items() if not n.startswith(prefix)}
        self._sensors = {n: read for n, read in self._sensors.items() if not n.startswith(prefix)}

    def joint_interface(self, name: str, *, state: bool = False) -> tuple[int, int] | None:
        """Return row and column of a joint's interface in the references; None if it is no joint's.

        Raises:
            UserInputError: The joint lacks the interface.
        """
        joint, _, interface = name.rpartition("/")
        joints = self.robot.joints
        if joint not in joints.names or name in self._cells:
            return None
        column = joints.names.index(joint)
        takes = frozenset(INTERFACES) if state else joints.interfaces[column]
        if interface not in takes:
            raise UserInputError(
                f"{'state' if state else 'command'} interface '{name}' not found; "
                + (
                    f"joint '{joint}' has: {', '.join(sorted(takes))}"
                    if takes
                    else f"joint '{joint}' has none, as no actuator moves it alone"
                )
            )
        return _ROWS[interface], column

    def cell(self, name: str) -> _Cell:
        """Return the array element of a command interface that is no joint's."""
        if name not in self._cells:
            raise unknown("command interface", name, self.command_interfaces)
        return self._cells[name]

    def sensor(self, name: str) -> Callable[[], float]:
        """Return what measures a state interface that is no joint's."""
        if name in self._sensors:
            return self._sensors[name]
        if name not in self.memory:
            raise unknown("state interface", name, self.state_interfaces)
        cell = self._cells[name]
        return partial(cell.array.item, cell.at)

    def is_constant(self, name: str) -> bool:
        """Whether nothing measures or commands a state, and nothing declares its value."""
        return (
            name in self.memory
            and name not in self._sensors
            and name not in self._declared
            and all(name not in block.commands for block in self.blocks)
        )

    def _meaningless(self) -> Iterator[str]:
        """Yield the declared interfaces that are none of a joint or a sensor in the model."""
        joints = self.robot.joints.names
        for block in self.blocks:
            for name in (*block.commands, *block.states):
                joint, _, interface = name.rpartition("/")
                is_of_joint = joint in joints and interface in INTERFACES
                if not is_of_joint and name not in self._sensors:
                    yield name

    def moved(self, interfaces: Iterable[str]) -> dict[int, set[str]]:
        """Return the kinds of the interfaces by joint, an index; other interfaces are left out."""
        found: dict[int, set[str]] = {}
        for name in interfaces:
            if (place := self.joint_interface(name)) is not None:
                found.setdefault(place[1], set()).add(INTERFACES[place[0]])
        return found
