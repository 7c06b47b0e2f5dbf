"""The command arbitration of each robot, built from the model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import mujoco

from mujoco_ros.control.events import Event, RobotEvent
from mujoco_ros.control.joints import EFFORT, POSITION
from mujoco_ros.control.references import References
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.robot.body_frames import named_frames
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.sim.cartesian.frame_chains import FrameChains
from mujoco_ros.sim.controlled_joints import TendonDrive, controlled_joints
from mujoco_ros.sim.drives import Drives


def robot_controls(
    assembly: Assembly,
    layout: ModelLayout,
    data: mujoco.MjData,
    drives: Drives,
    references: References,
    emit: Callable[[Event], None],
    staying: Mapping[ScenePart, RobotControl],
) -> list[RobotControl]:
    """Return the command arbitration of each robot; controls of `staying` robots are kept.

    `references` and `drives` are of all joints; `emit` is called with events for the sources.

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
        joints = controlled_joints(model, robot, drives, columns.start)
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
