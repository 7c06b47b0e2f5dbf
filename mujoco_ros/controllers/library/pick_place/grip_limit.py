"""The mass that a gripper with two parallel fingers can hold by friction."""

from collections.abc import Sequence

import mujoco
import numpy as np

from mujoco_ros.model.robot.actuators import joint_actuators

GRAVITY = 9.81
"""[m/s²]"""
GRIP_MARGIN = 1.25
"""Required friction force over the weight: for accelerations, and for a grasp beside the centre."""


def largest_mass(force: float, friction: float) -> float:
    """Return the largest mass that two fingers can hold [kg].

    Args:
        force: Force that closes the fingers [N]; each finger pushes with half of it.
        friction: Coefficient of sliding friction between finger and object.
    """
    return friction * force / (GRIP_MARGIN * GRAVITY)


def closing_force(model: mujoco.MjModel, joint: int, position: float) -> float:
    """Return the force with which a joint's actuators can close it at a position [N].

    Args:
        model: The model.
        joint: Id of a joint of a gripper, which closes towards its lower limit.
        position: Its position [m].
    """
    total = 0.0
    for actuator in joint_actuators(model, joint):
        gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
        gear = float(model.actuator_gear[model.actuator_outadr[actuator], 0])
        control = float(model.actuator_ctrlrange[model.actuator_ctrladr[actuator], 0])
        force = gain[0] * control + bias[0] + bias[1] * position * gear
        if model.actuator_forcelimited[actuator]:
            force = float(np.clip(force, *model.actuator_forcerange[actuator]))
        total -= gear * force
    return max(0.0, total)


def sliding_friction(model: mujoco.MjModel, fingers: Sequence[int], others: Sequence[int]) -> float:
    """Return the smallest friction between one of the finger geoms and one of the others.

    The friction of two geoms is that of the one with the higher priority, or else the larger one.
    """
    values = [
        float(
            max(model.geom_friction[finger, 0], model.geom_friction[other, 0])
            if model.geom_priority[finger] == model.geom_priority[other]
            else model.geom_friction[max(finger, other, key=lambda it: model.geom_priority[it]), 0]
        )
        for finger in fingers
        for other in others
    ]
    return min(values, default=0.0)


def collision_geoms(model: mujoco.MjModel, bodies: Sequence[int]) -> list[int]:
    """Return the geoms of bodies that can touch others."""
    return [
        geom
        for body in bodies
        for geom in range(
            int(model.body_geomadr[body]),
            int(model.body_geomadr[body]) + int(model.body_geomnum[body]),
        )
        if model.geom_contype[geom] or model.geom_conaffinity[geom]
    ]
