"""The robot a controller is for, told once before it begins."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class RobotModel:
    """One robot of a scene.

    Attributes:
        name: Of the robot.
        joints: Names of its scalar joints, gripper included, in the order of all arrays.
        lower: Lower position limits; -inf where there is none [rad or m].  # (n,)
        upper: Upper position limits.  # (n,)
        velocity: Largest speeds; inf where none is known [rad/s or m/s].  # (n,)
        effort: Largest efforts of the actuators; inf where there is no limit [Nm or N].  # (n,)
        home: Positions of its initial keyframe.  # (n,)
        gripper: Index of the gripper's joint, if it has one.
        prefix: What its names carry in `model`.
        model: An ``mujoco.MjModel`` of robot and surroundings for the controller alone, to compute
            kinematics in and plan against. No simulation steps it.
        qpos: Addresses of the joints in `model`'s positions.  # (n,)
        dof: Addresses of the joints in `model`'s velocities.  # (n,)
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
