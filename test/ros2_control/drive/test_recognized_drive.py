"""A recognized drive shares its wheels with other commands, and has them while it moves."""

import numpy as np
import pytest
from commanded_robot import CommandedRobot, some_joints

from mujoco_ros.control.events import CommandRejected, CommandSource
from mujoco_ros.ros2_control.drive.drive_types import DiffDriveController
from mujoco_ros.ros2_control.drive.kinematics import Twist
from mujoco_ros.ros2_control.drive.recognized_drive import RecognizedDrive
from mujoco_ros.ros2_control.hardware import HardwareInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters

PARAMETERS = {
    "left_wheel_names": ["a"],
    "right_wheel_names": ["b"],
    "wheel_separation": 0.4,
    "wheel_radius": 0.1,
}
ONLY_VELOCITY = {"a": ["velocity"], "b": ["velocity"]}


@pytest.fixture
def robot():
    return CommandedRobot(some_joints(("a", "b"), interfaces=ONLY_VELOCITY))


@pytest.fixture
def drive(robot):
    hardware = HardwareInterfaces(robot.control)
    controller = DiffDriveController("cmd_vel", ControllerParameters(PARAMETERS, ""), hardware)
    found = RecognizedDrive(robot.control, hardware, controller)
    robot.control.managed = found
    return found


def run(robot, start, end):
    for step in range(round(1000 * start), round(1000 * end)):
        robot.control.update(step / 1000)


def test_it_is_updated_at_its_rate(robot, drive):
    updates = []
    for step in range(40):
        robot.control.update(step / 1000)
        updates += [step] if drive.is_updated else []
    assert updates == [0, 10, 20, 30]
    assert drive.idle_steps(0.031, 100) == 9
    assert drive.idle_steps(0.031, 5) == 5
    assert drive.idle_steps(0.040, 100) == 0


def test_it_claims_the_wheels_until_the_robot_has_stopped(robot, drive):
    assert robot.control.has_default_controllers
    run(robot, 0.0, 0.1)
    assert CommandSource.MANAGED not in robot.control.owners()
    drive.controller.command(Twist(1.0, 0.0, 0.0), 0.1, 0.1)
    run(robot, 0.1, 0.2)
    assert robot.control.owners()[CommandSource.MANAGED] == ("a", "b")
    assert robot.control.references.dq == pytest.approx([10.0, 10.0])
    robot.send(CommandSource.VELOCITY, velocity={"a": 1.0})
    (rejected,) = robot.events_of(CommandRejected)
    assert "claimed by controller 'cmd_vel'" in rejected.message
    run(robot, 0.2, 0.7)
    assert robot.control.owners().get(CommandSource.MANAGED, ()) == ()
    assert robot.control.references.dq.tolist() == [0.0, 0.0]


def test_it_measures_what_other_commands_do(robot, drive):
    for step in range(200):
        robot.control.q += 0.001 * np.array([10.0, 10.0])
        robot.control.update(step / 1000)
    assert drive.controller.odometry.x == pytest.approx(0.19, abs=0.001)
    assert robot.control.references.dq.tolist() == [0.0, 0.0]


def test_a_saved_state_has_its_claim(robot, drive):
    drive.controller.command(Twist(1.0, 0.0, 0.0), 0.0, 0.0)
    run(robot, 0.0, 0.1)
    saved = robot.control.save_state()
    run(robot, 0.1, 1.0)
    robot.control.reset()
    assert drive.controller.odometry.x == 0.0
    robot.control.restore_state(saved)
    run(robot, 0.1, 0.2)
    assert robot.control.owners()[CommandSource.MANAGED] == ("a", "b")
    assert robot.control.references.dq == pytest.approx([10.0, 10.0])
