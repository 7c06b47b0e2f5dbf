"""The record of the joints of a robot in a bag."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from sensor_msgs.msg import JointState

from mujoco_ros.identification.joint_record import LARGEST_DURATION_S, JointRecord, check_record
from mujoco_ros.model.errors import UserInputError, counted
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
    """Topics of a bag; an empty one is searched under the names that this package uses."""

    namespace: str = ""  # of the robot
    states: str = ""
    commands: str = ""  # the references


def read_record(bag: Path, joints: Iterable[str], topics: BagTopics = BagTopics()) -> JointRecord:
    """Return the checked record of the joints of a robot."""
    reader, where = BagReader(bag), f"'{bag}'"
    found = reader.topics
    prefix = f"/{topics.namespace.strip('/')}/".replace("//", "/")
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
    samples = {states: _Samples(holds=False), commands: _Samples(holds=True)}
    types: dict[str, type] = {states: JointState, commands: _CLASSES[found[commands]]}
    for topic, _, message in reader.read(types):
        samples[topic].add(message, f"{where}: '{topic}'")
    record = _record(samples[states], samples[commands], tuple(joints), where)
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

    holds: bool
    """Whether a joint without a number has its last one, so that joints may be missing."""
    names: tuple[str, ...] = ()
    times: list[float] = field(default_factory=list)  # stamps [s]
    rows: list[np.ndarray] = field(default_factory=list)  # (3, k) each, of the joints so far

    def add(self, message: Any, where: str) -> None:
        names, fields = _content(message)
        if self.names and names != self.names and not self.holds:
            raise UserInputError(
                f"{where} has messages of different joints: {', '.join(self.names)}, and then "
                f"{', '.join(names)}; record one publisher"
            )
        self.names += tuple(name for name in names if name not in self.names)
        time = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        if self.times and time - self.times[0] > LARGEST_DURATION_S:
            raise UserInputError(
                f"{where}: the stamps span {time - self.times[0]:.4g} s; at most "
                f"{LARGEST_DURATION_S:g} s are possible, and 60 s are good"
            )
        row = np.full((3, len(self.names)), np.nan)
        if self.holds and self.rows:
            row[:, : self.rows[-1].shape[1]] = self.rows[-1]
        columns = [self.names.index(name) for name in names]
        for own, given in zip(row, fields, strict=True):
            numbers = np.asarray(given, dtype=float)
            if len(numbers) not in (0, len(names)):
                raise UserInputError(
                    f"{where}: {counted(len(numbers), 'value')} for {counted(len(names), 'joint')}"
                )
            if np.isinf(numbers).any() or (np.abs(numbers) > 1e9).any():
                raise UserInputError(f"{where}: a value is infinite or beyond 1e9")
            if len(numbers):
                own[columns] = np.where(np.isnan(numbers), own[columns], numbers)
        self.times.append(time)
        self.rows.append(row)


def _content(message: Any) -> tuple[tuple[str, ...], tuple[Any, Any, Any]]:
    """Return joints, positions, velocities and efforts: what a controller sends, if reported."""
    if isinstance(message, JointState):
        return tuple(message.name), (message.position, message.velocity, message.effort)
    point = message.output if len(message.output.positions) else message.reference
    return tuple(message.joint_names), (point.positions, point.velocities, point.effort)


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
    sent = np.full((len(given.rows), 3, len(given.names)), np.nan)
    for row, values in zip(sent, given.rows, strict=True):
        row[:, : values.shape[1]] = values
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
