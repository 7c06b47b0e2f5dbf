"""Balance of a robot as measured by its sensors."""

from collections.abc import Sequence

import numpy as np

from mujoco_ros.controllers.interface.observation import Observation, named_reading
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.model.errors import ambiguous
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.sensors.robot_sensors import choose_imu, find_sensor_site


def tilt(observation: Observation, robot: RobotModel, imu: str = "") -> float | None:
    """Return the angle between the base's z axis and the vertical [rad]; None if unknown.

    Source is the pose of the base, or else an IMU with orientation.

    Args:
        observation: The observation.
        robot: The robot.
        imu: Name of the IMU; empty for the only one, of the base if it has one.

    Raises:
        UserInputError: There is no such IMU, or there are several.
    """
    if observation.base is not None:
        quat: np.ndarray | None = observation.base.pose.quat_wxyz
    else:
        quat = _orientation(observation, robot, imu)
    if quat is None:
        return None
    _, x, y, _ = quat
    return float(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)))


def _orientation(observation: Observation, robot: RobotModel, name: str) -> np.ndarray | None:
    found = {it: imu for it, imu in observation.imus.items() if imu.quat_wxyz is not None}
    if not found and not name:
        return None
    if len(found) > 1 and not name:
        model = robot.model
        every = {it: find_sensor_site(model, robot.prefix, it) for it in found}
        sites = {it: site for it, site in every.items() if site >= 0}
        if not sites:
            raise ambiguous("IMU", every, "name one as 'imu'")
        root = int(model.body_rootid[model.dof_bodyid[robot.dof[0]]])
        name = choose_imu(model, sites, root)
    return named_reading("IMU with orientation", name or next(iter(found)), found).quat_wxyz


def height(observation: Observation) -> float | None:
    """Return the height of the base in ``world`` [m]; None if unknown."""
    base = observation.base
    return None if base is None else float(base.pose.position[2])


def unloaded(observation: Observation, feet: Sequence[str], least: float) -> tuple[str, ...]:
    """Return the feet whose touch sensors read less than `least` [N]."""
    touches = observation.touches
    return tuple(foot for foot in feet if touches.get(topic_token(foot), np.inf) < least)
