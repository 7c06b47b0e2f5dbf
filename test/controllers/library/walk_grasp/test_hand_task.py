"""The task of a hand moves it relative to the base, and does not touch the balance."""

import numpy as np
import pytest

from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.library.walk_grasp.hands import HandTask
from mujoco_ros.controllers.planning.kinematics.chain import tool_ids
from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.controllers.whole_body.whole_body_control import WholeBodyControl
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.plant import Plant

OUTWARDS = np.array([1.0, 0.0, 0.0])
POINT = np.array([-0.049, 0.0, -0.105])


@pytest.fixture(scope="module")
def robot() -> RobotModel:
    return robot_model(Plant(assemble(load_scene("humanoid")), lambda _event: None), 0)


def hand(robot: RobotModel) -> HandTask:
    task = HandTask(tool_ids(robot.model, robot.prefix + "left_hand")[1], POINT, OUTWARDS)
    task.is_active = True
    return task


def axes(task: HandTask, control: WholeBodyControl) -> np.ndarray:
    """Return the axes of the hand in the frame of the base.  # (3, 3)"""
    data = control.body.data
    number = control.body.model.body("humanoid/left_hand").id
    return data.xmat[control.body.base].reshape(3, 3).T @ data.xmat[number].reshape(3, 3)


def test_a_hand_reaches_a_point_with_its_palm_inwards_and_the_base_stays(robot):
    task = hand(robot)
    control = WholeBodyControl(robot, "left_hand", [task], period=0.005)
    base = control.body.position.copy()
    task.position[:], task.normal[:] = (0.3, 0.2, 0.1), (0.0, 1.0, 0.0)
    for _ in range(1000):
        control.step()
    np.testing.assert_allclose(task.point(control.body), task.position, atol=1e-4)
    np.testing.assert_allclose(axes(task, control) @ OUTWARDS, task.normal, atol=1e-3)
    np.testing.assert_allclose(control.body.position, base, atol=1e-9)


def test_a_locked_hand_keeps_its_angle_about_the_axis_and_a_free_one_does_not(robot):
    turns = {}
    for is_locked in (False, True):
        task = hand(robot)
        control = WholeBodyControl(robot, "left_hand", [task], period=0.005)
        task.position[:], task.normal[:] = (0.3, 0.2, 0.1), (0.0, 1.0, 0.0)
        for _ in range(1000):
            control.step()
        if is_locked:
            task.lock(control.body)
        before = axes(task, control)
        task.position[2] += 0.15
        for _ in range(1000):
            control.step()
        np.testing.assert_allclose(task.point(control.body), task.position, atol=1e-3)
        turned = before.T @ axes(task, control)
        turns[is_locked] = float(np.arccos(np.clip(0.5 * (np.trace(turned) - 1.0), -1.0, 1.0)))
    assert turns[True] < 0.01
    assert turns[False] > 0.1


def test_a_task_that_is_off_moves_nothing(robot):
    task = hand(robot)
    task.is_active = False
    control = WholeBodyControl(robot, "left_hand", [task], period=0.005)
    task.position[:] = 1.0, 1.0, 1.0
    control.step()
    assert not control.velocity.any()
