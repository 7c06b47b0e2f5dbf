"""Behaves like JointStateTopicSystem of joint_state_topic_hardware_interface (1.1)."""

import math

import rclpy
from hardware_blocks import Block
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from simulators import steps_of

_DEFAULT_THRESHOLD = 1e-5


class TopicHardware:
    """One hardware component as defined by its block in robot_description.

    - States are those of the last message; each array that is not empty needs its interface.
    - A state is its initial value, or NaN, before the first message; commands are NaN until a
      controller sets them.
    - Commands are one message for all joints with an array for each quantity. It is published if
      the sum of differences to the states exceeds the threshold. NaN exceeds any threshold.
    - Commands are reliable with a depth of 1; states are subscribed with the QoS of sensor data.
    """

    def __init__(self, node: Node, block: Block) -> None:
        assert block.plugin == "joint_state_topic_hardware_interface/JointStateTopicSystem"
        self._node = node
        self._joints = block.joints
        parameters = block.parameters
        self.threshold = float(
            parameters.get("trigger_joint_command_threshold", _DEFAULT_THRESHOLD)
        )
        self.states = {
            (joint.name, interface): float(initial or "nan")
            for joint in block.joints
            for interface, initial in joint.states.items()
        }
        self.commands = {
            (joint.name, interface): math.nan
            for joint in block.joints
            for interface in joint.commands
        }
        self.received = 0
        self.sent: list[JointState] = []
        self._latest = JointState()
        self._publisher = node.create_publisher(
            JointState, parameters["joint_commands_topic"], QoSProfile(depth=1)
        )
        self._subscription = node.create_subscription(
            JointState, parameters["joint_states_topic"], self._receive, qos_profile_sensor_data
        )

    def close(self) -> None:
        self._node.destroy_publisher(self._publisher)
        self._node.destroy_subscription(self._subscription)

    @property
    def names(self) -> list[str]:
        return [joint.name for joint in self._joints]

    @property
    def is_connected(self) -> bool:
        return self.received > 0 and self._publisher.get_subscription_count() > 0

    @property
    def step(self) -> int:
        """The physics step of the latest states."""
        return steps_of([self._latest])[0]

    @property
    def stamp(self) -> int:
        """The time of the latest states [ns]."""
        stamp = self._latest.header.stamp
        return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)

    def read(self) -> None:
        for i, name in enumerate(self._latest.name):
            if name not in self.names:
                continue
            for interface in ("position", "velocity", "effort"):
                values = getattr(self._latest, interface)
                if len(values) and math.isfinite(values[i]):
                    assert (name, interface) in self.states, "the plugin throws"
                    self.states[name, interface] = values[i]

    def write(self) -> None:
        difference = sum(abs(self.states[key] - value) for key, value in self.commands.items())
        if difference <= self.threshold:
            return
        message = JointState(name=self.names)
        message.header.stamp = self._node.get_clock().now().to_msg()
        for (_, interface), value in self.commands.items():
            getattr(message, interface).append(value)
        self.sent.append(message)
        if rclpy.ok(context=self._node.context):
            self._publisher.publish(message)

    def _receive(self, message: JointState) -> None:
        self._latest = message
        self.received += 1
