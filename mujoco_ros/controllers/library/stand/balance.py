"""Balance of a robot as measured by its sensors."""

from collections.abc import Sequence

import mujoco
import numpy as np

from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.model.errors import unknown
from mujoco_ros.model.sensors.robot_sensors import choose_imu


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
    model, site = robot.model, mujoco.mjtObj.mjOBJ_SITE
    found = {it: imu for it, imu in observation.imus.items() if imu.quat_wxyz is not None}
    if name and name not in found:
        raise unknown("IMU with orientation", name, found)
    if not name and found:
        sites = {it: mujoco.mj_name2id(model, site, robot.prefix + it) for it in found}
        root = int(model.body_rootid[model.dof_bodyid[robot.dof[0]]])
        name = choose_imu(model, sites, root)
    return found[name].quat_wxyz if name else None


def height(observation: Observation) -> float | None:
    """Return the height of the base in ``world`` [m]; None if unknown."""
    base = observation.base
    return None if base is None else float(base.pose.position[2])


def unloaded(observation: Observation, feet: Sequence[str], least: float) -> tuple[str, ...]:
    """Return the feet whose touch sensors read less than `least` [N]."""
    touches = observation.touches
    return tuple(foot for foot in feet if touches.get(foot, np.inf) < least)
