"""The robots of a simulation and their cameras, as a controller gets them."""

import copy
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

import mujoco
import numpy as np

from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.controllers.interface.host import Image, ImageFuture
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import OPTICAL_WXYZ
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.actuators import joint_effort
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.sensors.cameras import Camera
from mujoco_ros.sim.state.initial_state import InitialState


class _Plant(Protocol):
    """What a controller needs of a `Plant`; a `DrivenModel` has it, too."""

    @property
    def layout(self) -> ModelLayout: ...
    @property
    def model(self) -> mujoco.MjModel: ...
    @property
    def controlled(self) -> Sequence[ControlledJoints]:
        """The joints of each robot as commands address them."""

    @property
    def start(self) -> InitialState: ...


def find_robots(plant: _Plant, table: Mapping[str, str], robot: str = "") -> dict[str, int]:
    """Return the indices of the robots of a controller, by their names in its table.

    A single robot has an empty name. `robot` is its name, or gives other robots for names of the
    table, as in ``left=arm_1, right=arm_2``.
    """
    if not table:
        return {"": find_robot(plant, robot)}
    names = dict(table)
    for pair in robot.split(",") if robot else ():
        name, equals, given = (text.strip() for text in pair.partition("="))
        if not equals or name not in table:
            example = ", ".join(f"{known}=<robot>" for known in table)
            raise UserInputError(f"robot '{pair.strip()}': expected {example}")
        names[name] = given
    found = {name: find_robot(plant, given) for name, given in names.items()}
    for name, index in found.items():
        if list(found.values()).count(index) > 1:
            raise UserInputError(f"robot '{names[name]}' cannot be two robots of a controller")
    return found


def find_robot(plant: _Plant, name: str = "") -> int:
    """Return the index of a robot by name; empty is the only robot with joints."""
    robots = plant.layout.robots
    with_joints = [i for i, robot in enumerate(robots) if robot.joints.names]
    names = ", ".join(robots[i].name for i in with_joints) or "none"
    chosen = [i for i in with_joints if not name or robots[i].name == name]
    if not chosen:
        what = f"robot '{name}' not found" if name else "there is no robot to control"
        raise UserInputError(f"{what}; robots with joints: {names}")
    if len(chosen) > 1:
        raise UserInputError(f"a controller commands one robot; choose one of: {names}")
    return chosen[0]


def robot_model(plant: _Plant, index: int, private: mujoco.MjModel | None = None) -> RobotModel:
    """Return the robot with an index in `private`, by default a copy of the simulated model."""
    robot, joints = plant.layout.robots[index], plant.layout.robots[index].joints
    model, controlled = plant.model, plant.controlled[index]
    return RobotModel(
        name=robot.name,
        joints=joints.names,
        lower=controlled.lower.copy(),
        upper=controlled.upper.copy(),
        velocity=_velocity_limits(model, joints.ids),
        effort=np.array([joint_effort(model, int(joint)) for joint in joints.ids]),
        home=plant.start.qpos[joints.qpos],
        gripper=robot.gripper,
        prefix=robot.prefix,
        model=copy.copy(model) if private is None else private,
        qpos=joints.qpos.copy(),
        dof=joints.dof.copy(),
    )


def _velocity_limits(model: mujoco.MjModel, joints: np.ndarray) -> np.ndarray:
    """Return the first user value of each joint, which is its velocity limit; 0 is unknown."""
    if not model.nuser_jnt:
        return np.full(len(joints), np.inf)
    limits = np.array(model.jnt_user[joints, 0])
    return np.where(limits > 0, limits, np.inf)


DELAY_S = 0.1
"""Simulated time from a request to its image [s], for exposure, transfer and decoding."""
_ROUNDING_S = 1e-9


def robot_cameras(layout: ModelLayout, index: int) -> dict[str, Camera]:
    """Return cameras by name; the robot's own cameras precede others of the same name."""
    cameras = {camera.name: camera for camera in layout.every_camera}
    return cameras | {camera.name: camera for camera in layout.robots[index].cameras}


def unknown_camera(camera: str, cameras: dict[str, Camera]) -> "Future[Image]":
    """Return a future that fails with LookupError for an unknown camera."""
    future: Future[Image] = Future()
    future.set_exception(LookupError(str(unknown("camera", camera, cameras))))
    return future


def optical_pose(data: mujoco.MjData, camera: int) -> Pose:
    """Return the pose of a camera's optical frame (z ahead, x right) in the world."""
    quat, optical = np.zeros(4), np.zeros(4)
    mujoco.mju_mat2Quat(quat, data.cam_xmat[camera])
    mujoco.mju_mulQuat(optical, quat, np.array(OPTICAL_WXYZ))
    return Pose(position=data.cam_xpos[camera].copy(), quat_wxyz=optical)


@dataclass(eq=False)
class PendingImage:
    """An image that was requested in the tick at `time` [s], for the controller as `delivered`."""

    time: float
    received: "Future[Image]"
    delivered: ImageFuture = field(default_factory=ImageFuture)

    def is_due(self, time: float, awaited: Collection[object]) -> bool:
        """Return whether the image is delivered at the tick at `time` [s]."""
        return self.time + DELAY_S <= time + _ROUNDING_S or self.delivered in awaited

    def deliver(self) -> None:
        """Give the controller what was received, unless it has cancelled the request."""
        if self.delivered.cancelled():
            return
        error = self.received.exception()
        if error is None:
            self.delivered.set_result(self.received.result())
        else:
            self.delivered.set_exception(error)
