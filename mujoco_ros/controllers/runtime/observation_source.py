"""Observations of a robot in a simulation."""

from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.references import as_slice
from mujoco_ros.controllers.interface.observation import BaseReading, Observation, Pose, reading
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.robot.layout import FloatingBase
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS, SensorKind
from mujoco_ros.model.sensors.robot_sensors import Distances, RobotSensor
from mujoco_ros.sim.plant import Plant


class ObservationSource:
    """Creates observations from the current sample; sensors have the names of their topics.

    A wrench is the load of the child body on its parent, for any sign of the topics; MuJoCo
    reports the opposite sign.
    """

    def __init__(self, plant: Plant, index: int) -> None:
        """Observe the robot with an index in the layout."""
        robot = plant.layout.robots[index]
        self._sample = plant.sample
        self._qpos, self._dof = as_slice(robot.joints.qpos), as_slice(robot.joints.dof)
        self._base = robot.base
        self._sensors = {
            kind.observation: [
                (topic_token(sensor.name), _numbers(kind, sensor))
                for sensor in robot.sensors[kind.key]
            ]
            for kind in SENSOR_KINDS
            if robot.sensors[kind.key]
        }
        self._states = [
            (state.name, slice(state.address, state.address + len(state.quantity.interfaces)))
            for state in robot.states
        ]
        self._distances = Distances(plant.model)
        self._objects = tuple((name, base.qpos) for name, base in plant.layout.free_objects)
        self._object_names = tuple(name for name, _ in self._objects)

    def observe(self, time: float) -> Observation:
        """Return the observation of the sample at `time` [s]."""
        sample = self._sample
        # One copy of each array; the observation has views of them.
        qpos, qvel, sensordata = sample.qpos.copy(), sample.qvel.copy(), sample.sensordata.copy()
        q, dq = qpos, qvel
        if sample.measured_qpos is not sample.qpos:
            q, dq = sample.measured_qpos.copy(), sample.measured_qvel.copy()
        self._distances.mark(sensordata)
        readings: dict[str, Any] = {
            entry: {name: _reading(entry, numbers, sensordata) for name, numbers in sensors}
            for entry, sensors in self._sensors.items()
        }
        return Observation(
            time=time,
            q=q[self._qpos],
            dq=dq[self._dof],
            effort=sample.measured_effort.copy()[self._dof],
            base=None if self._base is None else _base(self._base, q, dq),
            sensor_states={name: sensordata[at] for name, at in self._states},
            objects={name: _pose(qpos, start) for name, start in self._objects},
            object_times=dict.fromkeys(self._object_names, time),
            **readings,
        )


_Numbers = list[tuple[str, int | slice, float, bool]]
"""Name, address in sensordata, sign and precision of each measurement of a sensor."""


def _numbers(kind: SensorKind, sensor: RobotSensor) -> _Numbers:
    found: _Numbers = []
    for measurement in kind.measurements:
        first = sensor.addresses.get(measurement.name)
        if first is not None:
            place = slice(first, first + len(measurement.axes)) if measurement.axes else first
            sign = -1.0 if measurement.is_load else 1.0
            found.append((measurement.name, place, sign, measurement.is_single))
    return found


def _reading(entry: str, numbers: _Numbers, sensordata: np.ndarray) -> Any:
    values = {
        name: sign * (sensordata[at] if isinstance(at, slice) else _number(sensordata, at, single))
        for name, at, sign, single in numbers
    }
    return reading(entry, values)


def _number(sensordata: np.ndarray, address: int, is_single: bool) -> float:
    value: float = sensordata.item(address)
    return float(np.float32(value)) if is_single else value


def _pose(qpos: np.ndarray, start: int) -> Pose:
    return Pose(position=qpos[start : start + 3], quat_wxyz=qpos[start + 3 : start + 7])


def _base(base: FloatingBase, qpos: np.ndarray, qvel: np.ndarray) -> BaseReading:
    """Rotate the linear velocity, which MuJoCo has in world axes, into the base frame."""
    pose, linear, inverse = _pose(qpos, base.qpos), np.zeros(3), np.zeros(4)
    mujoco.mju_negQuat(inverse, pose.quat_wxyz)
    mujoco.mju_rotVecQuat(linear, qvel[base.dof : base.dof + 3], inverse)
    return BaseReading(pose=pose, linear=linear, angular=qvel[base.dof + 3 : base.dof + 6])
