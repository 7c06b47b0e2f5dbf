"""A node in this process whose simulation is stepped by the test."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np
from command_clients import CommandClient, SentGoal
from contexts import make_context
from control_msgs.msg import DynamicJointState, JointTrajectoryControllerState
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from simulators import Domain, Listener

from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.commands.robot_commands import RobotCommands
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.bridge.publishing.publishers import Publishers
from mujoco_ros.bridge.publishing.template_publisher import Batch
from mujoco_ros.bridge.publishing.topic_plan import TopicPlan
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.bridge.tf.robot_frames import FramePlan, plan_frames
from mujoco_ros.control.events import GoalEnded, SimulationReset
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import GripperSettings, StreamSettings, TrajectorySettings
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.scene.config import RATES, load_scene
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.sim.command_queue import ClockEpochs
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import OnDivergence, Simulation


def planned(plant: Plant) -> FramePlan:
    """Return the default frames of a plant."""
    described = descriptions(plant.assembly, plant.layout)
    return plan_frames(plant.model, plant.layout, "base", described)


def published(plan: TopicPlan, name: str) -> Any:
    """Return the message of a topic of a plan, as it is published at 3.000000004 s."""
    (serialized,) = (it for it in plan.contents if it.topic.name == name)
    publisher = TopicPublisher(name)
    publisher.subscriptions, sent = 1, []
    publisher.publish = sent.append
    for update in plan.updates([serialized]):
        update()
    Batch({publisher: serialized}, plan.arrays).publish(3, 4)
    return deserialize_message(sent[0], type(serialized.topic.message))


def named_values(message: DynamicJointState) -> dict[str, dict[str, float]]:
    """Return the numbers of a message by the names of elements and interfaces."""
    return {
        name: dict(zip(it.interface_names, it.values, strict=True))
        for name, it in zip(message.joint_names, message.interface_values, strict=True)
    }


class SteppedNode:
    """A simulation with its command servers and publishers, but without a physics thread.

    Simulated time passes only in `run` and `step`, so that tests determine the order of events.

    Attributes:
        listener: Its node has the command clients.
        simulation: The simulation.
        control: Control of the first robot.
        commander: Commands the first robot over the middleware.
        lockstep: The lockstep of the clock, without sources; nothing waits for it.
        warnings: Logged warnings about commands.
        resets: Number of resets that the executor's thread was notified of.
        sent: Serialized messages by topic.
    """

    def __init__(
        self, scene: str, *, controllers: bool = True, on_divergence: OnDivergence = "reset"
    ) -> None:
        self._domain = Domain()
        self.listener = Listener(self._domain.id)
        self.node = Node("mujoco", context=self.listener.node.context)
        self.listener.add(self.node)
        self.endpoints = Endpoints(self.node)
        self.simulation = Simulation(load_scene(scene), on_divergence=on_divergence)
        self.control: RobotControl = self.simulation.controls[0]
        self.commander = CommandClient(self.listener, self.simulation.layout.robots[0].namespace)
        self.warnings: list[str] = []
        self.resets = 0
        self._submitted = self._ended = self._fetched = 0
        self._count_commands()
        self.refusals = RejectionLog(self.warnings.append)
        context = make_context(
            self.node,
            self.simulation,
            {"ros2_control": not controllers},
            endpoints=self.endpoints,
            rejections=self.refusals,
            notify_reset=lambda event: self._count_reset(event),
        )
        self.lockstep = context.lockstep
        self.controllers = RobotCommands(context)
        self.sent: dict[str, list[bytes]] = {}
        self._publishers = self._publish(context)

    def close(self) -> None:
        for served in self.controllers._served.values():
            for server in served.servers:
                server.destroy()
        self.commander.close()
        self.listener.close()
        self.node.destroy_node()
        self._domain.close()

    @property
    def time(self) -> float:
        """Simulated time of the next step."""
        return float(self.simulation.data.time)

    @property
    def references(self) -> np.ndarray:
        """A copy of the position, velocity and effort of all references.  # (3, n)"""
        return self.simulation.references.values.copy()

    def step(self, count: int = 1) -> None:
        """Do `count` cycles of the physics thread."""
        for _ in range(count):
            self.simulation.commands.drain()
            if not self.simulation.paused and self.simulation.step():
                self._publishers.publish()

    def run(self, seconds: float) -> None:
        """Step for a simulated time, and deliver events when they occur."""
        for _ in range(round(seconds / self.simulation.model.opt.timestep)):
            self.step()
            if self.simulation.events:
                self._ended += sum(isinstance(e, GoalEnded) for e in self.simulation.events)
                self.pass_on()

    def finish(self, sent: SentGoal, within: float = 1.0) -> Any:
        """Run until a goal ends, for at most `within` simulated seconds, and return its result."""
        end = self.time + within
        while not sent.ended and self.time < end:
            if self._ended > self._fetched:  # perhaps this goal: its result may be in flight
                self._fetched = self._ended
                self.listener.spin_until(lambda: sent.ended, 0.1)
            else:
                self.run(0.01)
        assert self.listener.spin_until(lambda: sent.ended, 5.0), "the goal does not end"
        return sent.result()

    def deliver(self, publish: Callable[..., object], *args: Any, **fields: Any) -> None:
        """Publish a command and wait until it is queued for the next step, or is refused."""
        self.pass_on()
        before = self._received()
        publish(*args, **fields)
        assert self.listener.spin_until(lambda: self._received() > before)

    def pass_on(self) -> None:
        """Wait until all events have been sent to the command clients."""
        assert self.listener.spin_until(lambda: not self.simulation.events)

    def states(self) -> list[JointTrajectoryControllerState]:
        """Return the messages of ``controller_state``."""
        raw = self.sent["joint_trajectory_controller/controller_state"]
        return [deserialize_message(data, JointTrajectoryControllerState) for data in raw]

    def joint_states(self) -> list[JointState]:
        return [deserialize_message(data, JointState) for data in self.sent["joint_states"]]

    def configure(self, **changes: Any) -> None:
        """Change settings of any controller of the first robot."""
        control, gripper = self.control, self.control.gripper
        stream, trajectory = control.stream, control.trajectory.settings
        of_gripper = GripperSettings() if gripper is None else gripper.settings
        for name, value in changes.items():
            if name in StreamSettings.__slots__:
                stream = replace(stream, **{name: value})
            elif name in TrajectorySettings.__slots__:
                trajectory = replace(trajectory, **{name: value})
            else:
                of_gripper = replace(of_gripper, **{name: value})
        control.configure(stream, trajectory, of_gripper)

    def restart(self) -> None:
        """Return to the initial state; the middleware is kept."""
        simulation, count = self.simulation, len(self.control.joints.names)
        simulation.commands.drain()
        simulation.paused = False
        self.configure(reset_hold="off")
        simulation.reset()
        simulation.epochs = ClockEpochs()
        self.pass_on()
        nothing = TrajectorySettings(trajectory=np.zeros(count), goal=np.zeros(count))
        self.control.configure(StreamSettings(), nothing, GripperSettings())
        self.refusals.counts.clear()
        self.refusals._logged.clear()
        self.refusals._suppressed.clear()
        self.warnings.clear()
        self.resets = 0
        for sent in self.sent.values():
            sent.clear()

    def diverge(self) -> None:
        """Take a step that diverges."""
        self.simulation.data.qvel[0] = 1e12
        before = self.simulation.divergences
        self.step()
        assert self.simulation.divergences == before + 1

    def _publish(self, context: NodeContext) -> Publishers:
        """Create publishers that append their messages to `sent`."""
        publishers = Publishers(context, planned)
        publishers.set_rates(RATES | {"joint_states": 1000.0, "controller_state": 1000.0})
        for publisher, topic in publishers.topics.items():
            if topic.rate in ("joint_states", "controller_state"):
                publisher.subscriptions = 1
                publisher.publish = self.sent.setdefault(topic.name, []).append
        return publishers

    def _count_commands(self) -> None:
        submit = self.simulation.commands.submit

        def counting(command: Callable[[], Any], **options: Any) -> "Future[Any]":
            self._submitted += 1
            return submit(command, **options)

        self.simulation.commands.submit = counting  # type: ignore[method-assign]

    def _received(self) -> int:
        return self._submitted + sum(self.refusals.counts.values())

    def _count_reset(self, _event: SimulationReset) -> None:
        self.resets += 1
