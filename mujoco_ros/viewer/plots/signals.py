"""The signals of a robot that can be plotted: of its joints and its sensors."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import mujoco
import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.layout import FloatingBase, RobotLayout
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS, Measurement
from mujoco_ros.model.sensors.robot_sensors import Distances
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.joint_rows import joint_rows

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


def _signal(
    heading: str,
    row: str,
    label: str,
    unit: str,
    read: Callable[[], np.ndarray],
    axes: Iterable[str] = (),
) -> Signal:
    """Return a signal with a curve for each axis, or one."""
    name = f"{row} {label}"
    curves = tuple(f"{name} {axis}" for axis in axes) or (name,)
    return Signal(heading=heading, row=row, label=label, unit=unit, curves=curves, read=read)


def _of_bases(state: SharedState, robot: RobotLayout) -> Iterator[Signal]:
    """Yield the velocities of floating bases, along the axes of the base as on ``odom``."""
    for base in robot.bases:
        heading, row = f"{robot.name} base", base.name.removeprefix(robot.prefix)
        linear, angular = partial(_base_velocity, state, base), partial(_base_turning, state, base)
        yield _signal(heading, row, BASE_VELOCITY, "m/s", linear, "xyz")
        yield _signal(heading, row, "angular velocity", "rad/s", angular, "xyz")


def _base_velocity(state: SharedState, base: FloatingBase) -> np.ndarray:
    quat = state.data.qpos[base.qpos + 3 : base.qpos + 7]
    return np.asarray(Pose(quat_wxyz=quat).matrix.T @ state.data.qvel[base.dof : base.dof + 3])


def _base_turning(state: SharedState, base: FloatingBase) -> np.ndarray:
    return np.asarray(state.data.qvel[base.dof + 3 : base.dof + 6])


def _of_joints(state: SharedState, robot: RobotLayout, first: int) -> Iterator[Signal]:
    data, heading = state.data, f"{robot.name} joints"
    for index, row in enumerate(joint_rows(state.model, robot.joints), first):
        position = partial(np.take, data.qpos, [row.qpos])
        torque = partial(np.take, data.qfrc_actuator, [row.dof])
        yield _signal(heading, row.name, "q", row.unit, position)
        yield _signal(heading, row.name, "q_ref", row.unit, partial(_reference, state, index))
        yield _signal(heading, row.name, "torque", row.effort_unit, torque)


def _reference(state: SharedState, index: int) -> np.ndarray:
    return state.references.q[index : index + 1]


def _of_sensors(
    state: SharedState,
    robot: RobotLayout,
    wrench_sign: Callable[[], float],
    distances: Distances,
) -> Iterator[Signal]:
    for kind in SENSOR_KINDS:
        for sensor, measurement in product(robot.sensors[kind.key], kind.measurements):
            if measurement.label and measurement.name in sensor.addresses:
                start = sensor.addresses[measurement.name]
                numbers = slice(start, start + len(measurement.paths))
                read = _reader(state.data, measurement, numbers, wrench_sign, distances)
                names = f"{robot.name} {kind.plots}", sensor.name, measurement.label
                yield _signal(*names, measurement.unit, read, measurement.axes)


def _of_states(state: SharedState, robot: RobotLayout) -> Iterator[Signal]:
    for sensor_state in robot.states:
        quantity, name = sensor_state.quantity, sensor_state.name
        end = sensor_state.address + len(quantity.interfaces)
        yield Signal(
            heading=f"{robot.name} sensor states",
            row=name,
            label=quantity.name,
            unit=quantity.unit,
            curves=tuple(f"{name} {interface}" for interface in quantity.interfaces),
            read=partial(np.take, state.data.sensordata, range(sensor_state.address, end)),
        )


def _reader(
    data: mujoco.MjData,
    measurement: Measurement,
    numbers: slice,
    wrench_sign: Callable[[], float],
    distances: Distances,
) -> Callable[[], np.ndarray]:
    values = data.sensordata[numbers]
    if measurement.is_load:
        return lambda: wrench_sign() * values
    if measurement.is_distance:  # out-of-range values are gaps in the curve
        return lambda: np.where(
            numbers.start in distances.out_of_range(data.sensordata), np.nan, values
        )
    return lambda: values
