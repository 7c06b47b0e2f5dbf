"""Topics that control actuators which no joint reference moves."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from control_msgs.msg import DynamicJointState
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from mujoco_ros.bridge.commands.command_server import CommandServer
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import UserInputError, counted, unknown
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.actuator_controls import Control, joints_of_actuators
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.conversions import nanoseconds
from mujoco_ros.wire.qos import LATCHED

CTRL = "ctrl"
"""Name of the interface that sets the control of an actuator."""
_LARGEST = 1e9  # the engine zeroes all controls when one is beyond 1e10


def array_values(controls: tuple[Control, ...], data: Sequence[float]) -> np.ndarray:
    """Return the controls of an array for the actuators of `controls`; NaN leaves one unchanged.

    Controls of the gripper's actuators are no part of the array, and NaN in the result.
    """
    rows = [row for row, control in enumerate(controls) if not control.of_gripper]
    names = [controls[row].name for row in rows]
    if len(data) != len(names):
        raise UserInputError(
            f"{counted(len(data), 'value')} for {counted(len(names), 'actuator')}: "
            f"{', '.join(names)}"
        )
    values = np.full(len(controls), np.nan)
    for row, name, value in zip(rows, names, data, strict=True):
        _check(name, value)
        values[row] = value
    return values


def named_values(
    controls: tuple[Control, ...], message: DynamicJointState, joints: Mapping[str, str]
) -> np.ndarray:
    """Return the controls of a message that names actuators; NaN for all others.

    `joints` are the joints of the actuators that follow joint references, by actuator.
    """
    names = list(message.joint_names)
    if not names:
        raise UserInputError("the command names no actuators")
    if len(message.interface_values) != len(names):
        raise UserInputError(
            f"{len(names)} joint_names, but {len(message.interface_values)} interface_values; give "
            "one for each"
        )
    index = {control.name: row for row, control in enumerate(controls)}
    values = np.full(len(controls), np.nan)
    for name, given in zip(names, message.interface_values, strict=True):
        if name not in index:
            if joint := joints.get(name):
                raise UserInputError(
                    f"actuator '{name}' follows joint '{joint}', which joint_commands commands; "
                    f"actuators here are: {', '.join(index)}"
                )
            raise unknown("actuator", name, index)
        if names.count(name) > 1:
            raise UserInputError(f"actuator '{name}' is named twice")
        interfaces, numbers = list(given.interface_names), list(given.values)
        if interfaces != [CTRL] or len(numbers) != 1:
            listing = ", ".join(f"'{interface}'" for interface in interfaces) or "none"
            raise UserInputError(
                f"actuator '{name}' takes 1 value of the interface '{CTRL}', got "
                f"{counted(len(numbers), 'value')} of {listing}"
            )
        _check(name, numbers[0])
        values[index[name]] = numbers[0]
    return values


def _check(name: str, value: float) -> None:
    if abs(value) > _LARGEST:
        raise UserInputError(f"{value:g} for actuator '{name}' is beyond {_LARGEST:g}")


ACTUATORS = "actuator_controller"


class ActuatorServer(CommandServer):
    """Controls the actuators of a robot that no joint reference moves, by name and by arrays.

    ``actuator_commands`` takes names. ``actuator_controller/commands`` takes arrays, without the
    actuators of the gripper controller, in the order of the latched
    ``actuator_controller/actuators``; it exists unless ros2_control has the controllers.
    """

    def __init__(
        self,
        context: NodeContext,
        robot: RobotLayout,
        control: RobotControl,
        controls: Callable[[Plant], tuple[Control, ...]],
    ) -> None:
        """Open the topics; `controls` returns the controls in a model, none without the robot."""
        super().__init__(context, robot.namespace, control)
        plant = context.simulation.plant
        self._controls, self._known = controls, controls(plant)
        self._joints = joints_of_actuators(plant.model, robot)
        self._of_gripper = np.array([control.of_gripper for control in self._known], dtype=bool)
        self._subscribe(DynamicJointState, self._handle_named, CommandSource.ACTUATORS)
        in_array = [control.name for control in self._known if not control.of_gripper]
        if in_array and context.has_controllers:
            topic = in_namespace(robot.namespace, ACTUATORS, "actuators")
            listing = self._endpoints.publisher(JointState, topic, LATCHED)
            listing.publish(JointState(name=in_array))
            self._open.append(listing)
            self._subscribe(Float64MultiArray, self._handle_array, ACTUATORS, "commands")

    def _handle_array(self, topic: str, message: Float64MultiArray) -> None:
        with self._rejections.refusing(topic):
            self._command(topic, array_values(self._known, message.data))

    def _handle_named(self, topic: str, message: DynamicJointState) -> None:
        with self._rejections.refusing(topic):
            values = named_values(self._known, message, self._joints)
            self._command(topic, values, nanoseconds(message.header.stamp))

    def _command(self, topic: str, values: np.ndarray, stamp: int = 0) -> None:
        given, simulation = ~np.isnan(values), self._simulation
        preempts = bool((given & self._of_gripper).any())

        def command(time: float) -> None:
            slots = np.array([control.slot for control in self._controls(simulation.plant)])
            if slots.size:
                if preempts:
                    self._control.preempt_gripper(time)
                simulation.data.ctrl[slots[given]] = values[given]

        self._submit(topic, command, stamp=stamp)
