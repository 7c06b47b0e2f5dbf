"""A client of a controller_manager, as a spawner is, and of the controllers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from controller_manager_msgs.srv import (
    ConfigureController,
    ListControllers,
    LoadController,
    SwitchController,
)
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from simulators import Listener, Simulator
from std_msgs.msg import Float64MultiArray

STRICT, BEST_EFFORT = SwitchController.Request.STRICT, SwitchController.Request.BEST_EFFORT


class Client:
    """A client of the controller_manager and of its controllers."""

    def __init__(self, simulator: Simulator, listener: Listener, namespace: str = "") -> None:
        self.simulator, self.listener = simulator, listener
        self.prefix = f"/{namespace}" if namespace else ""
        self.spawned: set[str] = set()
        self.folder: Path | None = None  # in which clients may name files

    def call(self, kind: Any, service: str, /, **fields: Any) -> Any:
        client = self.listener.node.create_client(
            kind, f"{self.prefix}/controller_manager/{service}"
        )
        assert self.listener.spin_until(client.service_is_ready)
        answer = self.listener.result(client.call_async(kind.Request(**fields)))
        self.listener.node.destroy_client(client)
        return answer

    def controllers(self) -> dict[str, Any]:
        return {c.name: c for c in self.call(ListControllers, "list_controllers").controller}

    def states(self) -> dict[str, str]:
        return {name: controller.state for name, controller in self.controllers().items()}

    def switch(
        self, start: Sequence[str] = (), stop: Sequence[str] = (), strictness: int = STRICT
    ) -> Any:
        return self.call(
            SwitchController,
            "switch_controller",
            activate_controllers=list(start),
            deactivate_controllers=list(stop),
            strictness=strictness,
        )

    def spawn(self, name: str) -> bool:
        """Do what a spawner does, unless a test has spawned the controller."""
        controllers = self.states()
        if controllers.get(name) == "active" and name in self.spawned:
            return True
        self.spawned.add(name)
        if name not in controllers:
            assert self.call(LoadController, "load_controller", name=name).ok
        assert self.call(ConfigureController, "configure_controller", name=name).ok
        return bool(self.switch([name]).ok)

    def goal(self, kind: Any, action: str, goal: Any) -> Any:
        """Send a goal; return the response, or None if it is rejected."""
        client = ActionClient(self.listener.node, kind, f"{self.prefix}/{action}")
        assert self.listener.spin_until(client.server_is_ready)
        handle = self.listener.result(client.send_goal_async(goal))
        found = self.listener.result(handle.get_result_async()) if handle.accepted else None
        client.destroy()
        return found

    def publish(self, topic: str, values: Sequence[float]) -> None:
        publisher = self.listener.node.create_publisher(
            Float64MultiArray, f"{self.prefix}/{topic}", 10
        )
        assert self.listener.spin_until(lambda: publisher.get_subscription_count() > 0)
        publisher.publish(Float64MultiArray(data=list(values)))

    def position(self, joint: str) -> float:
        """Return the next published position of a joint."""
        states = self.listener.record(JointState, f"{self.prefix}/joint_states")
        assert self.listener.spin_until(lambda: bool(len(states)))
        message = states.latest
        self.listener.forget_subscriptions(self.listener.recordings - 1)
        return float(message.position[message.name.index(joint)])

    def settles(self, joint: str, position: float) -> bool:
        """Wait until a joint is at a position."""
        states = self.listener.record(JointState, f"{self.prefix}/joint_states")

        def is_there() -> bool:
            if not len(states):
                return False
            message = states.latest
            there = message.position[message.name.index(joint)]
            return abs(there - position) < 0.01

        found = self.listener.spin_until(is_there, 20.0)
        self.listener.forget_subscriptions(self.listener.recordings - 1)
        return found
