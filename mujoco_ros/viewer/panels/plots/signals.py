"""What can be plotted of a robot: joints, wrenches and IMUs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.panels.robots.joint_rows import JointRow, joint_rows

AXES = ("x", "y", "z")


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    """Something that is measured, as one or several curves.

    Attributes:
        heading: Robot and kind, such as "arm joints".
        row: Which of that kind.
        label: What of it.
        unit: That of all its curves.
        curves: What each is called in a legend.
        read: Returns the present values.  # (len(curves),)
    """

    heading: str
    row: str
    label: str
    unit: str
    curves: tuple[str, ...]
    read: Callable[[], np.ndarray]

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from all others."""
        return self.heading, self.row, self.label


def signals(state: SharedState, wrench_sign: Callable[[], float]) -> list[Signal]:
    """Return all signals of the present model.

    Args:
        state: Where they are read; only as long as it has this model.
        wrench_sign: 1 for what the sensor's parent does to its child as the engine has it, else -1.
    """
    layout = state.layout
    found: list[Signal] = []
    for robot, columns in zip(layout.robots, layout.columns, strict=True):
        found += _of_joints(state, robot, columns.start)
        found += _of_wrenches(state, robot, wrench_sign)
        found += _of_imus(state, robot)
    return found


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


def _of_wrenches(
    state: SharedState, robot: RobotLayout, wrench_sign: Callable[[], float]
) -> Iterator[Signal]:
    for sensor in robot.force_torques:
        for label, unit, at in (("force", "N", sensor.force), ("torque", "Nm", sensor.torque)):
            yield Signal(
                heading=f"{robot.name} wrenches",
                row=sensor.name,
                label=label,
                unit=unit,
                curves=tuple(f"{sensor.name} {label} {axis}" for axis in AXES),
                read=_sensor(state, at, wrench_sign),
            )


def _of_imus(state: SharedState, robot: RobotLayout) -> Iterator[Signal]:
    for imu in robot.imus:
        for label, unit, at in (
            ("angular velocity", "rad/s", imu.gyro),
            ("acceleration", "m/s²", imu.accelerometer),
        ):
            if at is not None:
                yield Signal(
                    heading=f"{robot.name} IMUs",
                    row=imu.name,
                    label=label,
                    unit=unit,
                    curves=tuple(f"{imu.name} {label} {axis}" for axis in AXES),
                    read=_sensor(state, at),
                )


def _sensor(
    state: SharedState, address: int, sign: Callable[[], float] = lambda: 1.0
) -> Callable[[], np.ndarray]:
    data = state.data
    return lambda: sign() * data.sensordata[address : address + 3]
