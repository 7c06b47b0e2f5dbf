"""Topics that control actuators which no joint reference drives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.publishing.topics import LATCHED, RELIABLE
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.perturbation.actuator_controls import Control, free_controls, slots_of
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation

ACTUATORS = "actuator_controller"
_LARGEST = 1e9
"""The engine zeroes all controls when one is beyond 1e10."""


@dataclass(eq=False)
class _Served:
    """The controls and topics of a robot; `slots` belongs to the physics thread."""

    controls: tuple[Control, ...]
    slots: np.ndarray
    endpoints: list[Publisher | Subscription] = field(default_factory=list)


class ActuatorServer(Component):
    """Controls actuators by ``actuator_controller/commands`` of every robot that has such ones.

    The latched ``actuator_controller/actuators`` lists them in the order of the commands.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        simulation: Simulation,
        submit: CommandSubmission,
        rejections: RejectionLog,
        *,
        controllers: bool,
    ) -> None:
        """Open the topics; none without `controllers`."""
        self._endpoints = endpoints
        self._simulation = simulation
        self._submit = submit
        self._rejections = rejections
        self._controllers = controllers
        self._served: dict[Part, _Served] = {}
        self._next: dict[Part, tuple[str, tuple[Control, ...]]] = {}
        self.build(simulation.plant)
        self.finish()

    def build(self, plant: Plant) -> None:
        """Find the controls of the next model."""
        controls: Mapping[str, tuple[Control, ...]] = (
            free_controls(plant) if self._controllers else {}
        )
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
        for part in self._served.keys() - self._next.keys():
            for endpoint in self._served.pop(part).endpoints:
                self._endpoints.close(endpoint)
        for part, (namespace, controls) in self._next.items():
            if part not in self._served:
                self._served[part] = self._serve(namespace, controls)

    def _serve(self, namespace: str, controls: tuple[Control, ...]) -> _Served:
        served = _Served(controls, np.array([control.slot for control in controls], dtype=np.intp))
        topic = within(namespace, ACTUATORS, "commands")
        order = self._endpoints.publisher(
            JointState, within(namespace, ACTUATORS, "actuators"), LATCHED
        )
        order.publish(JointState(name=[control.name for control in controls]))
        take = partial(self._handle, topic, served)
        commands = self._endpoints.subscription(Float64MultiArray, topic, take, RELIABLE)
        served.endpoints = [order, commands]
        return served

    def _handle(self, topic: str, served: _Served, message: Float64MultiArray) -> None:
        try:
            values = _values(served.controls, message.data)
        except UserInputError as error:
            self._rejections.report(topic, "refused", str(error))
            return
        simulation = self._simulation
        given = ~np.isnan(values)

        def command(_time: float) -> None:
            if len(served.slots):
                simulation.set_controls(served.slots[given], values[given])

        self._submit(topic, command)


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
