"""Robots of a simulation as the `RobotModel` of a controller."""

import copy

import mujoco
import numpy as np

from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.actuator_limits import joint_effort
from mujoco_ros.sim.plant import Plant


def find_robot(plant: Plant, name: str = "") -> int:
    """Return the index of a robot by name; empty is the only robot with joints.

    Raises:
        UserInputError: The robot does not exist, or there are several to choose from.
    """
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


def robot_model(plant: Plant, index: int) -> RobotModel:
    """Return the robot with an index; its model is a copy of the simulated one."""
    robot, joints = plant.layout.robots[index], plant.layout.robots[index].joints
    model, controlled = plant.model, plant.controls[index].joints
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
        model=copy.copy(model),
        qpos=joints.qpos.copy(),
        dof=joints.dof.copy(),
    )


def _velocity_limits(model: mujoco.MjModel, joints: np.ndarray) -> np.ndarray:
    """Return the first user value of each joint, which is its velocity limit; 0 is unknown."""
    if not model.nuser_jnt:
        return np.full(len(joints), np.inf)
    limits = np.array(model.jnt_user[joints, 0])
    return np.where(limits > 0, limits, np.inf)
