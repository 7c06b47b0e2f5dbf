"""The robot that a controller commands."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class RobotModel:
    """One robot of a scene.

    Attributes:
        name: Name of the robot.
        joints: Names of its scalar joints, gripper included, in the order of all arrays.
        lower: Lower position limits; -inf if unlimited [rad or m].  # (n,)
        upper: Upper position limits; inf if unlimited.  # (n,)
        velocity: Velocity limits; inf if unknown [rad/s or m/s].  # (n,)
        effort: Effort limits of the actuators; inf if unlimited [Nm or N].  # (n,)
        home: Positions of the initial keyframe.  # (n,)
        gripper: Index of the gripper's joint; None without a gripper.
        prefix: Prefix of the robot's names in `model`.
        model: Private copy of the scene's ``mujoco.MjModel`` for kinematics and planning; it is not
            simulated.
        qpos: Addresses of the joints in ``qpos``.  # (n,)
        dof: Addresses of the joints in ``qvel``.  # (n,)
    """

    name: str
    joints: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    home: np.ndarray
    gripper: int | None
    prefix: str
    model: Any
    qpos: np.ndarray
    dof: np.ndarray
