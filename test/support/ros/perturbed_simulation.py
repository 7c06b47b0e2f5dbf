"""A simulation with the components of perturbation, without middleware and threads."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from contexts import make_context
from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.node import Node
from rclpy.parameter import Parameter
from threads import TaskExecutor

from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.node import PARAMETERS
from mujoco_ros.bridge.parameters.parameters import ParameterRejectedError, Parameters
from mujoco_ros.bridge.perturbation.actuator_server import ActuatorServer
from mujoco_ros.bridge.perturbation.body_commands import MocapServer, PullServer, WrenchServer
from mujoco_ros.bridge.perturbation.element_parameters import (
    EqualityParameters,
    PluginParameters,
    PropertyParameters,
)
from mujoco_ros.bridge.perturbation.physics_parameters import PhysicsParameters
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.rclpy_ext.endpoints import synchronize
from mujoco_ros.sim.actuator_controls import Control, free_controls
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation


def set_atomically(node: Node, simulation: Simulation, values: Mapping[str, Any]) -> str:
    """Set parameters and apply them; return the reason of a rejection, empty for none."""
    parameters = [Parameter(name, value=value) for name, value in values.items()]
    try:
        reason = str(node.set_parameters_atomically(parameters).reason)
    except ParameterRejectedError as refusal:
        reason = str(refusal)
    simulation.commands.drain()
    return reason


class FakeEndpoints:
    """Replaces the endpoints of a node; messages are delivered at once."""

    def __init__(self) -> None:
        self.callbacks: dict[str, Callable[[Any], None]] = {}
        self.published: dict[str, list[Any]] = {}
        self.later_calls: list[tuple[float, Callable[[], object]]] = []

    def subscription(
        self, _kind: Any, topic: str, callback: Callable[[Any], None], _qos: Any, **_options: Any
    ) -> str:
        assert topic not in self.callbacks
        self.callbacks[topic] = callback
        return topic

    def publisher(self, _kind: Any, topic: str, _qos: Any) -> Any:
        sent: list[Any] = []
        assert topic not in self.published
        self.published[topic] = sent
        return SimpleNamespace(topic=topic, publish=sent.append)

    def later(self, seconds: float, call: Callable[[], object]) -> None:
        self.later_calls.append((seconds, call))

    def wait(self) -> None:
        """Run all delayed calls."""
        due, self.later_calls = self.later_calls, []
        for _, call in due:
            call()

    def close(self, endpoint: Any) -> None:
        if isinstance(endpoint, str):
            del self.callbacks[endpoint]
        else:
            del self.published[endpoint.topic]


class PerturbedSimulation:
    """A simulation with all components of perturbation, and shortcuts to command them.

    Attributes:
        warnings: Logged warnings about rejected messages.
    """

    def __init__(self, node: Node, scene: Path) -> None:
        self.node = node
        self.warnings: list[str] = []
        self.endpoints = FakeEndpoints()
        self._tasks = TaskExecutor()
        node.executor = self._tasks
        self.simulation = simulation = Simulation(load_scene(str(scene)))
        self.parameters = parameters = Parameters(node, simulation.commands.submit)
        parameters.declare(PARAMETERS)
        rejections = RejectionLog(self.warnings.append)
        self.counts = rejections.counts
        context = make_context(
            node, simulation, parameters=parameters, endpoints=self.endpoints, rejections=rejections
        )
        self.lockstep = context.lockstep
        properties = PropertyParameters(context)
        self.equalities = EqualityParameters(context)
        physics = PhysicsParameters(context)
        plugins = PluginParameters(context)
        parameters.reject_unknown()
        properties.apply_initial()
        parameters.listeners += (physics, self.equalities, plugins, properties)
        self.wrenches = WrenchServer(context)
        self.pulls = PullServer(context, partial(self.wrenches.find_frame, ""))
        self.mocap = MocapServer(context)
        self._context = context
        self._actuators: dict[ScenePart, ActuatorServer] = {}
        self._serve_actuators()
        self.components = (
            physics,
            self.equalities,
            plugins,
            properties,
            self.wrenches,
            self.mocap,
        )

    def _serve_actuators(self) -> None:
        """Open the topics of new robots, and close the topics of deleted ones."""
        plant = self.simulation.plant
        wanted = {
            part: (robot, control)
            for part, robot, control in zip(
                plant.assembly.robots, plant.layout.robots, plant.controls, strict=True
            )
            if free_controls(plant)[part.name]
        }
        synchronize(self._actuators, wanted, self._serve, lambda server: server.close("deleted"))

    def _serve(self, part: ScenePart, robot: tuple[RobotLayout, RobotControl]) -> ActuatorServer:
        def controls(plant: Plant) -> tuple[Control, ...]:
            return free_controls(plant)[part.name] if part in plant.assembly.robots else ()

        return ActuatorServer(self._context, *robot, controls)

    def run_threads(self) -> None:
        """Run the waiting commands and tasks."""
        self.simulation.commands.drain()
        while self._tasks.run():
            self.simulation.commands.drain()

    def __getitem__(self, name: str) -> Any:
        """Return a parameter as a client gets it."""
        value = self.node.get_parameter(name).value
        return tuple(value) if not isinstance(value, bool | int | float | str) else value

    @property
    def topics(self) -> set[str]:
        return set(self.endpoints.callbacks)

    def set(self, values: Mapping[str, Any]) -> str:
        """Set parameters atomically; return the reason of a rejection, empty for none."""
        reason = set_atomically(self.node, self.simulation, values)
        self.run_threads()
        return reason

    def push(
        self,
        frame: str,
        force: tuple[float, float, float] = (0.0, 0.0, 0.0),
        torque: tuple[float, float, float] = (0.0, 0.0, 0.0),
        topic: str = "external_wrench",
    ) -> None:
        message = WrenchStamped()
        message.header.frame_id = frame
        at = message.wrench
        at.force.x, at.force.y, at.force.z = force
        at.torque.x, at.torque.y, at.torque.z = torque
        self.endpoints.callbacks[topic](message)
        self.run_threads()

    def move(
        self,
        topic: str,
        position: tuple[float, float, float],
        quat_xyzw: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0),
        frame: str = "world",
    ) -> None:
        message = PoseStamped()
        message.header.frame_id = frame
        pose = message.pose
        pose.position.x, pose.position.y, pose.position.z = position
        turn = pose.orientation
        turn.x, turn.y, turn.z, turn.w = quat_xyzw
        self.endpoints.callbacks[topic](message)
        self.run_threads()

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            self.run_threads()
            self.simulation.step()

    def reset(self) -> None:
        """Reset the simulation, and notify the components."""
        self.simulation.reset()
        event = self.simulation.plant.reset_event(0.0)
        for component in self.components:
            component.on_reset(event)
        self.run_threads()

    def applied(self, body: str) -> np.ndarray:
        """Return the applied force and torque at the centre of mass of a body.  # (6,)"""
        return np.array(self.simulation.data.body(body).xfrc_applied)

    def change(self, build: Callable[[Assembly], Assembly], *, fresh: bool = False) -> None:
        """Change the model in this thread."""
        plant = self.simulation.build_plant(build(self.simulation.assembly))
        plant.fresh = fresh
        for component in self.components:
            component.build(plant)
        for component in self.components:
            component.prepare(plant)
        self.simulation.switch_model(plant, fresh=fresh)
        for component in self.components:
            component.commit()
        for component in self.components:
            component.finish()
        self._serve_actuators()
        self.run_threads()
