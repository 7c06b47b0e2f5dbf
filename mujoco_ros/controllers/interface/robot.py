"""The robot that a controller commands."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class RobotModel:
    """One robot of a scene, or several that one controller commands.

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
            simulated, and never changes: another scene has another `RobotModel`.
        qpos: Addresses of the joints in ``qpos``.  # (n,)
        dof: Addresses of the joints in ``qvel``.  # (n,)
        robots: The robots of a controller of several, by the name in its table; their joints
            follow each other in all arrays. Empty for a single robot.
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
    robots: "Mapping[str, RobotModel]" = field(default_factory=dict)

    @classmethod
    def of_several(cls, robots: "Mapping[str, RobotModel]") -> "RobotModel":
        """Return several robots as one, with joints ``<robot>/<joint>``, or the one robot ""."""
        if "" in robots:
            return robots[""]
        each = tuple(robots.values())
        arrays = ("lower", "upper", "velocity", "effort", "home", "qpos", "dof")
        return cls(
            name=", ".join(robot.name for robot in each),
            joints=tuple(
                f"{name}/{joint}" for name, robot in robots.items() for joint in robot.joints
            ),
            gripper=None,
            prefix="",
            model=each[0].model,
            robots=robots,
            **{
                array: np.concatenate([getattr(robot, array) for robot in each]) for array in arrays
            },
        )
