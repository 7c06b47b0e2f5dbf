"""Observations of a robot in a simulation."""

import mujoco
import numpy as np

from mujoco_ros.control.index_ranges import as_slice
from mujoco_ros.controllers.interface.observation import (
    BaseReading,
    ImuReading,
    Observation,
    Pose,
    WrenchReading,
)
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.robot.layout import FloatingBase
from mujoco_ros.model.sensors.site_sensors import ForceTorqueSensor, ImuSensor
from mujoco_ros.sim.plant import Plant


class ObservationSource:
    """Creates observations from the present sample; names are those of topics and TF frames.

    A wrench is the load of the child body on its parent, whatever the sign of the topics; MuJoCo
    reports the opposite sign.
    """

    def __init__(self, plant: Plant, index: int) -> None:
        """Observe the robot with an index in the layout."""
        robot = plant.layout.robots[index]
        self._sample = plant.sample
        self._qpos, self._dof = as_slice(robot.joints.qpos), as_slice(robot.joints.dof)
        self._base = robot.bases[0] if robot.bases else None
        self._imus = {topic_token(imu.name): imu for imu in robot.imus}
        self._wrenches = {topic_token(sensor.name): sensor for sensor in robot.force_torques}
        self._touches = {topic_token(sensor.name): sensor.force for sensor in robot.touches}
        self._objects = tuple((name, base.qpos) for name, base in plant.layout.free_objects)

    def observe(self, time: float) -> Observation:
        """Return the observation of the sample at `time` [s]."""
        sample = self._sample
        # One copy of each array; the observation has views of them.
        qpos, qvel, readings = sample.qpos.copy(), sample.qvel.copy(), sample.sensordata.copy()
        return Observation(
            time=time,
            q=qpos[self._qpos],
            dq=qvel[self._dof],
            effort=sample.qfrc_actuator.copy()[self._dof],
            base=None if self._base is None else _base(self._base, qpos, qvel),
            imus={name: _inertial(imu, readings) for name, imu in self._imus.items()},
            wrenches={name: _wrench(sensor, readings) for name, sensor in self._wrenches.items()},
            touches={name: float(readings[i]) for name, i in self._touches.items()},
            objects={name: _pose(qpos, start) for name, start in self._objects},
        )


def _pose(qpos: np.ndarray, start: int) -> Pose:
    return Pose(position=qpos[start : start + 3], quat_wxyz=qpos[start + 3 : start + 7])


def _base(base: FloatingBase, qpos: np.ndarray, qvel: np.ndarray) -> BaseReading:
    """Rotate the linear velocity, which MuJoCo has in world axes, into the base frame."""
    pose, linear, inverse = _pose(qpos, base.qpos), np.zeros(3), np.zeros(4)
    mujoco.mju_negQuat(inverse, pose.quat_wxyz)
    mujoco.mju_rotVecQuat(linear, qvel[base.dof : base.dof + 3], inverse)
    return BaseReading(pose=pose, linear=linear, angular=qvel[base.dof + 3 : base.dof + 6])


def _inertial(imu: ImuSensor, readings: np.ndarray) -> ImuReading:
    """Read an IMU; quantities without a sensor are NaN."""
    orientation = imu.orientation
    return ImuReading(
        angular_velocity=_vector(imu.gyro, readings),
        linear_acceleration=_vector(imu.accelerometer, readings),
        quat_wxyz=None if orientation is None else readings[orientation : orientation + 4],
    )


def _vector(start: int | None, readings: np.ndarray) -> np.ndarray:
    return np.full(3, np.nan) if start is None else readings[start : start + 3]


def _wrench(sensor: ForceTorqueSensor, readings: np.ndarray) -> WrenchReading:
    return WrenchReading(
        force=-readings[sensor.force : sensor.force + 3],
        torque=-readings[sensor.torque : sensor.torque + 3],
    )
