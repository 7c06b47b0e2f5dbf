"""The record of the joints of a robot in a bag."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from builtin_interfaces.msg import Time
from control_msgs.msg import JointTrajectoryControllerState
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from mujoco_ros.identification.joint_record import (
    LARGEST_DURATION_S,
    JointRecord,
    check_record,
)
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.ros.bag_reader import BagReader

_STATES = "joint_states"
_COMMANDS = ("joint_trajectory_controller/controller_state", "joint_commands")
"""Topics with the references of the drives, the best one first."""
_CLASSES = {
    "control_msgs/msg/JointTrajectoryControllerState": JointTrajectoryControllerState,
    "sensor_msgs/msg/JointState": JointState,
}


@dataclass(frozen=True, kw_only=True)
class BagTopics:
    """Topics of a bag; an empty one is searched under the names that this package uses.

    Attributes:
        namespace: Namespace of the robot; empty for none.
        states: Topic with the joint states.
        commands: Topic with the references.
    """

    namespace: str = ""
    states: str = ""
    commands: str = ""


def read_record(bag: Path, joints: Iterable[str], topics: BagTopics = BagTopics()) -> JointRecord:
    """Return the checked record of the joints of a robot.

    Args:
        bag: The bag.
        joints: Names of the joints of the robot.
        topics: Topics of the bag.

    Raises:
        UserInputError: A topic is missing, has another type or no messages, contains NaN or joints
            that come and go; or the record is rejected by `check_record`.
    """
    reader, where = BagReader(bag), f"'{bag}'"
    found = reader.topics
    prefix = f"/{topics.namespace.strip('/')}/" if topics.namespace.strip("/") else "/"
    states = _find([topics.states or prefix + _STATES], found, "joint states", where)
    if found[states] != "sensor_msgs/msg/JointState":
        raise UserInputError(f"{where}: '{states}' is a {found[states]}, not a JointState")
    wanted = [topics.commands] if topics.commands else [prefix + name for name in _COMMANDS]
    commands = _find(wanted, found, "references of the drives", where)
    if found[commands] not in _CLASSES or commands == states:
        raise UserInputError(
            f"{where}: '{commands}' is a {found[commands]}; references are in messages of "
            f"{' or '.join(_CLASSES)}"
        )
    measured = _Samples(names=())
    given: _Samples | None = None
    types: dict[str, type] = {states: JointState, commands: _CLASSES[found[commands]]}
    for topic, _, message in reader.read(types):
        if topic == states:
            measured.add_state(message, f"{where}: '{topic}'")
        else:
            given = given or _Samples(names=())
            given.add_command(message, f"{where}: '{topic}'")
    assert given is not None  # the topic has messages
    record = _record(measured, given, tuple(joints), where)
    return check_record(record, where, periodic=types[commands] is not JointState)


def _find(names: list[str], found: dict[str, str], what: str, where: str) -> str:
    for name in names:
        if name in found:
            return name
    raise UserInputError(
        f"{where}: no messages on {' or '.join(repr(name) for name in names)}, the {what}; "
        f"it has: {', '.join(sorted(found)) or 'no messages at all'}"
    )


@dataclass(kw_only=True)
class _Samples:
    """Samples of joints in the order of a topic."""

    names: tuple[str, ...]
    times: list[float] = field(default_factory=list)
    rows: list[np.ndarray] = field(default_factory=list)  # (3, k) each

    def add_state(self, message: JointState, where: str) -> None:
        names = tuple(message.name)
        self.names = self.names or names
        if names != self.names:
            raise UserInputError(
                f"{where} has messages of different joints: {', '.join(self.names)}, and then "
                f"{', '.join(names)}; record one publisher"
            )
        fields = (message.position, message.velocity, message.effort)
        self._add(message.header.stamp, _rows(fields, len(names), where), where)

    def add_command(self, message: JointState | JointTrajectoryControllerState, where: str) -> None:
        if isinstance(message, JointTrajectoryControllerState):
            names, point = tuple(message.joint_names), message.reference
            point = _reference(point, message)
            fields = (point.positions, point.velocities, point.effort)
        else:
            names = tuple(message.name)
            fields = (message.position, message.velocity, message.effort)
        new = [name for name in names if name not in self.names]
        last = self.rows[-1] if self.rows else np.full((3, 0), np.nan)
        row = np.concatenate([last, np.full((3, len(new)), np.nan)], axis=1)
        self.names += tuple(new)
        values = _rows(fields, len(names), where)
        columns = [self.names.index(name) for name in names]
        row[:, columns] = np.where(np.isnan(values), row[:, columns], values)
        self._add(message.header.stamp, row, where)

    def _add(self, stamp: Time, row: np.ndarray, where: str) -> None:
        time = stamp.sec + 1e-9 * stamp.nanosec
        if self.times and time - self.times[0] > LARGEST_DURATION_S:
            raise UserInputError(
                f"{where}: the stamps span {time - self.times[0]:.4g} s; at most "
                f"{LARGEST_DURATION_S:g} s are possible, and 60 s are good"
            )
        self.times.append(time)
        self.rows.append(row)


def _reference(
    point: JointTrajectoryPoint, message: JointTrajectoryControllerState
) -> JointTrajectoryPoint:
    """Return what the controller sends to the drives, if it reports that."""
    return message.output if len(message.output.positions) else point


def _rows(fields: Iterable[object], count: int, where: str) -> np.ndarray:
    """Return position, velocity and effort; NaN where a field is empty.  # (3, count)"""
    rows = np.full((3, count), np.nan)
    for row, values in zip(rows, fields, strict=True):
        numbers = np.asarray(values, dtype=float)
        if len(numbers) not in (0, count):
            raise UserInputError(f"{where}: {len(numbers)} values for {count} joints")
        if np.isinf(numbers).any() or (np.abs(numbers) > 1e9).any():
            raise UserInputError(f"{where}: a value is infinite or beyond 1e9")
        if len(numbers):
            row[:] = numbers
    return rows


def _record(
    measured: _Samples, given: _Samples, joints: tuple[str, ...], where: str
) -> JointRecord:
    """Return the record of the joints that the robot and the states have."""
    common = [name for name in measured.names if name in joints]
    if not common:
        raise UserInputError(
            f"{where}: the joint states are of {', '.join(measured.names)}; the robot has "
            f"{', '.join(joints)}"
        )
    columns = [measured.names.index(name) for name in common]
    states = np.array(measured.rows)[:, :, columns]
    if np.isnan(states[:, 0]).any():
        name = common[int(np.isnan(states[:, 0]).any(axis=0).argmax())]
        raise UserInputError(f"{where}: a position of joint '{name}' is NaN")
    count = len(given.names)
    rows = [
        np.pad(row, ((0, 0), (0, count - row.shape[1])), constant_values=np.nan)
        for row in given.rows
    ]
    sent = np.array(rows)
    ever = np.isfinite(sent[:, 0]).any(axis=0)
    first = int(np.isfinite(sent[:, 0, ever]).all(axis=1).argmax()) if ever.any() else 0
    references = np.full((len(sent) - first, 3, len(common)), np.nan)
    for column, name in enumerate(common):
        if name in given.names:
            references[:, :, column] = sent[first:, :, given.names.index(name)]
    return JointRecord(
        joints=tuple(common),
        times=np.array(measured.times),
        position=states[:, 0],
        velocity=states[:, 1],
        effort=states[:, 2],
        command_times=np.array(given.times[first:]),
        references=references,
    )
