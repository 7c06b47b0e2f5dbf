"""The command arbitration of each robot, built from the model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from mujoco_ros.control.events import CommandPreempted, CommandRejected, Event, StreamStopped
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.modes import POSITION, command_interfaces
from mujoco_ros.control.references import References
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.drives import Drives


def robot_controls(
    assembly: Assembly,
    layout: ModelLayout,
    drives: Drives,
    references: References,
    emit: Callable[[Event], None],
    staying: Mapping[Part, RobotControl],
) -> list[RobotControl]:
    """Return the command arbitration of each robot.

    Args:
        assembly: The scene.
        layout: Its robots.
        drives: The actuators of all joints.
        references: The references of all joints.
        emit: Called with events for the sources of commands.
        staying: Those of robots that are simulated already, which are kept.

    Raises:
        UserInputError: The joint of a gripper has no position interface.
    """
    controls = []
    robots = zip(layout.robots, assembly.robots, layout.columns, strict=True)
    for robot, part, columns in robots:
        if part in staying:
            controls.append(staying[part])
            continue

        def emit_for_robot(event: Event, robot: str = robot.namespace) -> None:
            if isinstance(event, CommandPreempted | StreamStopped | CommandRejected):
                event = replace(event, robot=robot)
            emit(event)

        model = assembly.model
        joints = _controlled_joints(model, robot, drives, columns.start)
        limit = _limit(drives, columns.start)
        timestep = float(model.opt.timestep)
        controls.append(
            RobotControl(joints, references.part(columns), timestep, emit_for_robot, limit)
        )
    return controls


def bind(
    controls: Sequence[RobotControl],
    layout: ModelLayout,
    drives: Drives,
    references: References,
    timestep: float,
) -> None:
    """Make controls write `references`, and limit the efforts of `drives`."""
    for control, columns in zip(controls, layout.columns, strict=True):
        control.bind(references.values[:, columns], timestep, _limit(drives, columns.start))


def _limit(drives: Drives, first: int) -> Callable[[int, float], None]:
    return lambda joint, effort: drives.limit_effort(first + joint, effort)


def _controlled_joints(
    model: mujoco.MjModel, robot: RobotLayout, drives: Drives, first: int
) -> ControlledJoints:
    names, ids = robot.joints.names, robot.joints.ids
    takes = tuple(command_interfaces(drives.modes(first + i)) for i in range(len(names)))
    limited = model.jnt_limited[ids].astype(bool)
    lower = np.where(limited, model.jnt_range[ids, 0], -np.inf)
    upper = np.where(limited, model.jnt_range[ids, 1], np.inf)
    for i in range(len(names)):
        low, high = drives.position_range(first + i)
        lower[i], upper[i] = max(lower[i], low), min(upper[i], high)
    if robot.gripper is not None and POSITION not in takes[robot.gripper]:
        able = [name for name, taken in zip(names, takes, strict=True) if POSITION in taken]
        raise UserInputError(
            f"gripper of robot '{robot.name}': joint '{names[robot.gripper]}' takes no positions; "
            f"these do: {', '.join(able)}"
        )
    hinge = model.jnt_type[ids] == mujoco.mjtJoint.mjJNT_HINGE
    return ControlledJoints(
        names=names,
        interfaces=takes,
        lower=lower,
        upper=upper,
        continuous=hinge & np.isinf(lower) & np.isinf(upper),
        gripper=robot.gripper,
    )
