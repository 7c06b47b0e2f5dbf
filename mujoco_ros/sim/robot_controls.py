"""The control of each robot, and its binding to the model and to the measured state."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import mujoco
import numpy as np

from mujoco_ros.control.events import Event, RobotEvent
from mujoco_ros.control.joints import EFFORT, POSITION
from mujoco_ros.control.references import References, as_slice
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.robot.body_frames import named_frames
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.native.plan import MANY
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.sim.cartesian.frame_chains import FrameChains
from mujoco_ros.sim.controlled_joints import TendonServo, controlled_joints, position_limits
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

    `references` and `drives` are of all joints; `emit` gets the events for the sources.
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
                references.of_joints(columns),
                timestep,
                emit_for_robot,
                limit,
                _tendon_drive(model, data, robot, drives),
                partial(_cartesian, chains) if moves else None,
                _switch(drives, columns),
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
            _switch(drives, columns),
        )
        cartesian, first = control.cartesian, columns.start
        if isinstance(cartesian, CartesianController) and cartesian.chains.model is not model:
            joints = control.joints
            cartesian.bind(FrameChains(model, data, frames, robot, joints, drives, first))


def follow_limits(
    controls: Sequence[RobotControl],
    layout: ModelLayout,
    model: mujoco.MjModel,
    data: mujoco.MjData,
    drives: Drives,
) -> None:
    """Make controls respect changed ranges of joints, tendons and actuators."""
    frames = cache(lambda: named_frames(model, layout))
    for control, robot, columns in zip(controls, layout.robots, layout.columns, strict=True):
        joints, first = control.joints, columns.start
        joints.lower[:], joints.upper[:] = position_limits(model, robot, drives, first)
        servo = _tendon_drive(model, data, robot, drives)
        if servo and joints.tendon and control.gripper:
            joints.tendon.limits[:], control.gripper.servo = servo.limits, servo
        if isinstance(control.cartesian, CartesianController):
            control.cartesian.bind(FrameChains(model, data, frames, robot, joints, drives, first))


def _cartesian(chains: FrameChains, control: RobotControl) -> CartesianController:
    return CartesianController(control.references, lambda: control.timestep, chains)


def _tendon_drive(
    model: mujoco.MjModel, data: mujoco.MjData, robot: RobotLayout, drives: Drives
) -> TendonServo | None:
    tendon = robot.gripper_tendon
    return None if tendon is None else TendonServo(model, data, drives, tendon)


def _limit(drives: Drives, first: int) -> Callable[[int, float], None]:
    return lambda joint, effort: drives.limit_effort(first + joint, effort)


def _switch(drives: Drives, columns: slice) -> Callable[[np.ndarray], None]:
    return lambda acts: drives.switch_pd(columns, on=acts)


_Parts = tuple[tuple[np.ndarray, np.ndarray], ...]
"""Arrays of a state, and the indices of the joints of a robot in them."""


class JointFeedback:
    """Sets measured positions, velocities and efforts of each `RobotControl`, from the state.

    They are views where the joints of a robot are consecutive, else copied when they are needed.
    """

    def __init__(
        self,
        data: mujoco.MjData,
        robots: Sequence[RobotLayout],
        controls: Sequence[RobotControl],
    ) -> None:
        self._robots: list[tuple[RobotControl, _Parts]] = []
        for robot, control in zip(robots, controls, strict=True):
            joints = robot.joints
            parts: _Parts = ()
            qpos, dof = as_slice(joints.qpos), as_slice(joints.dof)
            if isinstance(qpos, slice) and isinstance(dof, slice):
                control.q, control.dq = data.qpos[qpos], data.qvel[dof]
                control.effort = data.qfrc_actuator[dof]
            else:
                control.q, control.dq, control.effort = np.zeros((3, len(joints.names)))
                measured = (data.qpos, data.qvel, data.qfrc_actuator)
                parts = tuple(zip(measured, (joints.qpos, joints.dof, joints.dof), strict=True))
            self._robots.append((control, parts))

    def idle_steps(self, time: float) -> int:
        """Return the fewest `RobotControl.idle_steps`."""
        return min((control.idle_steps(time) for control, _ in self._robots), default=MANY)

    def update_controls(self, time: float) -> None:
        """Update the references of all robots for the step at `time` [s], in the physics thread."""
        for control, parts in self._robots:
            if parts and (control.active or control.reset_hold.active):
                _read(control, parts)
            control.update(time)

    def read(self) -> None:
        """Copy what is measured now, of all robots."""
        for control, parts in self._robots:
            if parts:
                _read(control, parts)


def _read(control: RobotControl, parts: _Parts) -> None:
    for (array, indices), out in zip(parts, (control.q, control.dq, control.effort), strict=True):
        # With "clip", NumPy writes without a buffer between; no index is out of range.
        array.take(indices, out=out, mode="clip")
