"""A tool yields to forces as a mass on a spring and a damper."""

from typing import Any

import numpy as np
import pytest
from commanded_robot import CommandedRobot, some_joints

from mujoco_ros.control.events import CommandError
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.ros2_control.admittance import AdmittanceController, _rotation, quaternion_xyzw
from mujoco_ros.ros2_control.hardware import HardwareInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters

DT = 0.001
AXES = [f"load/{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz"]
QUARTER = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # about x
PARAMETERS: dict[str, Any] = {
    "joints": ["a", "b", "c"],
    "command_interfaces": ["position", "velocity"],
    "kinematics.base": "base",
    "kinematics.alpha": 0.0,
    "ft_sensor.name": "load",
    "ft_sensor.frame.id": "tool",
    "ft_sensor.filter_coefficient": 1.0,
    "control.frame.id": "tool",
    "fixed_world_frame.frame.id": "base",
    "gravity_compensation.frame.id": "tool",
    "gravity_compensation.CoG.pos": [0.0, 0.0, 0.1],
    "admittance.selected_axes": [True, True, False, False, False, False],
    "admittance.mass": [2.0] * 6,
    "admittance.damping_ratio": [1.0] * 6,
    "admittance.stiffness": [50.0] * 6,
    "admittance.joint_damping": 0.0,
}


class Gantry:
    """A tool that three slides move along x, y and z, turned against the base."""

    def __init__(self, turn: np.ndarray = QUARTER, **changes: Any) -> None:
        self.turn = turn
        self.sensed = dict.fromkeys(AXES, 0.0)
        self.robot = CommandedRobot(some_joints()).control
        self.robot.q[:] = 0.1, 0.2, 0.3
        hardware = HardwareInterfaces(
            self.robot,
            {name: lambda name=name: self.sensed[name] for name in AXES},  # type: ignore[misc]
            kinematics=lambda *_: self,
        )
        parameters = ControllerParameters(PARAMETERS | changes, "c")
        self.controller = AdmittanceController("admittance", parameters, hardware)
        self.controller.activate()

    def locate(self, q: np.ndarray) -> None:
        self.position = q.copy()

    def pose(self, frame: str) -> tuple[np.ndarray, np.ndarray]:
        return (np.zeros(3), np.eye(3)) if frame == "base" else (self.position, self.turn)

    def jacobian(self, _frame: str) -> np.ndarray:
        return np.vstack([np.eye(3), np.zeros((3, 3))])

    def run(self, seconds: float) -> np.ndarray:
        """Return the positions after some time, in which the joints follow at once."""
        for step in range(round(seconds / DT)):
            self.controller.update(step * DT, DT)
            self.robot.q[:] = self.robot.references.q
        return self.robot.q.copy()


def test_a_force_moves_the_tool_as_mass_spring_and_damper():
    gantry = Gantry()
    gantry.sensed["load/force.x"] = 5.0
    moved = gantry.run(0.2) - (0.1, 0.2, 0.3)
    rate = np.sqrt(50.0 / 2.0)  # critically damped
    expected = 5.0 / 50.0 * (1.0 - (1.0 + rate * 0.2) * np.exp(-rate * 0.2))
    np.testing.assert_allclose(moved, [expected, 0.0, 0.0], atol=2e-4)
    assert gantry.robot.references.dq[0] == pytest.approx(rate**2 * 0.2 * 0.1 * np.exp(-1.0), 0.02)
    moved = gantry.run(5.0) - (0.1, 0.2, 0.3)
    np.testing.assert_allclose(moved, [0.1, 0.0, 0.0], atol=1e-5)


def test_only_selected_axes_of_the_control_frame_yield():
    gantry = Gantry()
    gantry.sensed |= {"load/force.y": 5.0, "load/force.z": 5.0}
    # The y axis of the tool is the z axis of the base.
    np.testing.assert_allclose(gantry.run(5.0) - (0.1, 0.2, 0.3), [0.0, 0.0, 0.1], atol=1e-5)


def test_the_weight_of_the_tool_is_no_force():
    weight = 8.0
    gantry = Gantry(**{"gravity_compensation.CoG.force": weight})
    down = gantry.turn.T @ (0.0, 0.0, -weight)
    torque = np.cross((0.0, 0.0, 0.1), down)
    gantry.sensed |= dict(zip(AXES, (*down, *torque), strict=True))
    np.testing.assert_allclose(gantry.run(1.0), [0.1, 0.2, 0.3], atol=1e-9)
    np.testing.assert_allclose(gantry.controller.wrench_base, 0.0, atol=1e-9)


def test_references_of_messages_and_of_other_controllers_move_the_tool():
    gantry = Gantry()
    controller = gantry.controller
    controller.command(controller.check([0.5, 0.2, 0.3], []))
    np.testing.assert_allclose(gantry.run(0.01), [0.5, 0.2, 0.3], atol=1e-3)
    controller.is_chained = True
    controller.command(controller.check([0.9, 0.9, 0.9], []))
    controller.references[1] = 0.7
    np.testing.assert_allclose(gantry.run(0.01), [0.5, 0.7, 0.3], atol=1e-3)
    with pytest.raises(CommandError, match="2 positions for 3 joints"):
        controller.check([0.1, 0.2], [])


@pytest.mark.parametrize("angle", [0.0, 1e-9, 2.0, -3.0, 3.14159265, np.pi])
def test_a_displacement_is_the_rotation_vector_of_at_most_half_a_turn(angle):
    axis = np.array([0.6, 0.0, 0.8])
    cross = np.cross(axis, np.eye(3)).T
    turn = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    np.testing.assert_allclose(abs(_rotation(turn) @ axis), abs(angle), atol=1e-12)
    np.testing.assert_allclose(np.cross(_rotation(turn), axis), 0.0, atol=1e-12)
    expected = [*(np.sin(angle / 2) * axis), np.cos(angle / 2)]
    np.testing.assert_allclose(abs(quaternion_xyzw(turn) @ expected), 1.0, atol=1e-12)
    if abs(angle) < 3.1:
        np.testing.assert_allclose(_rotation(turn), angle * axis, atol=1e-12)


def test_a_controller_that_is_activated_again_begins_where_the_robot_is():
    gantry = Gantry()
    gantry.controller.command(gantry.controller.check([0.5, 0.2, 0.3], []))
    gantry.run(0.01)
    gantry.controller.deactivate()
    gantry.robot.q[:] = 0.0, 0.1, 0.2  # another controller has moved it
    gantry.controller.activate()
    np.testing.assert_allclose(gantry.run(0.01), [0.0, 0.1, 0.2], atol=1e-9)


def test_a_wrench_of_a_message_is_added():
    gantry = Gantry()
    gantry.controller.push(np.array([5.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(gantry.run(5.0) - (0.1, 0.2, 0.3), [0.1, 0.0, 0.0], atol=1e-5)


def test_a_saved_state_continues():
    gantry = Gantry()
    gantry.sensed["load/force.x"] = 5.0
    gantry.run(0.1)
    saved, q = gantry.controller.save_state(), gantry.robot.q.copy()
    first = gantry.run(0.1)
    gantry.controller.reset("again")
    gantry.controller.restore_state(saved)
    gantry.robot.q[:] = q
    np.testing.assert_array_equal(gantry.run(0.1), first)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"command_joints": ["a"]}, "'command_joints' has another length"),
        ({"command_interfaces": ["effort"]}, "choose from: position, velocity"),
        ({"admittance.mass": [0.0] * 6}, "'admittance.mass' must have 6 values from 0.0001"),
        ({"admittance.selected_axes": [True]}, "'admittance.selected_axes' must have 6 values"),
        ({"gravity_compensation.CoG.pos": [0.0]}, "must have 3 numbers"),
    ],
)
def test_an_invalid_parameter_is_named(changes, problem):
    with pytest.raises(UserInputError, match=problem):
        Gantry(**changes)
