"""The command arbitration of each robot, built from the model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import mujoco
import numpy as np

from mujoco_ros.control.events import Event, RobotEvent
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.modes import EFFORT, POSITION, command_interfaces
from mujoco_ros.control.references import References
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.body_frames import named_frames
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.sim.cartesian.frame_chains import FrameChains
from mujoco_ros.sim.drives import Drives
from mujoco_ros.sim.gripper_tendon import TendonDrive, gripper_tendon, is_drivable, movers


def robot_controls(
    assembly: Assembly,
    layout: ModelLayout,
    data: mujoco.MjData,
    drives: Drives,
    references: References,
    emit: Callable[[Event], None],
    staying: Mapping[Part, RobotControl],
) -> list[RobotControl]:
    """Return the command arbitration of each robot.

    Args:
        assembly: The scene.
        layout: Its robots.
        data: Its state.
        drives: The actuators of all joints.
        references: The references of all joints.
        emit: Called with events for the sources of commands.
        staying: Those of robots that are simulated already, which are kept.

    Raises:
        UserInputError: The joint or tendon of a gripper takes no positions.
    """
    controls = []
    frames = cache(lambda: named_frames(assembly.model, layout))
    robots = zip(layout.robots, assembly.robots, layout.columns, strict=True)
    for robot, part, columns in robots:
        if part in staying:
            controls.append(staying[part])
            continue

        def emit_for_robot(event: Event, robot: str = robot.namespace) -> None:
            if isinstance(event, RobotEvent):
                event = replace(event, robot=robot)
            emit(event)

        model = assembly.model
        joints = _controlled_joints(model, robot, drives, columns.start)
        limit = _limit(drives, columns.start)
        timestep = float(model.opt.timestep)
        moves = joints.with_interface(POSITION) or joints.with_interface(EFFORT)
        chains = FrameChains(model, data, frames, robot, joints, drives, columns.start)
        controls.append(
            RobotControl(
                joints,
                references.part(columns),
                timestep,
                emit_for_robot,
                limit,
                _tendon_drive(model, data, robot, drives),
                partial(_cartesian, chains) if moves else None,
            )
        )
    return controls


def bind(
    controls: Sequence[RobotControl],
    layout: ModelLayout,
    model: mujoco.MjModel,
    data: mujoco.MjData,
    drives: Drives,
    references: References,
) -> None:
    """Make controls write `references` and `data`, and limit the efforts of `drives`."""
    timestep = float(model.opt.timestep)
    frames = cache(lambda: named_frames(model, layout))
    for control, robot, columns in zip(controls, layout.robots, layout.columns, strict=True):
        control.bind(
            references.values[:, columns],
            timestep,
            _limit(drives, columns.start),
            _tendon_drive(model, data, robot, drives),
        )
        cartesian, first = control.cartesian, columns.start
        if isinstance(cartesian, CartesianController) and cartesian.chains.model is not model:
            joints = control.joints
            cartesian.bind(FrameChains(model, data, frames, robot, joints, drives, first))


def _cartesian(chains: FrameChains, control: RobotControl) -> CartesianController:
    return CartesianController(control.references, lambda: control.timestep, chains)


def _tendon_drive(
    model: mujoco.MjModel, data: mujoco.MjData, robot: RobotLayout, drives: Drives
) -> TendonDrive | None:
    tendon = robot.gripper_tendon
    return None if tendon is None else TendonDrive(model, data, drives, tendon)


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
    _check_gripper(model, robot, takes)
    tendon = robot.gripper_tendon
    hinge = model.jnt_type[ids] == mujoco.mjtJoint.mjJNT_HINGE
    return ControlledJoints(
        names=names,
        interfaces=takes,
        lower=lower,
        upper=upper,
        continuous=hinge & np.isinf(lower) & np.isinf(upper),
        gripper=robot.gripper,
        tendon=None if tendon is None else gripper_tendon(model, robot, tendon),
        moved_by=movers(model, robot),
    )


def _check_gripper(
    model: mujoco.MjModel, robot: RobotLayout, takes: Sequence[frozenset[str]]
) -> None:
    """Reject a gripper that takes no positions."""
    names = robot.joints.names
    if robot.gripper_tendon is not None and not is_drivable(model, robot.gripper_tendon):
        given = f"tendon '{model.tendon(robot.gripper_tendon).name.removeprefix(robot.prefix)}'"
    elif robot.gripper is not None and POSITION not in takes[robot.gripper]:
        given = f"joint '{names[robot.gripper]}'"
    else:
        return
    able = [name for name, taken in zip(names, takes, strict=True) if POSITION in taken]
    able += [
        f"tendon '{model.tendon(tendon).name.removeprefix(robot.prefix)}'"
        for tendon in range(model.ntendon)
        if model.tendon(tendon).name.startswith(robot.prefix) and is_drivable(model, tendon)
    ]
    raise UserInputError(
        f"gripper of robot '{robot.name}': {given} takes no positions; "
        f"these do: {', '.join(able) or 'none'}"
    )
