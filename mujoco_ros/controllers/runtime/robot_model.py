"""A robot of a simulation, as a controller is told of it."""

import copy

import mujoco
import numpy as np

from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.actuator_limits import joint_effort
from mujoco_ros.sim.plant import Plant


def find_robot(plant: Plant, name: str = "") -> int:
    """Return the index of the robot that a controller is for.

    Args:
        plant: What is simulated.
        name: Name of the robot; empty is the only one that has joints.

    Raises:
        ModelError: There is no such robot, or more than one to choose from.
    """
    robots = plant.layout.robots
    jointed = [i for i, robot in enumerate(robots) if robot.joints.names]
    names = ", ".join(robots[i].name for i in jointed) or "none"
    chosen = [i for i in jointed if not name or robots[i].name == name]
    if not chosen:
        what = f"robot '{name}' not found" if name else "there is no robot to control"
        raise UserInputError(f"{what}; robots with joints: {names}")
    if len(chosen) > 1:
        raise UserInputError(f"a controller is for one robot; name one of: {names}")
    return chosen[0]


def robot_of(plant: Plant, index: int) -> RobotModel:
    """Return what a controller is told of a robot; its model is a copy of the simulated one."""
    robot, joints = plant.layout.robots[index], plant.layout.robots[index].joints
    model, controlled = plant.model, plant.controls[index].joints
    return RobotModel(
        name=robot.name,
        joints=joints.names,
        lower=controlled.lower.copy(),
        upper=controlled.upper.copy(),
        velocity=_velocities(model, joints.ids),
        effort=np.array([joint_effort(model, int(joint)) for joint in joints.ids]),
        home=plant.start.qpos[joints.qpos],
        gripper=robot.gripper,
        prefix=robot.prefix,
        model=copy.copy(model),
        qpos=joints.qpos.copy(),
        dof=joints.dof.copy(),
    )


def _velocities(model: mujoco.MjModel, joints: np.ndarray) -> np.ndarray:
    """Return the largest speeds: the first user number of each joint; 0 is none known."""
    if not model.nuser_jnt:
        return np.full(len(joints), np.inf)
    speeds = np.array(model.jnt_user[joints, 0])
    return np.where(speeds > 0, speeds, np.inf)
