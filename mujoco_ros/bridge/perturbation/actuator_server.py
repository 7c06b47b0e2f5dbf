"""Topics that control actuators which no joint reference moves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from control_msgs.msg import DynamicJointState
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.rclpy_ext.endpoints import synchronize
from mujoco_ros.sim.actuator_controls import (
    Control,
    free_controls,
    joints_of_actuators,
    slots_of,
)
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.conversions import nanoseconds
from mujoco_ros.wire.qos import LATCHED, RELIABLE

CTRL = "ctrl"
"""Name of the interface that sets the control of an actuator."""
_LARGEST = 1e9
"""The engine zeroes all controls when one is beyond 1e10."""


def array_values(controls: tuple[Control, ...], data: Sequence[float]) -> np.ndarray:
    """Return the controls of an array for the actuators of `controls`; NaN leaves one unchanged.

    Controls of the gripper's actuators are no part of the array, and NaN in the result.

    Raises:
        UserInputError: It has too few or too many values, or an invalid one.
    """
    rows = [row for row, control in enumerate(controls) if not control.of_gripper]
    names = [controls[row].name for row in rows]
    if len(data) != len(names):
        raise UserInputError(
            f"{len(data)} values, but there are {len(names)} actuators: {', '.join(names)}"
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

    Args:
        controls: The actuators.
        message: Names of actuators, each with a value of the interface ``ctrl``.
        joints: Joint of each actuator of the robot that follows the references of a joint.

    Raises:
        UserInputError: A name is unknown or repeated, or a value is missing or invalid.
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
                f"actuator '{name}' takes 1 value of the interface '{CTRL}', got {len(numbers)} "
                f"values of {listing}"
            )
        _check(name, numbers[0])
        values[index[name]] = numbers[0]
    return values


def _check(name: str, value: float) -> None:
    if abs(value) > _LARGEST:
        raise UserInputError(f"{value:g} for actuator '{name}' is beyond {_LARGEST:g}")


ACTUATORS = "actuator_controller"


@dataclass(frozen=True, kw_only=True, eq=False)
class _Actuators:
    """The actuators of a robot; `joints` is the joint of each other actuator by name."""

    namespace: str
    control: RobotControl
    controls: tuple[Control, ...]
    joints: dict[str, str]


@dataclass(eq=False)
class _Served:
    """The actuators and topics of a robot; `slots` belongs to the physics thread."""

    actuators: _Actuators
    slots: np.ndarray
    of_gripper: np.ndarray
    endpoints: list[Publisher | Subscription] = field(default_factory=list)


class ActuatorServer(Component):
    """Controls the actuators of each robot that no joint reference moves, by name and by arrays.

    ``actuator_commands`` takes names. ``actuator_controller/commands`` takes arrays, without the
    actuators of the gripper controller, in the order of the latched
    ``actuator_controller/actuators``; it exists unless ros2_control has the controllers.
    """

    def __init__(self, context: NodeContext) -> None:
        self._endpoints, self._simulation = context.endpoints, context.simulation
        self._submit, self._rejections = context.submit, context.rejections
        self._has_controllers = context.has_controllers
        self._served: dict[ScenePart, _Served] = {}
        self._next: dict[ScenePart, _Actuators] = {}
        self.build(context.simulation.plant)
        self.finish()

    def build(self, plant: Plant) -> None:
        """Find the controls of the next model."""
        controls = free_controls(plant)
        robots = zip(plant.assembly.robots, plant.layout.robots, plant.controls, strict=True)
        self._next = {
            part: _Actuators(
                namespace=robot.namespace,
                control=control,
                controls=controls[robot.name],
                joints=joints_of_actuators(plant.model, robot),
            )
            for part, robot, control in robots
            if controls.get(robot.name)
        }

    def commit(self) -> None:
        """Switch to the controls of the next model."""
        for part, served in self._served.items():
            known = served.actuators.controls if part in self._next else ()
            served.slots = slots_of(self._simulation.model, known)

    def finish(self) -> None:
        """Open the topics of new robots; close the topics of deleted ones."""
        synchronize(self._served, self._next, self._serve, self._close)

    def _serve(self, _part: ScenePart, actuators: _Actuators) -> _Served:
        namespace, controls = actuators.namespace, actuators.controls
        served = _Served(
            actuators,
            np.array([control.slot for control in controls], dtype=np.intp),
            np.array([control.of_gripper for control in controls], dtype=bool),
        )
        by_name = in_namespace(namespace, CommandSource.ACTUATORS)
        handle = partial(self._handle_named, served, by_name)
        named = self._endpoints.subscription(DynamicJointState, by_name, handle, RELIABLE)
        served.endpoints.append(named)
        in_array = [control.name for control in controls if not control.of_gripper]
        if in_array and self._has_controllers:
            listing = self._endpoints.publisher(
                JointState, in_namespace(namespace, ACTUATORS, "actuators"), LATCHED
            )
            listing.publish(JointState(name=in_array))
            topic = in_namespace(namespace, ACTUATORS, "commands")
            handle = partial(self._handle_array, served, topic)
            array = self._endpoints.subscription(Float64MultiArray, topic, handle, RELIABLE)
            served.endpoints += [listing, array]
        return served

    def _close(self, served: _Served) -> None:
        for endpoint in served.endpoints:
            self._endpoints.close(endpoint)

    def _handle_array(self, served: _Served, topic: str, message: Float64MultiArray) -> None:
        controls = served.actuators.controls
        self._command(served, topic, lambda: array_values(controls, message.data))

    def _handle_named(self, served: _Served, topic: str, message: DynamicJointState) -> None:
        actuators = served.actuators
        self._command(
            served,
            topic,
            lambda: named_values(actuators.controls, message, actuators.joints),
            nanoseconds(message.header.stamp),
        )

    def _command(
        self, served: _Served, topic: str, read: Callable[[], np.ndarray], stamp: int = 0
    ) -> None:
        try:
            values = read()
        except UserInputError as error:
            self._rejections.report(topic, "refused", str(error))
            return
        simulation = self._simulation
        given = ~np.isnan(values)
        preempts = bool((given & served.of_gripper).any())

        def command(time: float) -> None:
            if len(served.slots):
                if preempts:
                    served.actuators.control.preempt_gripper(time)
                simulation.data.ctrl[served.slots[given]] = values[given]

        self._submit(topic, command, stamp=stamp, control=served.actuators.control)
