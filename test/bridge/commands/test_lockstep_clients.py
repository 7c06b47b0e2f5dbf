"""Clients that step a simulator in lockstep: each run after a reset has the same bits."""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from control_msgs.msg import DynamicJointState, InterfaceValue
from geometry_msgs.msg import PoseStamped, WrenchStamped
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import ResetSimulation, SetEntityState
from simulators import WAIT_LIMIT_S, Listener, Simulator, SimulatorLauncher
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from unique_identifier_msgs.msg import UUID
from visualization_msgs.msg import InteractiveMarkerFeedback

RATE_HZ, PERIOD_NS = 200, 5_000_000
RESET = "/mujoco/reset_simulation"
TICKS, SENT_AT = 12, 4
RUNS, RESETS = 3, 10
ROBOT = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body name="arm">
      <joint name="elbow_joint" damping="1"/><geom size=".1" pos=".3 0 0"/>
      <body name="tip" pos=".5 0 0">
        <joint name="wrist" stiffness="1" damping=".1"/><geom size=".05" pos=".1 0 0"/>
        <site name="end"/>
      </body>
    </body>
    <body name="hand" mocap="true" pos="2 0 0"/>
    <body name="carried" pos="2 0 0"><freejoint/><geom size=".1"/><site name="hook"/></body>
  </worldbody>
  <equality><weld name="grip" body1="hand" body2="carried"/></equality>
  <tendon>
    <fixed name="cable"><joint joint="wrist" coef="1"/></fixed>
    <spatial name="spring" stiffness="20"><site site="end"/><site site="hook"/></spatial>
  </tendon>
  <actuator>
    <motor name="elbow" joint="elbow_joint" ctrlrange="-50 50"/>
    <general name="pump" tendon="cable"/>
  </actuator>
</mujoco>
"""


class Client:
    """Steps a simulator."""

    def __init__(self, listener: Listener) -> None:
        self.listener, self.node = listener, listener.node
        self.ticks: list[JointState] = []
        self.publishers: dict[str, Any] = {}
        self.clients: dict[str, Any] = {}
        self.responses: list[Any] = []
        self.subscription = self.node.create_subscription(
            JointState, "joint_states", self.ticks.append, 10
        )
        self.answers = self.publisher(JointState, "joint_commands")
        self.tick = self.next_tick(lambda tick: tick.header.frame_id != "")

    def publisher(self, kind: type, topic: str) -> Any:
        if topic not in self.publishers:
            found = self.publishers[topic] = self.node.create_publisher(kind, topic, 10)
            assert self.listener.spin_until(lambda: found.get_subscription_count() > 0)
        return self.publishers[topic]

    def client(self, kind: type, name: str) -> Any:
        if name not in self.clients:
            found = self.clients[name] = self.node.create_client(kind, name)
            assert self.listener.spin_until(found.service_is_ready)
        return self.clients[name]

    def call(self, kind: type, name: str, request: Any) -> Any:
        """Call a service; return the future of its response."""
        self.responses.append(self.client(kind, name).call_async(request))
        return self.responses[-1]

    def wait_until_discovered(self) -> None:
        """Wait until the simulator has received all that was sent, and so knows the senders."""
        assert self.listener.spin_until(lambda: all(it.done() for it in self.responses))
        for publisher in self.publishers.values():
            assert publisher.wait_for_all_acked(Duration(seconds=WAIT_LIMIT_S))

    def next_tick(self, wanted: Callable[[JointState], bool]) -> JointState:
        while True:
            assert self.listener.spin_until(lambda: bool(self.ticks)), "the clock has stopped"
            tick = self.ticks.pop(0)
            if wanted(tick):
                return tick

    def run(
        self, send: Callable[["Client"], object], read_first: str = "tick"
    ) -> tuple[str, list[int]]:
        """Reset, and return a fingerprint of all ticks with their stamps [ns].

        Args:
            send: What to do before the answer to one of the ticks.
            read_first: What to wait for after the request of the reset.
        """
        epoch = self.tick.header.frame_id
        future = self.call(ResetSimulation, RESET, ResetSimulation.Request())
        if read_first == "response":
            assert self.listener.spin_until(future.done)
            self.ticks.clear()  # those that were received before belong to another run, it thinks
        self.tick = self.next_tick(lambda tick: tick.header.frame_id != epoch)
        found, stamps = hashlib.sha256(), []
        for number in range(TICKS):
            tick = self.tick
            stamps.append(tick.header.stamp.sec * 1_000_000_000 + tick.header.stamp.nanosec)
            for values in (tick.position, tick.velocity, tick.effort):
                found.update(np.asarray(values).tobytes())
            if number == SENT_AT:
                send(self)
            position = 1.3 + 0.3 * np.sin(0.2 * number)
            answer = JointState(header=tick.header, name=["elbow_joint"], position=[position])
            self.answers.publish(answer)
            self.tick = self.next_tick(lambda it, known=tick.header: it.header != known)
        return found.hexdigest(), stamps

    def close(self) -> None:
        self.node.destroy_subscription(self.subscription)
        for publisher in self.publishers.values():
            self.node.destroy_publisher(publisher)
        for client in self.clients.values():
            self.node.destroy_client(client)
        self.listener.spin_for(0.5)  # the simulator counts subscriptions 20 times a second


def nothing(_client: Client) -> None:
    """Send nothing but answers."""


def stamped(client: Client, frame: str = "", ahead: int = 0) -> Header:
    """Return a header with the stamp of a tick that is some ticks ahead."""
    stamp = client.tick.header.stamp
    ahead_ns = stamp.nanosec + ahead * PERIOD_NS
    return Header(stamp=Time(sec=stamp.sec, nanosec=ahead_ns), frame_id=frame)


def number(name: str, value: float) -> Parameter:
    kind = ParameterType.PARAMETER_DOUBLE
    return Parameter(name=name, value=ParameterValue(type=kind, double_value=value))


def wrench(client: Client, *, ahead: int = 0, is_stamped: bool = True) -> None:
    header = stamped(client, "wrist_3_link", ahead)
    message = WrenchStamped(header=header if is_stamped else Header(frame_id="wrist_3_link"))
    message.wrench.force.y = 30.0
    client.publisher(WrenchStamped, "external_wrench").publish(message)


def pull(client: Client) -> None:
    kind = InteractiveMarkerFeedback
    message = kind(marker_name="wrist_3_link", event_type=kind.POSE_UPDATE)
    message.header = stamped(client, "world")
    message.pose.position.z = message.pose.orientation.w = 1.0
    client.publisher(kind, "external_wrench/pull").publish(message)


def wrist_trajectory() -> JointTrajectory:
    point = JointTrajectoryPoint(positions=[-1.2])
    point.time_from_start.nanosec = 100_000_000
    return JointTrajectory(joint_names=["wrist_2_joint"], points=[point])


def trajectory(client: Client) -> None:
    topic = "joint_trajectory_controller/joint_trajectory"
    client.publisher(JointTrajectory, topic).publish(wrist_trajectory())


def send_goal(client: Client, action: Any, name: str, goal: Any) -> None:
    kind = action.Impl.SendGoalService
    identifier = UUID(uuid=np.frombuffer(uuid4().bytes, np.uint8))
    request = kind.Request(goal_id=identifier, goal=goal)
    client.call(kind, f"/{name}/_action/send_goal", request)


def trajectory_goal(client: Client) -> None:
    goal = FollowJointTrajectory.Goal(trajectory=wrist_trajectory())
    name = "joint_trajectory_controller/follow_joint_trajectory"
    send_goal(client, FollowJointTrajectory, name, goal)


def gripper(client: Client) -> None:
    goal = ParallelGripperCommand.Goal()
    goal.command.name, goal.command.position = ["left_finger_joint"], [0.005]
    send_goal(client, ParallelGripperCommand, "gripper_controller/gripper_cmd", goal)


def gain(client: Client) -> None:
    request = SetParameters.Request(parameters=[number("gains.shoulder_lift_joint.kp", 300.0)])
    client.call(SetParameters, "/mujoco/set_parameters", request)


def set_joint(client: Client) -> None:
    request = SetParametersAtomically.Request(parameters=[number("wrist_1_joint.position", -0.9)])
    client.call(SetParametersAtomically, "/mujoco/set_joints", request)


def mocap(client: Client) -> None:
    message = PoseStamped(header=stamped(client, "world"))
    message.pose.position.x, message.pose.orientation.w = 2.5, 1.0
    client.publisher(PoseStamped, "mocap/hand/pose").publish(message)


def actuator(client: Client) -> None:
    value = InterfaceValue(interface_names=["ctrl"], values=[0.4])
    message = DynamicJointState(joint_names=["pump"], interface_values=[value])
    message.header = stamped(client)
    client.publisher(DynamicJointState, "actuator_commands").publish(message)


def entity_state(client: Client) -> None:
    request = SetEntityState.Request(entity="carried")
    request.state.pose.position.x, request.state.pose.orientation.w = 2.2, 1.0
    client.call(SetEntityState, "/mujoco/set_entity_state", request)


def equality(client: Client) -> None:
    value = ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=False)
    request = SetParameters.Request(parameters=[Parameter(name="equality.grip", value=value)])
    client.call(SetParameters, "/mujoco/set_parameters", request)


OF_ARM = [
    wrench,
    partial(wrench, ahead=2),
    partial(wrench, is_stamped=False),
    pull,
    trajectory,
    trajectory_goal,
    gripper,
    gain,
    set_joint,
]


class Stepped:
    """A simulator in lockstep with a client.

    Attributes:
        without: The fingerprint of a run in which nothing is sent.
    """

    def __init__(self, start: SimulatorLauncher, scene: object) -> None:
        lockstep = {"mode": "lockstep", "lockstep_sources": f"joint_commands@{RATE_HZ}"}
        self.simulator: Simulator = start.simulator(scene=scene, real_time_factor=0.0, **lockstep)
        self.listener = start.listener(self.simulator)
        self.simulator.wait_until_running()
        self.client = Client(self.listener)
        self.without = self.fingerprint(nothing)

    def replace_client(self) -> None:
        """Continue with another client."""
        self.client.close()
        self.client = Client(self.listener)

    def fingerprint(
        self, send: Callable[[Client], object], runs: int = RUNS, read_first: str = "tick"
    ) -> str:
        """Return the one fingerprint of some runs."""
        client = self.client
        client.run(send)  # opens what it sends by
        client.wait_until_discovered()
        done = [client.run(send, read_first) for _ in range(runs)]
        expected = [PERIOD_NS * tick for tick in range(TICKS)]
        assert all(stamps == expected for _, stamps in done)
        (found,) = {fingerprint for fingerprint, _ in done}
        return found


@pytest.fixture(scope="module")
def arm(start_shared: SimulatorLauncher) -> Stepped:
    return Stepped(start_shared, "arm")


@pytest.fixture(scope="module")
def robot(start_shared: SimulatorLauncher, tmp_path_factory: pytest.TempPathFactory) -> Stepped:
    model = tmp_path_factory.mktemp("robot") / "robot.xml"
    model.write_text(ROBOT)
    return Stepped(start_shared, model)


def test_every_run_after_a_reset_has_the_same_bits_whatever_a_client_reads_first(
    arm: Stepped,
) -> None:
    found = {arm.fingerprint(wrench, RESETS, first) for first in ("response", "tick")}
    arm.replace_client()
    found.add(arm.fingerprint(wrench))
    assert len(found) == 1


@pytest.mark.parametrize("send", OF_ARM)
def test_what_is_sent_to_an_arm_before_an_answer_acts_at_its_tick(
    arm: Stepped, send: Callable[[Client], object]
) -> None:
    assert arm.fingerprint(send) != arm.without


@pytest.mark.parametrize("send", [mocap, actuator, entity_state, equality])
def test_what_is_sent_to_bodies_before_an_answer_acts_at_its_tick(
    robot: Stepped, send: Callable[[Client], object]
) -> None:
    assert robot.fingerprint(send) != robot.without


def test_an_answer_to_a_tick_from_before_a_reset_is_dropped_with_the_reason(arm: Stepped) -> None:
    old = arm.client.tick.header
    arm.client.run(nothing)
    arm.client.answers.publish(JointState(header=old, name=["elbow_joint"], position=[0.0]))
    arm.simulator.wait_for_log(f"answers a tick of {old.frame_id}")
