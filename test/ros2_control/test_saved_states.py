"""Controllers of a file continue from a saved state as if nothing had happened since."""

import numpy as np
import pytest
from commanded_robot import CommandedRobot, some_joints
from managed_robot import FORWARD, Managed

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.gripper import GripperCommand
from mujoco_ros.ros2_control.drive.kinematics import Twist
from mujoco_ros.ros2_control.hardware import CommandInterfaces, HardwareInterfaces
from mujoco_ros.ros2_control.hardware_blocks import read_blocks
from mujoco_ros.ros2_control.manager import ControllerManager
from mujoco_ros.ros2_control.parameters import ControllerParameters
from mujoco_ros.ros2_control.types import TYPES

SAVED, STEPS = 233, 300  # the steps before, and after; not at a tick of the controllers
LIMITS = ("acceleration", "jerk")
GPIOS = "gpio_controllers/GpioCommandController"
TYPES_AND_PARAMETERS = {
    "diff_drive_controller/DiffDriveController": {
        "left_wheel_names": ["a"],
        "right_wheel_names": ["b"],
        "wheel_separation": 0.4,
        "wheel_radius": 0.1,
        **{f"linear.x.max_{limit}": 2.0 for limit in LIMITS},
    },
    "tricycle_controller/TricycleController": {
        "traction_joint_name": "a",
        "steering_joint_name": "b",
        "wheelbase": 1.2,
        "wheel_radius": 0.3,
        **{f"traction.max_{limit}": 2.0 for limit in LIMITS},
        "steering.max_velocity": 0.2,
    },
    "pid_controller/PidController": {
        "dof_names": ["a"],
        "command_interface": "velocity",
        "reference_and_state_interfaces": ["position"],
        **{f"gains.a.{name}": 2.0 for name in "pid"},
    },
    "joint_trajectory_controller/JointTrajectoryController": {
        "joints": ["a"],
        "command_interfaces": ["velocity"],
        **{f"gains.a.{name}": 2.0 for name in "pi"},
    },
    "effort_controllers/GripperActionController": {
        "joint": "a",
        **{f"gains.a.{name}": 2.0 for name in "pid"},
    },
    FORWARD: {"joints": ["a"], "interface_name": "position"},
    GPIOS: {"gpios": ["a"], "command_interfaces.a.interfaces": ["velocity"]},
}


def command(controller, time):
    """Command a controller just before the state is saved, and after a tick."""
    if hasattr(controller, "odometry"):
        controller.command(Twist(0.5, 0.0, 0.4), time, time)
    elif controller.name == "pid_controller":
        controller.command(controller.check([], [1.0], []))
    elif controller.name == "effort_controllers":
        controller.command(GripperCommand(position=1.0), time)
    elif controller.name == "gpio_controllers":
        controller.command(controller.check({"a/velocity": 1.0}))
    elif hasattr(controller, "check"):
        controller.command(controller.check([1.0]))


@pytest.mark.parametrize("kind", TYPES_AND_PARAMETERS)
def test_the_references_are_bitwise_the_same(kind):
    managed = Managed(update_rate=100.0)
    robot, control = managed.robot, managed.control
    name = kind.partition("/")[0]
    controller = managed.add(name, kind, **TYPES_AND_PARAMETERS[kind])
    managed.start(name)
    robot.measure = lambda time: np.sin([[time, 2 * time, 0.0], [3 * time, 0.0, 0.0]])
    for _ in range(SAVED):
        robot.step()
    command(controller, robot.time)
    saved, references, index = control.save_state(), managed.references.values.copy(), robot.index
    expected = [robot.step() for _ in range(STEPS)]
    control.reset()
    managed.references.values[:], robot.index = references, index
    control.restore_state(saved)
    np.testing.assert_array_equal([robot.step() for _ in range(STEPS)], expected)


def test_gpios_have_the_saved_values_and_after_a_reset_their_initial_ones():
    control = CommandedRobot(some_joints("a")).control
    lamp = (
        '<command_interface name="on"><param name="initial_value">0.5</param></command_interface>'
    )
    blocks = read_blocks(
        f'<robot><ros2_control><gpio name="lamp">{lamp}</gpio></ros2_control></robot>'
    )
    hardware = HardwareInterfaces(control, declared=blocks)
    control.managed = manager = ControllerManager(control, hardware, TYPES, 100.0)
    manager.load("g", GPIOS)
    parameters = {"gpios": ["lamp"], "command_interfaces.lamp.interfaces": ["on"]}
    gpios = manager.configure("g", ControllerParameters(parameters, "g"))
    manager.switch(["g"], [])
    gpios.command(gpios.check({"lamp/on": 1.0}))
    control.update(0.0)
    saved = control.save_state()
    control.reset()
    assert CommandInterfaces(hardware, ["lamp/on"]).read() == [0.5]
    control.restore_state(saved)
    assert CommandInterfaces(hardware, ["lamp/on"]).read() == [1.0]


def test_a_saved_state_does_not_change_which_controllers_have_joints():
    managed = Managed()
    managed.forward("f", "a")
    without = managed.control.save_state()
    managed.start("f")
    beside = managed.control.save_state()
    for saved, expected in ((without, ("a",)), (beside, ())):
        managed.control.reset()
        managed.control.restore_state(saved)
        assert managed.control.owners().get(CommandSource.MANAGED, ()) == expected
        if expected:
            managed.start(stop=["f"])
