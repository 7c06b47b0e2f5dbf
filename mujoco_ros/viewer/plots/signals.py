"""The signals of a robot that can be plotted: of its joints and its sensors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.layout import FloatingBase, RobotLayout
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS, Measurement
from mujoco_ros.model.sensors.robot_sensors import Distances
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.joint_rows import JointRow, joint_rows

BASE_VELOCITY = "velocity"
"""Label of the velocity of a floating base."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    """A measured quantity with one or several curves."""

    heading: str  # robot and kind, such as "arm joints"
    row: str  # name of the joint or sensor
    label: str  # name of the quantity
    unit: str  # unit of all curves
    curves: tuple[str, ...]  # names in the legend
    # Returns the current values.  # (len(curves),)
    read: Callable[[], np.ndarray]

    @property
    def key(self) -> tuple[str, str, str]:
        """Unique key of the signal."""
        return self.heading, self.row, self.label


def signals(state: SharedState, wrench_sign: Callable[[], float]) -> list[Signal]:
    """Return the signals of the current model, which the state must keep while they are read."""
    layout = state.layout
    found: list[Signal] = []
    distances = Distances(state.model)
    for robot, columns in zip(layout.robots, layout.columns, strict=True):
        found += _of_bases(state, robot)
        found += _of_joints(state, robot, columns.start)
        found += _of_sensors(state, robot, wrench_sign, distances)
        found += _of_states(state, robot)
    return found


def _of_bases(state: SharedState, robot: RobotLayout) -> Iterator[Signal]:
    """Yield the velocities of floating bases, along the axes of the base as on ``odom``."""
    for base in robot.bases:
        row = base.name.removeprefix(robot.prefix)
        for label, unit, read in (
            (BASE_VELOCITY, "m/s", partial(_base_velocity, state, base)),
            ("angular velocity", "rad/s", partial(_base_turning, state, base)),
        ):
            yield Signal(
                heading=f"{robot.name} base",
                row=row,
                label=label,
                unit=unit,
                curves=tuple(f"{row} {label} {axis}" for axis in "xyz"),
                read=read,
            )


def _base_velocity(state: SharedState, base: FloatingBase) -> np.ndarray:
    quat = state.data.qpos[base.qpos + 3 : base.qpos + 7]
    return np.asarray(Pose(quat_wxyz=quat).matrix.T @ state.data.qvel[base.dof : base.dof + 3])


def _base_turning(state: SharedState, base: FloatingBase) -> np.ndarray:
    return np.asarray(state.data.qvel[base.dof + 3 : base.dof + 6])


def _of_joints(state: SharedState, robot: RobotLayout, first: int) -> Iterator[Signal]:
    for index, row in enumerate(joint_rows(state.model, robot.joints), first):
        for label, unit, read in _reads(state, row, index):
            yield Signal(
                heading=f"{robot.name} joints",
                row=row.name,
                label=label,
                unit=unit,
                curves=(f"{row.name} {label}",),
                read=read,
            )


def _reads(
    state: SharedState, row: JointRow, index: int
) -> tuple[tuple[str, str, Callable[[], np.ndarray]], ...]:
    data, one = state.data, slice(index, index + 1)
    qpos, dof = slice(row.qpos, row.qpos + 1), slice(row.dof, row.dof + 1)
    return (
        ("q", row.unit, lambda: data.qpos[qpos]),
        ("q_ref", row.unit, lambda: state.references.q[one]),
        ("torque", row.effort_unit, lambda: data.qfrc_actuator[dof]),
    )


def _of_sensors(
    state: SharedState,
    robot: RobotLayout,
    wrench_sign: Callable[[], float],
    distances: Distances,
) -> Iterator[Signal]:
    for kind in SENSOR_KINDS:
        for sensor, measurement in product(robot.sensors[kind.key], kind.measurements):
            if measurement.label and measurement.name in sensor.addresses:
                name = f"{sensor.name} {measurement.label}"
                start = sensor.addresses[measurement.name]
                numbers = slice(start, start + len(measurement.paths))
                yield Signal(
                    heading=f"{robot.name} {kind.plots}",
                    row=sensor.name,
                    label=measurement.label,
                    unit=measurement.unit,
                    curves=tuple(f"{name} {axis}" for axis in measurement.axes) or (name,),
                    read=_reader(state, measurement, numbers, wrench_sign, distances),
                )


def _of_states(state: SharedState, robot: RobotLayout) -> Iterator[Signal]:
    for sensor_state in robot.states:
        quantity = sensor_state.quantity
        numbers = slice(sensor_state.address, sensor_state.address + len(quantity.interfaces))
        yield Signal(
            heading=f"{robot.name} sensor states",
            row=sensor_state.name,
            label=quantity.name,
            unit=quantity.unit,
            curves=tuple(f"{sensor_state.name} {name}" for name in quantity.interfaces),
            read=partial(_numbers, state, numbers),
        )


def _numbers(state: SharedState, place: slice) -> np.ndarray:
    return np.asarray(state.data.sensordata[place])


def _reader(
    state: SharedState,
    measurement: Measurement,
    numbers: slice,
    wrench_sign: Callable[[], float],
    distances: Distances,
) -> Callable[[], np.ndarray]:
    data = state.data
    if measurement.is_load:
        return lambda: wrench_sign() * data.sensordata[numbers]
    if measurement.is_distance:  # out-of-range values are gaps in the curve
        return lambda: np.where(
            numbers.start in distances.out_of_range(data.sensordata),
            np.nan,
            data.sensordata[numbers],
        )
    return lambda: data.sensordata[numbers]
