"""What commands each robot, made from the model."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from mujoco_ros.control.events import Event, Refused, Stopped, TakenOver
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.modes import POSITION, taken_by
from mujoco_ros.control.references import References
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import ModelError
from mujoco_ros.model.layout import Robot
from mujoco_ros.sim.drives import Drives


def robot_controls(
    model: mujoco.MjModel,
    robots: Sequence[Robot],
    drives: Drives,
    references: References,
    emit: Callable[[Event], None],
) -> list[RobotControl]:
    """Return what commands each of `robots`.

    Args:
        model: The model.
        robots: The robots, in the order of the joint arrays.
        drives: The actuators of all joints.
        references: The references of all joints.
        emit: Handed what there is to tell those who command.

    Raises:
        ModelError: The joint of a robot's gripper takes no positions.
    """
    controls = []
    first = 0
    for robot in robots:
        count = len(robot.joints.names)
        joints = _controlled_joints(model, robot, drives, first)

        def limit(joint: int, effort: float, first: int = first) -> None:
            drives.limit_effort(first + joint, effort)

        def tell(event: Event, robot: str = robot.namespace) -> None:
            if isinstance(event, TakenOver | Stopped | Refused):
                event = replace(event, robot=robot)
            emit(event)

        part = references.part(slice(first, first + count))
        controls.append(RobotControl(joints, part, float(model.opt.timestep), tell, limit))
        first += count
    return controls


def _controlled_joints(
    model: mujoco.MjModel, robot: Robot, drives: Drives, first: int
) -> ControlledJoints:
    names, ids = robot.joints.names, robot.joints.ids
    takes = tuple(taken_by(drives.modes(first + i)) for i in range(len(names)))
    limited = model.jnt_limited[ids].astype(bool)
    lower = np.where(limited, model.jnt_range[ids, 0], -np.inf)
    upper = np.where(limited, model.jnt_range[ids, 1], np.inf)
    for i in range(len(names)):
        low, high = drives.position_range(first + i)
        lower[i], upper[i] = max(lower[i], low), min(upper[i], high)
    if robot.gripper is not None and POSITION not in takes[robot.gripper]:
        able = [name for name, taken in zip(names, takes, strict=True) if POSITION in taken]
        raise ModelError(
            f"gripper of robot '{robot.name}': joint '{names[robot.gripper]}' takes no positions; "
            f"these do: {', '.join(able)}"
        )
    hinge = model.jnt_type[ids] == mujoco.mjtJoint.mjJNT_HINGE
    return ControlledJoints(
        names=names,
        takes=takes,
        lower=lower,
        upper=upper,
        continuous=hinge & np.isinf(lower) & np.isinf(upper),
        gripper=robot.gripper,
    )
