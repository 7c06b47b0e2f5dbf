"""Drives follow velocities by their wheels, and measure what the wheels have done."""

from math import atan, nan

import numpy as np
import pytest
from commanded_robot import CommandedRobot, some_joints

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.ros2_control.drive.drive_types import DRIVE_TYPES
from mujoco_ros.ros2_control.drive.kinematics import Twist
from mujoco_ros.ros2_control.hardware import HardwareInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters

DT = 0.01
CURVE = Twist(0.5, 0.0, 0.8)
DIFFERENTIAL = {
    "left_wheel_names": ["a"],
    "right_wheel_names": ["b"],
    "wheel_separation": 0.4,
    "wheel_radius": 0.1,
}
MECANUM = {
    "front_left_wheel_command_joint_name": "a",
    "front_right_wheel_command_joint_name": "b",
    "rear_right_wheel_command_joint_name": "c",
    "rear_left_wheel_command_joint_name": "d",
    "kinematics.wheels_radius": 0.1,
    "kinematics.sum_of_robot_center_projection_on_X_Y_axis": 0.5,
    "reference_timeout": 0.5,
}
AXLES = {"wheelbase": 1.2, "traction_wheels_radius": 0.3, "traction_track_width": 0.6}
ACKERMANN = {
    "traction_joints_names": ["a", "b"],
    "steering_joints_names": ["c", "d"],
    **AXLES,
}
TRICYCLE = {
    "traction_joint_name": "a",
    "steering_joint_name": "b",
    "wheelbase": 1.2,
    "wheel_radius": 0.3,
}


class Driven:
    """A robot whose wheels follow at once."""

    def __init__(self, kind, parameters, joints=("a", "b", "c", "d")):
        self.robot = CommandedRobot(some_joints(joints)).control
        (name,) = [name for name in DRIVE_TYPES if name.endswith(f"/{kind}")]
        self.parameters = ControllerParameters(parameters, "drive")
        self.drive = DRIVE_TYPES[name]("drive", self.parameters, HardwareInterfaces(self.robot))
        self.drive.activate()
        self.time = 0.0

    def step(self, twist=None, steps=1):
        for _ in range(steps):
            if twist is not None:
                self.drive.command(twist, self.time, self.time)
            self.drive.update(self.time, DT)
            _, self.robot.dq[:], _ = self.robot.references.values
            steers = [n.endswith("position") for n in self.drive.command_interfaces]
            for joint in np.flatnonzero(steers):
                self.robot.q[joint] = self.robot.references.q[joint]
            rolls = [
                joint
                for joint in range(len(self.robot.q))
                if joint >= len(steers) or not steers[joint]
            ]
            self.robot.q[rolls] += DT * self.robot.dq[rolls]
            self.time += DT
        return self

    @property
    def speeds(self):
        return self.robot.references.dq.tolist()

    @property
    def pose(self):
        odometry = self.drive.odometry
        return odometry.x, odometry.y, odometry.heading


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("DiffDriveController", DIFFERENTIAL),
        ("DiffDriveController", DIFFERENTIAL | {"position_feedback": False}),
        ("DiffDriveController", DIFFERENTIAL | {"open_loop": True}),
        ("MecanumDriveController", MECANUM),
        (
            "OmniWheelDriveController",
            {"wheel_names": ["a", "b", "c"], "robot_radius": 0.3, "wheel_radius": 0.1},
        ),
        ("TricycleController", TRICYCLE),
        (
            "BicycleSteeringController",
            {
                "traction_joints_names": ["a"],
                "steering_joints_names": ["b"],
                "wheelbase": 1.2,
                "traction_wheel_radius": 0.3,
            },
        ),
        ("TricycleSteeringController", ACKERMANN | {"steering_joints_names": ["c"]}),
        ("AckermannSteeringController", ACKERMANN),
        (
            "WheelDriveController",
            {
                "wheel_names": ["a", "b"],
                "wheel_x": [0.0, 0.0],
                "wheel_y": [0.2, -0.2],
                "wheel_radii": [0.1, 0.1],
                "wheel_directions": [0.0, 0.0],
                "wheel_grips": [0.0, 0.0],
                "fixed_axle": True,
            },
        ),
    ],
)
def test_odometry_follows_the_commanded_circle(kind, parameters):
    driven = Driven(kind, parameters)
    driven.step(CURVE, steps=50)
    before = np.array(driven.pose)
    driven.step(CURVE, steps=100)
    turned = driven.pose[2] - before[2]
    moved = np.hypot(*(np.array(driven.pose) - before)[:2])
    assert turned == pytest.approx(0.8, rel=1e-3)
    assert moved == pytest.approx(2 * (0.5 / 0.8) * np.sin(0.4), rel=1e-3)
    assert driven.drive.odometry.twist == pytest.approx(CURVE, rel=1e-3, abs=1e-9)


def test_a_robot_brakes_within_its_limits_after_the_timeout():
    limits = {"linear.x.max_acceleration": 2.0, "cmd_vel_timeout": 0.25}
    driven = Driven("DiffDriveController", DIFFERENTIAL | limits)
    driven.step(Twist(1.0, 0.0, 0.0), steps=60)
    assert driven.speeds[:2] == pytest.approx([10.0, 10.0])
    driven.step(steps=24)
    assert driven.speeds[:2] == pytest.approx([10.0, 10.0])
    driven.step(steps=30)
    assert 0.0 < driven.speeds[0] < 10.0
    driven.step(steps=30)
    assert driven.speeds[:2] == [0.0, 0.0]
    assert not driven.drive.is_moving


def test_limits_are_switched_off_as_in_former_files():
    limits = {"linear.x.max_velocity": 0.3, "linear.x.max_jerk": 0.0, "linear.x.min_jerk": 0.0}
    still = Driven("DiffDriveController", DIFFERENTIAL | limits)
    assert still.step(Twist(0.5), steps=10).drive.limited.x == 0.0
    off = {"linear.x.has_jerk_limits": False, "linear.x.has_velocity_limits": True}
    driven = Driven("DiffDriveController", DIFFERENTIAL | limits | off)
    assert driven.step(Twist(0.5)).drive.limited.x == 0.3
    assert driven.parameters.ignored == ()
    text = {"linear.x.has_jerk_limits": "false"}
    with pytest.raises(UserInputError, match="has_jerk_limits'"):
        Driven("DiffDriveController", DIFFERENTIAL | limits | text)


def test_a_drive_by_references_stops_at_once_and_keeps_its_steering():
    driven = Driven("AckermannSteeringController", ACKERMANN | {"reference_timeout": 0.1})
    driven.step(CURVE, steps=5)
    angles = driven.robot.references.q[2:].tolist()
    assert angles[1] > angles[0] == pytest.approx(atan(1.2 / (0.5 / 0.8 + 0.3)))
    driven.step(steps=12)
    assert driven.speeds[:2] == [0.0, 0.0]
    assert driven.robot.references.q[2:].tolist() == angles


FORMER = {
    "front_wheels_names": ["c", "d"],
    "rear_wheels_names": ["a", "b"],
    "wheelbase": 1.2,
    "front_wheel_track": 0.5,
    "rear_wheel_track": 0.6,
    "front_wheels_radius": 0.2,
    "rear_wheels_radius": 0.3,
}


@pytest.mark.parametrize(
    ("kind", "former", "present"),
    [
        (
            "AckermannSteeringController",
            FORMER | {"front_steering": True},
            ACKERMANN | {"steering_track_width": 0.5},
        ),
        (
            "AckermannSteeringController",
            FORMER | {"front_steering": False},
            {
                "traction_joints_names": ["c", "d"],
                "steering_joints_names": ["a", "b"],
                "wheelbase": 1.2,
                "traction_wheels_radius": 0.2,
                "traction_track_width": 0.5,
                "steering_track_width": 0.6,
            },
        ),
        (
            "TricycleSteeringController",
            {
                "rear_wheels_names": ["a", "b"],
                "front_wheels_names": ["c"],
                "wheelbase": 1.2,
                "wheel_track": 0.6,
                "rear_wheels_radius": 0.3,
                "front_wheels_radius": 0.2,
            },
            {"traction_joints_names": ["a", "b"], "steering_joints_names": ["c"], **AXLES},
        ),
        (
            "BicycleSteeringController",
            {
                "rear_wheels_names": ["a"],
                "front_wheels_names": ["b"],
                "wheelbase": 1.2,
                "rear_wheel_radius": 0.3,
                "front_wheel_radius": 0.2,
            },
            {
                "traction_joints_names": ["a"],
                "steering_joints_names": ["b"],
                "wheelbase": 1.2,
                "traction_wheel_radius": 0.3,
            },
        ),
    ],
)
def test_steering_controllers_take_the_names_of_former_parameters(kind, former, present):
    before, now = (Driven(kind, each).step(CURVE, steps=5) for each in (former, present))
    assert before.drive.command_interfaces == now.drive.command_interfaces
    assert before.speeds == now.speeds
    assert before.robot.references.q.tolist() == now.robot.references.q.tolist()
    assert before.parameters.ignored == ()


def test_signs_turn_axes_around_in_commands_and_odometry():
    plain = Driven("AckermannSteeringController", ACKERMANN).step(CURVE, steps=50)
    signs = {"traction_signs": [-1.0, 1.0], "steering_signs": [-1.0, -1.0]}
    turned = Driven("AckermannSteeringController", ACKERMANN | signs).step(CURVE, steps=50)
    assert turned.speeds[:2] == pytest.approx([-plain.speeds[0], plain.speeds[1]])
    angles = -plain.robot.references.q[2:]
    np.testing.assert_allclose(turned.robot.references.q[2:], angles)
    odometry, expected = turned.drive.odometry, plain.drive.odometry
    assert expected.heading > 0.1
    assert (odometry.x, odometry.heading) == pytest.approx((expected.x, expected.heading))
    with pytest.raises(UserInputError, match="'traction_signs' must be 2 times 1 or -1"):
        Driven("AckermannSteeringController", ACKERMANN | {"traction_signs": [1.0, 2.0]})
    tricycle = Driven(
        "TricycleController", TRICYCLE | {"steering_signs": [-1.0]}, joints=("a", "b")
    )
    assert tricycle.step(CURVE, steps=5).robot.references.q[1] < 0.0


def test_a_chained_drive_follows_its_references_and_no_messages():
    driven = Driven("DiffDriveController", DIFFERENTIAL)
    driven.drive.is_chained = True
    driven.drive.references[:] = 1.0, 0.0
    driven.step(Twist(-1.0, 0.0, 0.0))
    assert driven.speeds[:2] == pytest.approx([10.0, 10.0])
    driven.drive.references[:] = nan
    driven.step()
    assert driven.speeds[:2] == [0.0, 0.0]


def test_the_odometry_of_a_planar_joint_is_where_the_joint_is():
    joints = [f"floor_{part}" for part in ("TX", "TY", "RZ")]
    driven = Driven("PlanarDriveController", {"planar_joint": "floor"}, joints)
    driven.robot.q[:] = 3.0, -1.0, np.pi / 2
    driven.step(Twist(0.5, 0.2, 0.0), steps=101)
    assert driven.speeds == pytest.approx([-0.2, 0.5, 0.0])
    assert driven.pose == pytest.approx((2.8, -0.5, np.pi / 2), abs=0.01)


def test_limits_of_steered_traction_are_of_the_wheel():
    limits = {"traction.max_velocity": 2.0, "steering.max_position": 0.3}
    driven = Driven("TricycleController", TRICYCLE | limits)
    driven.step(Twist(5.0, 0.0, 3.0), steps=3)
    assert driven.speeds[0] == pytest.approx(2.0)
    assert driven.robot.references.q[1] == pytest.approx(0.3)


def test_the_odometry_begins_at_the_origin_wherever_the_wheels_are():
    driven = Driven("DiffDriveController", DIFFERENTIAL)
    driven.robot.q[:] = 5.0, -3.0, 0.0, 0.0
    driven.step()
    assert driven.pose == (0.0, 0.0, 0.0)


def test_a_saved_state_continues():
    limits = {"linear.x.max_acceleration": 1.0}
    driven = Driven("DiffDriveController", DIFFERENTIAL | limits)
    driven.step(CURVE, steps=20)
    saved, positions, time = driven.drive.save_state(), driven.robot.q.copy(), driven.time
    driven.step(CURVE, steps=30)
    expected = driven.pose, driven.speeds
    driven.drive.activate()
    driven.drive.restore_state(saved)
    driven.robot.q[:], driven.time = positions, time
    driven.step(CURVE, steps=30)
    assert (driven.pose, driven.speeds) == expected


@pytest.mark.parametrize(
    ("kind", "parameters", "reason"),
    [
        ("DiffDriveController", DIFFERENTIAL | {"right_wheel_names": ["b", "c"]}, "has 2 joints"),
        ("DiffDriveController", DIFFERENTIAL | {"left_wheel_names": []}, "is empty"),
        ("DiffDriveController", DIFFERENTIAL | {"wheel_radius": 0.0}, "'wheel_radius' is 0"),
        (
            "DiffDriveController",
            DIFFERENTIAL | {"linear.x.max_velocity": -1.0},
            "drive: linear.x.max_velocity is -1",
        ),
        (
            "DiffDriveController",
            DIFFERENTIAL | {"pose_covariance_diagonal": [0.1]},
            "must have 6 numbers",
        ),
        (
            "AckermannSteeringController",
            ACKERMANN | {"steering_joints_names": ["c"]},
            "must have 2 joints",
        ),
        ("AckermannSteeringController", ACKERMANN | {"traction_track_width": 0.0}, "is missing"),
        ("TricycleController", TRICYCLE | {"traction.max_velocity": -1.0}, "max_velocity -1"),
        ("TricycleController", TRICYCLE | {"traction.max_jerk": "low"}, "'traction.max_jerk': exp"),
    ],
)
def test_an_invalid_parameter_is_named(kind, parameters, reason):
    with pytest.raises(UserInputError, match=reason):
        Driven(kind, parameters)
