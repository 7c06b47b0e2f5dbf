"""Gravity compensation of a robot by the engine."""

import math

import mujoco

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.actuator_limits import joint_effort


def compensate_gravity(spec: mujoco.MjSpec, where: str) -> None:
    """Compensate the weight of all links of a robot with a fixed base, as its drives would.

    The torque is part of the measured effort, and within the effort limit of the joint.

    Args:
        spec: The model of the robot.
        where: Begins the error message.

    Raises:
        UserInputError: The base is free.
    """
    model = spec.compile()
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            raise UserInputError(
                f"{where}: 'gravity_compensation' needs a fixed base; this one moves on "
                f"'{joint.name}', and would float"
            )
        joint.actgravcomp = True
        effort = joint_effort(model, model.joint(joint.name).id)
        if math.isfinite(effort):
            joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE
            joint.actfrcrange = [-effort, effort]
    for body in spec.bodies[1:]:
        body.gravcomp = 1.0
