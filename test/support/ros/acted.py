"""A simulation that messages and parameters act on at once: no middleware, and no thread."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.node import Node
from rclpy.parameter import Parameter

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.composition import PARAMETERS
from mujoco_ros.bridge.parameters.parameters import ParameterRejectedError, Parameters
from mujoco_ros.bridge.perturbation.actuator_server import ActuatorServer
from mujoco_ros.bridge.perturbation.appearance_parameters import AppearanceParameters
from mujoco_ros.bridge.perturbation.equality_parameters import EqualityParameters
from mujoco_ros.bridge.perturbation.mocap_server import MocapServer
from mujoco_ros.bridge.perturbation.physics_parameters import PhysicsParameters
from mujoco_ros.bridge.perturbation.pull_server import PullServer
from mujoco_ros.bridge.perturbation.wrench_server import WrenchServer
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


def set_atomically(node: Node, simulation: Simulation, values: Mapping[str, Any]) -> str:
    """Set parameters and let them take effect; return the reason of a refusal, empty for none."""
    parameters = [Parameter(name, value=value) for name, value in values.items()]
    try:
        reason = str(node.set_parameters_atomically(parameters).reason)
    except ParameterRejectedError as refusal:
        reason = str(refusal)
    simulation.commands.drain()
    return reason


class Wires:
    """Stands for the endpoints of a node: what is published is handed over at once."""

    def __init__(self) -> None:
        self.callbacks: dict[str, Callable[[Any], None]] = {}
        self.published: dict[str, list[Any]] = {}
        self.later_calls: list[tuple[float, Callable[[], object]]] = []

    def subscription(
        self, _kind: Any, topic: str, callback: Callable[[Any], None], _qos: Any
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
        """Let so much time go by that all is due that was put off so far."""
        due, self.later_calls = self.later_calls, []
        for _, call in due:
            call()

    def close(self, endpoint: Any) -> None:
        if isinstance(endpoint, str):
            del self.callbacks[endpoint]
        else:
            del self.published[endpoint.topic]


class Acted:
    """A simulation, everything that acts on it, and short ways to do so."""

    def __init__(self, node: Node, scene: Path) -> None:
        self.node = node
        self.said: list[str] = []
        self.wires = Wires()
        self.simulation = simulation = Simulation(load_scene(str(scene)))
        self.parameters = parameters = Parameters(node, simulation.commands.submit)
        parameters.declare(PARAMETERS)
        looks = AppearanceParameters(parameters, simulation)
        self.equalities = EqualityParameters(
            parameters, simulation, lambda call, *args: call(*args)
        )
        physics = PhysicsParameters(parameters, simulation)
        parameters.reject_unknown()
        looks.start()
        parameters.listeners += (physics, self.equalities, looks)
        refusals = RejectionLog(self.said.append)
        self.counts = refusals.counts
        submit = CommandSubmission(self.simulation, refusals)
        endpoints: Any = self.wires
        self.wrenches = WrenchServer(endpoints, self.simulation, submit, refusals, self.parameters)
        find = partial(self.wrenches.place, "")
        self.pulls = PullServer(endpoints, self.simulation, submit, refusals, find)
        self.mocap = MocapServer(endpoints, self.simulation, submit, refusals)
        self.actuators = ActuatorServer(
            endpoints, self.simulation, submit, refusals, controllers=True
        )
        self.components = (
            physics,
            self.equalities,
            looks,
            self.wrenches,
            self.mocap,
            self.actuators,
        )

    def __getitem__(self, name: str) -> Any:
        """Return a parameter as clients see it."""
        value = self.node.get_parameter(name).value
        return tuple(value) if not isinstance(value, bool | int | float | str) else value

    @property
    def topics(self) -> set[str]:
        return set(self.wires.callbacks)

    def set(self, values: Mapping[str, Any]) -> str:
        """Set parameters atomically; return the reason of a refusal, empty for none."""
        return set_atomically(self.node, self.simulation, values)

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
        self.wires.callbacks[topic](message)
        self.simulation.commands.drain()

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
        self.wires.callbacks[topic](message)
        self.simulation.commands.drain()

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            self.simulation.commands.drain()
            self.simulation.step()

    def reset(self) -> None:
        """Reset the simulation, and tell so."""
        self.simulation.reset()
        self.equalities._show()
        self.simulation.commands.drain()

    def applied(self, body: str) -> np.ndarray:
        """Return what acts on a body: force and torque at its centre of mass.  # (6,)"""
        return np.array(self.simulation.data.body(body).xfrc_applied)

    def change(self, build: Callable[[Assembly], Assembly], *, fresh: bool = False) -> None:
        """Change the model, with all steps of that in this thread."""
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
        self.simulation.commands.drain()
