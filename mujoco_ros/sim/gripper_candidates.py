"""Joints and tendons that seem to be grippers of robots whose scene names none."""

import logging
import re
from collections.abc import Iterator

import mujoco
import numpy as np

from mujoco_ros.control.joints import POSITION, ControlledJoints
from mujoco_ros.model.robot.actuators import tendon_dofs
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.controlled_joints import is_drivable

_NAME = re.compile(r"gripper|finger|jaw|claw|knuckle", re.IGNORECASE)
_OTHER = re.compile(r"wheel|steer|hip|knee|ankle|leg", re.IGNORECASE)
_MOST = 2
"""Number of candidates of which each is a gripper; the fingers of a hand are more."""
_LOGGER = logging.getLogger(__name__)


def suggest_gripper(model: mujoco.MjModel, robot: RobotLayout, joints: ControlledJoints) -> None:
    """Log what the key ``gripper`` could name for a robot without one."""
    names = [] if joints.has_gripper else find_grippers(model, robot, joints)
    if names:
        _LOGGER.info(
            "robot '%s': it seems to have a gripper; `gripper: %s` in a scene file gives it a "
            "gripper_controller%s",
            robot.name,
            names[0],
            f" (or {names[1]})" if len(names) > 1 else "",
        )


def find_grippers(model: mujoco.MjModel, robot: RobotLayout, joints: ControlledJoints) -> list[str]:
    """Return the names of tendons with a position servo, else of driven joints that others follow,
    else of joints with the name of a gripper.

    None of a hand with more of them, and none of several hands: a scene names one gripper.
    """
    for candidates in (
        _tendons(model, robot),
        _leaders(model, robot, joints),
        _named(robot, joints),
    ):
        if found := dict(candidates):
            parents = model.body_parentid[model.jnt_bodyid[list(found.values())]]
            hands = set(model.body_weldid[parents].tolist())
            return list(found) if len(found) <= _MOST and len(hands) == 1 else []
    return []


def _tendons(model: mujoco.MjModel, robot: RobotLayout) -> Iterator[tuple[str, int]]:
    for tendon in range(model.ntendon):
        name, dofs = model.tendon(tendon).name, tendon_dofs(model, tendon)
        if name.startswith(robot.prefix) and dofs.size and is_drivable(model, tendon):
            yield name.removeprefix(robot.prefix), model.dof_jntid[dofs[0]]


def _leaders(
    model: mujoco.MjModel, robot: RobotLayout, joints: ControlledJoints
) -> Iterator[tuple[str, int]]:
    for row in np.flatnonzero(model.eq_type == int(mujoco.mjtEq.mjEQ_JOINT)):
        for index in np.flatnonzero(robot.joints.ids == model.eq_obj2id[row]):
            name = joints.names[index]
            if POSITION in joints.interfaces[index] and not _OTHER.search(name):
                yield name, robot.joints.ids[index]


def _named(robot: RobotLayout, joints: ControlledJoints) -> Iterator[tuple[str, int]]:
    for index, name in enumerate(robot.joints.names):
        if _NAME.search(name) and POSITION in joints.interfaces[index]:
            yield name, robot.joints.ids[index]
