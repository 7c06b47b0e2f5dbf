"""Topics that control actuators which no joint reference drives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.publishing.topics import LATCHED, RELIABLE
from mujoco_ros.bridge.synchronize import synchronize
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.perturbation.actuator_controls import Control, free_controls, slots_of
from mujoco_ros.sim.plant import Plant

ACTUATORS = "actuator_controller"
_LARGEST = 1e9
"""The engine zeroes all controls when one is beyond 1e10."""


@dataclass(eq=False)
class _Served:
    """The controls and topics of a robot; `slots` belongs to the physics thread."""

    topic: str
    controls: tuple[Control, ...]
    slots: np.ndarray
    endpoints: list[Publisher | Subscription] = field(default_factory=list)


class ActuatorServer(Component):
    """Controls actuators by ``actuator_controller/commands`` of every robot that has such ones.

    The latched ``actuator_controller/actuators`` lists them in the order of the commands.
    """

    def __init__(self, context: NodeContext) -> None:
        """Open the topics; none without controllers."""
        self._endpoints, self._simulation = context.endpoints, context.simulation
        self._submit, self._rejections = context.submit, context.rejections
        self._has_controllers = context.has_controllers
        self._served: dict[Part, _Served] = {}
        self._next: dict[Part, tuple[str, tuple[Control, ...]]] = {}
        self.build(context.simulation.plant)
        self.finish()

    def build(self, plant: Plant) -> None:
        """Find the controls of the next model."""
        controls = free_controls(plant) if self._has_controllers else {}
        self._next = {
            part: (robot.namespace, controls[robot.name])
            for part, robot in zip(plant.assembly.robots, plant.layout.robots, strict=True)
            if controls.get(robot.name)
        }

    def commit(self) -> None:
        """Switch to the controls of the next model."""
        for part, served in self._served.items():
            known = served.controls if part in self._next else ()
            served.slots = slots_of(self._simulation.model, known)

    def finish(self) -> None:
        """Open the topics of new robots; close those of deleted robots."""
        synchronize(self._served, self._next, self._serve, self._close)

    def _serve(self, _part: Part, of_robot: tuple[str, tuple[Control, ...]]) -> _Served:
        namespace, controls = of_robot
        slots = np.array([control.slot for control in controls], dtype=np.intp)
        served = _Served(within(namespace, ACTUATORS, "commands"), controls, slots)
        listing = self._endpoints.publisher(
            JointState, within(namespace, ACTUATORS, "actuators"), LATCHED
        )
        listing.publish(JointState(name=[control.name for control in controls]))
        handle = partial(self._handle, served)
        commands = self._endpoints.subscription(Float64MultiArray, served.topic, handle, RELIABLE)
        served.endpoints = [listing, commands]
        return served

    def _close(self, served: _Served) -> None:
        for endpoint in served.endpoints:
            self._endpoints.close(endpoint)

    def _handle(self, served: _Served, message: Float64MultiArray) -> None:
        try:
            values = _values(served.controls, message.data)
        except UserInputError as error:
            self._rejections.report(served.topic, "refused", str(error))
            return
        simulation = self._simulation
        given = ~np.isnan(values)

        def command(_time: float) -> None:
            if len(served.slots):
                simulation.set_controls(served.slots[given], values[given])

        self._submit(served.topic, command)


def _values(controls: tuple[Control, ...], data: Sequence[float]) -> np.ndarray:
    """Return the controls of a message; NaN leaves one unchanged.

    Raises:
        UserInputError: It has too few or too many values, or an invalid one.
    """
    values = np.array(data, dtype=float)
    names = [control.name for control in controls]
    if len(values) != len(names):
        raise UserInputError(
            f"{len(values)} values, but there are {len(names)} actuators: {', '.join(names)}"
        )
    for name, value in zip(names, values, strict=True):
        if abs(value) > _LARGEST:
            raise UserInputError(f"{value:g} for actuator '{name}' is beyond {_LARGEST:g}")
    return values
