"""Rates, stamps and subscribers of published topics."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
import yaml
from contexts import make_context
from control_msgs.msg import JointTrajectoryControllerState
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from simulators import DATA, WAIT_LIMIT_S, SimulatorLauncher, stamps_of, steps_of
from stepped_node import planned
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.diagnostics.report import NEVER, OK, WARN
from mujoco_ros.bridge.publishing import template_publisher
from mujoco_ros.bridge.publishing.publishers import Publishers
from mujoco_ros.bridge.publishing.template_publisher import Topic
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.model.scene.config import RATES, load_scene
from mujoco_ros.model.scene.worlds import no_world
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep import Lockstep, LockstepConfig, SourceConfig
from mujoco_ros.wire.qos import SENSOR

_PROBE = str(DATA / "probe.xml")


def publishers_of(
    node: Node, simulation: Simulation, values: Mapping[str, Any] | None = None
) -> Publishers:
    return Publishers(make_context(node, simulation, values), planned)


class Watched:
    """Publishers of a simulation, driven step by step, and all they hand to the middleware."""

    def __init__(self, node: Node, scene: str, **values: Any) -> None:
        self.node = node
        self.sent: list[tuple[str, type, bytes]] = []
        self.simulation = Simulation(load_scene(scene))
        self.publishers = publishers_of(node, self.simulation, values)
        self._watch(self.publishers._clock, Clock)
        for publisher, topic in self.publishers.topics.items():
            self._watch(publisher, type(topic.message))

    def topic(self, name: str) -> tuple[TopicPublisher, Topic]:
        (found,) = (it for it in self.publishers.topics.items() if it[1].name == name)
        return found

    def _watch(self, publisher: TopicPublisher, kind: type) -> None:
        publish = publisher.publish

        def watched(data: bytes) -> None:
            self.sent.append((publisher.topic, kind, data))
            publish(data)

        publisher.publish = watched

    def run(self, steps: int) -> None:
        for _ in range(steps):
            if self.simulation.step():
                self.publishers.publish()

    def steps(self, topic: str) -> list[int]:
        """Return the steps at which messages were sent on a topic."""
        kinds = [(kind, data) for name, kind, data in self.sent if name == topic]
        return steps_of([deserialize_message(data, kind) for kind, data in kinds])

    def topics(self) -> set[str]:
        return {name for name, _, _ in self.sent}


@pytest.fixture
def watched(ros_node: Node) -> Watched:
    return Watched(ros_node, _PROBE)


def test_nothing_is_published_without_a_subscriber(watched: Watched) -> None:
    watched.run(50)
    assert watched.sent == []


def test_a_topic_is_published_from_the_first_subscription_to_the_last(
    watched: Watched, ros_node: Node, spin_until: Callable[..., bool]
) -> None:
    def run_and_list() -> set[str]:
        watched.sent.clear()
        watched.run(10)
        return watched.topics()

    for _ in range(2):
        first = ros_node.create_subscription(JointState, "joint_states", lambda _: None, 10)
        assert spin_until(lambda: run_and_list() == {"joint_states"}, WAIT_LIMIT_S)
        second = ros_node.create_subscription(JointState, "joint_states", lambda _: None, 10)
        other = ros_node.create_subscription(Imu, "imu/tip", lambda _: None, SENSOR)
        assert spin_until(lambda: run_and_list() == {"joint_states", "imu/tip"}, WAIT_LIMIT_S)
        ros_node.destroy_subscription(first)
        ros_node.destroy_subscription(other)
        assert spin_until(lambda: run_and_list() == {"joint_states"}, WAIT_LIMIT_S)
        ros_node.destroy_subscription(second)
        assert spin_until(lambda: run_and_list() == set(), WAIT_LIMIT_S)


@pytest.fixture
def received(watched: Watched, ros_node: Node, spin_until: Callable[..., bool]) -> Watched:
    """Publishers with a subscription to every topic."""
    kinds = {"/clock": Clock, "/tf": TFMessage, "joint_states": JointState}
    kinds |= {"imu/tip": Imu, "imu/carriage": Imu, "wrench/pole_ft": WrenchStamped}
    for topic, kind in kinds.items():
        ros_node.create_subscription(kind, topic, lambda _: None, SENSOR)

    def everything_sent() -> bool:
        watched.run(1)
        return watched.topics() == set(kinds)

    assert spin_until(everything_sent, WAIT_LIMIT_S)
    watched.sent.clear()
    return watched


def with_states_and_clock(
    watched: Watched, spin_until: Callable[..., bool], run: Callable[[], object]
) -> None:
    """Subscribe to the joint states and the clock."""
    for topic, kind in {"/clock": Clock, "joint_states": JointState}.items():
        watched.node.create_subscription(kind, topic, lambda _: None, SENSOR)

    def both_sent() -> bool:
        run()
        return watched.topics() == {"/clock", "joint_states"}

    assert spin_until(both_sent, WAIT_LIMIT_S)
    watched.sent.clear()


@pytest.mark.parametrize(("rate", "every"), [(250.0, 4), (1000.0, 1), (300.0, 4)])
def test_the_clock_has_a_rate_of_its_own_and_follows_joint_states_for_ros2_control(
    ros_node: Node, spin_until: Callable[..., bool], rate: float, every: int
) -> None:
    watched = Watched(ros_node, _PROBE, clock_rate=rate, ros2_control=True)
    with_states_and_clock(watched, spin_until, lambda: watched.run(1))
    watched.run(100)
    clock, states = watched.steps("/clock"), watched.steps("joint_states")
    assert all(step % every == 0 for step in clock)
    assert len(clock) == 100 // every
    assert set(clock) <= set(states), "a state of the time of each clock message"
    order = [topic for topic, kind, data in watched.sent]
    for index in (index for index, topic in enumerate(order) if topic == "/clock"):
        step = len([topic for topic in order[: index + 1] if topic == "/clock"]) - 1
        sent = len([topic for topic in order[:index] if topic == "joint_states"])
        assert states[sent - 1] == clock[step], "published before the clock"


def test_the_rate_of_the_clock_can_be_changed(watched: Watched, spin_until: Any) -> None:
    with_states_and_clock(watched, spin_until, lambda: watched.run(1))
    command = watched.publishers.apply_parameters({"clock_rate": 100.0})
    assert command is not None
    command()
    watched.run(50)
    clock = watched.steps("/clock")
    assert len(clock) == 5
    assert all(step % 10 == 0 for step in clock)


def test_a_manager_gets_the_clock_at_its_ticks_and_when_it_may_have_missed_it(
    ros_node: Node, spin_until: Callable[..., bool]
) -> None:
    confirmed: list[tuple[str, ...]] = []
    watched = Watched(ros_node, _PROBE, ros2_control=True)
    publishers, lockstep = watched.publishers, watched.publishers._lockstep
    publishers._confirm = lambda topics: confirmed.append(tuple(topics))
    source = SourceConfig(topic="joint_commands", robot="probe", rate=250.0, manager=True)
    lockstep.configure(LockstepConfig(sources=(source,)))
    wall = [10.0]

    def act(_time: float) -> None:
        """Change nothing."""

    def run(steps: int = 1, *, answer: bool = True) -> None:
        """Step, and answer every tick at once."""
        for _ in range(steps):
            watched.run(1)
            if answer and watched.simulation.step_number % 4 == 0:
                stamp = round(watched.simulation.time * 1e9)
                lockstep.take("joint_commands", stamp, act, ("slider",))
            while lockstep.waiting and answer:
                wall[0] += 0.05
                lockstep.wait(wall[0])

    with_states_and_clock(watched, spin_until, run)
    run(40)
    clock = watched.steps("/clock")
    assert all(step % 4 == 0 for step in clock)
    while watched.simulation.step_number % 4 != 3:
        run()
    watched.sent.clear()
    confirmed.clear()
    run(answer=False)
    assert confirmed == [("joint_commands",)]
    assert [topic for topic, _, _ in watched.sent] == ["joint_states", "/clock"]
    watched.sent.clear()
    for _ in range(20):
        wall[0] += 0.05
        lockstep.wait(wall[0])
        publishers.wait(wall[0])
    times = [stamps_of([deserialize_message(data, kind)])[0] for _, kind, data in watched.sent]
    (tick,) = stamps_of([deserialize_message(watched.sent[-1][2], Clock)])
    back = divmod(tick[0] * 1_000_000_000 + tick[1] - 1, 1_000_000_000)
    pairs = list(zip(times[::2], times[1::2], strict=True))
    assert len(pairs) > 1, "it is repeated until the manager publishes"
    assert set(pairs) == {(back, tick)}, "the smallest step back, and forth"
    lockstep.take("joint_commands", round(watched.simulation.time * 1e9), act, ("slider",))
    watched.sent.clear()
    for _ in range(20):
        wall[0] += 0.05
        lockstep.wait(wall[0])
        publishers.wait(wall[0])
    assert watched.sent == []


def test_each_message_follows_one_clock_message_of_its_stamp(
    received: Watched,
) -> None:
    received.run(200)
    clock = received.steps("/clock")
    assert len(clock) == 100
    assert all(before < after for before, after in pairwise(clock))
    now = None
    for topic, kind, data in received.sent:
        (step,) = steps_of([deserialize_message(data, kind)])
        if topic == "/clock":
            now = step
        assert now is None or step == now


def test_rates_count_simulated_steps(received: Watched) -> None:
    received.publishers.set_rates(
        {"joint_states": 1000.0, "imu": 200.0, "wrench": 0.0, "tf": 30.0, **_OFF}
    )
    received.run(1000)
    first = received.steps("joint_states")[0]
    assert received.steps("joint_states") == list(range(first, first + 1000))
    last = first + 999
    assert received.steps("imu/tip") == [s for s in range(first, last + 1) if s % 5 == 0]
    assert received.steps("imu/carriage") == received.steps("imu/tip")
    # 1000/30 steps, rounded
    assert received.steps("/tf") == [s for s in range(first, last + 1) if s % 33 == 0]
    assert received.steps("wrench/pole_ft") == []
    assert received.steps("/clock") == received.steps("joint_states")


@pytest.mark.parametrize("hours", [1, 24, 1000])
def test_stamps_are_whole_steps_even_after_hours(received: Watched, hours: int) -> None:
    received.simulation.reset(time=hours * 3600.0)
    received.run(1)
    received.sent.clear()
    received.run(1000)
    first = received.steps("joint_states")[0]
    assert first - hours * 3_600_000 in (1, 2)
    assert received.steps("joint_states") == list(range(first, first + 1000, 2))


def test_a_rate_above_the_step_rate_is_one_message_a_step(received: Watched) -> None:
    received.publishers.set_rates(
        {"joint_states": 100_000.0, "imu": 0.0, "wrench": 0.0, "tf": 0.0, **_OFF}
    )
    received.run(20)
    assert len(received.steps("joint_states")) == 20


def test_with_every_rate_zero_not_even_the_clock_is_published(received: Watched) -> None:
    received.publishers.set_rates(dict.fromkeys(RATES, 0.0))
    received.run(50)
    assert received.sent == []


def test_no_two_clock_stamps_are_equal_across_a_change_of_rates_and_a_divergence(
    ros_node: Node, spin_until: Callable[..., bool]
) -> None:
    watched = Watched(ros_node, str(DATA / "runaway.xml"))
    ros_node.create_subscription(Clock, "/clock", lambda _: None, 10)
    ros_node.create_subscription(JointState, "joint_states", lambda _: None, 10)

    def sent() -> bool:
        watched.run(1)
        return watched.topics() == {"/clock", "joint_states"}

    assert spin_until(sent, WAIT_LIMIT_S)
    for rate in (1000.0, 500.0, 333.0, 1000.0):
        watched.publishers.set_rates(dict.fromkeys(RATES, rate))
        watched.run(150)
    assert watched.simulation.divergences >= 2
    clock = watched.steps("/clock")
    assert len(clock) > 400
    assert all(before < after for before, after in pairwise(clock))
    states = [deserialize_message(d, k) for n, k, d in watched.sent if n == "joint_states"]
    assert all(np.isfinite([*s.position, *s.velocity, *s.effort]).all() for s in states)


_OFF = {"contact": 0.0, "odom": 0.0, "base_accel": 0.0, "controller_state": 0.0}


def _controllers(node: Node, scene: str, *, controllers: bool) -> list[str]:
    """Return the robots whose trajectory controller's state is published."""
    simulation = Simulation(load_scene(scene))
    names = publishers_of(node, simulation, {"ros2_control": not controllers}).topics
    names = [publisher.topic for publisher in names]
    end = "joint_trajectory_controller/controller_state"
    return [name.removesuffix(end) for name in names if name.endswith(end)]


def test_controller_states_are_published_unless_controllers_are_disabled(
    ros_node: Node,
) -> None:
    robots = ["humanoid/", "quadruped/", "left_arm/", "right_arm/"]
    assert _controllers(ros_node, "zoo", controllers=True) == robots
    assert _controllers(ros_node, "arm", controllers=True) == [""]
    assert _controllers(ros_node, "zoo", controllers=False) == []


def test_the_state_of_a_controller_has_its_own_rate(
    watched: Watched, ros_node: Node, spin_until: Callable[..., bool]
) -> None:
    topic = "joint_trajectory_controller/controller_state"
    ros_node.create_subscription(JointTrajectoryControllerState, topic, lambda _: None, 10)

    def sent() -> bool:
        watched.run(10)
        return watched.topics() == {topic}

    assert spin_until(sent, WAIT_LIMIT_S)
    for rate, every in ((None, 10), (1000.0, 1), (0.0, None)):
        if rate is not None:
            watched.publishers.set_rates(RATES | {"controller_state": rate})
        watched.sent.clear()
        watched.run(100)
        assert set(np.diff(watched.steps(topic))) == ({every} if every else set())


def test_depths_are_those_of_the_contract(ros_node: Node) -> None:
    watched = Watched(ros_node, "humanoid")
    depths = {p.topic_name: p.qos_profile.depth for p in watched.node.publishers}
    assert depths["/joint_states"] == depths["/odom"] == depths["/clock"] == 10
    assert depths["/imu/pelvis_imu"] == depths["/wrench/left_ankle_ft"] == 5
    assert depths["/joint_trajectory_controller/controller_state"] == 10
    assert depths["/tf"] == 100


def test_the_odometry_of_a_single_robot_has_frames_without_a_prefix(ros_node: Node) -> None:
    watched = Watched(ros_node, "humanoid")
    _, odom = watched.topic("odom")
    assert (odom.message.header.frame_id, odom.message.child_frame_id) == ("world", "pelvis")


def test_a_model_with_several_floating_bases_has_a_topic_for_each(
    ros_node: Node, tmp_path: Path
) -> None:
    base = (
        '<body name="{0}"><freejoint/><geom size=".1"/>'
        '<body><joint name="{0}_tail"/><geom size=".1" pos="{1} 0 0"/></body></body>'
    )
    bodies = base.format("first", 1) + base.format("second", 2)
    model = tmp_path / "pair.xml"
    model.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    watched = Watched(ros_node, str(model))
    assert {"/clock", *(publisher.topic for publisher in watched.publishers.topics)} == {
        "/clock",
        "/tf",
        "joint_states",
        "contact_states",
        *(f"{topic}/{base}" for topic in ("odom", "base_accel") for base in ("first", "second")),
    }


def _spacing(recording: Any) -> int:
    """Return the smallest number of steps between messages, which bounds the rate."""
    return int(np.diff(steps_of(recording.messages)).min())


def test_rates_are_set_by_parameter_at_startup_and_at_run_time(start: SimulatorLauncher) -> None:
    simulator = start.simulator(
        scene=_PROBE, real_time_factor=0.2, publish_rate__imu=1000.0, publish_rate__wrench=0.0
    )
    listener = start.listener(simulator)
    joints = listener.record(JointState, "/joint_states", reliable=True)
    imu = listener.record(Imu, "/imu/tip")
    wrench = listener.record(WrenchStamped, "/wrench/pole_ft")
    frames = listener.record(TFMessage, "/tf", reliable=True)
    clock = listener.record(Clock, "/clock", reliable=True)
    everything = (joints, imu, wrench, frames, clock)
    assert listener.spin_until(lambda: len(frames) >= 5 and len(imu) >= 40 and len(joints) >= 20)
    assert [_spacing(r) for r in (joints, imu, frames, clock)] == [2, 1, 10, 1]
    assert not len(wrench)

    rates = {"joint_states": 100.0, "imu": 0.0, "wrench": 250.0, "tf": 50.0}
    results = listener.set_parameters(
        {f"publish_rate.{topic}": rate for topic, rate in rates.items()}, atomic=True
    )
    assert results[0].successful
    # The last message at the old rate is still in flight.
    assert listener.spin_until(lambda: len(wrench) >= 10)
    for recording in everything:
        recording.raw.clear()
    assert listener.spin_until(lambda: len(frames) >= 5 and len(wrench) >= 20 and len(joints) >= 10)
    assert [_spacing(r) for r in (joints, wrench, frames)] == [10, 4, 20]
    assert not len(imu)
    warnings = simulator.warnings()
    assert len(warnings) == 1, warnings
    assert "robot 'probe' has no gains file" in warnings[0]


def test_rates_of_a_robot_in_the_scene_file_override_the_parameters(
    start: SimulatorLauncher, tmp_path: Path
) -> None:
    robots = [
        {"name": "one", "model": _PROBE, "publish_rate": {"joint_states": 250, "imu": 0}},
        {"name": "two", "model": _PROBE, "pose": {"xyz": [0.0, 3.0, 0.0]}},
    ]
    scene = tmp_path / "rates.yaml"
    scene.write_text(yaml.safe_dump({"robots": robots}))
    listener = start.listener(
        start.simulator(scene=scene, real_time_factor=0.2, publish_rate__joint_states=100.0)
    )
    own = listener.record(JointState, "/one/joint_states", reliable=True)
    other = listener.record(JointState, "/two/joint_states", reliable=True)
    off = listener.record(Imu, "/one/imu/tip")
    on = listener.record(Imu, "/two/imu/tip")
    assert listener.spin_until(lambda: len(own) >= 20 and len(other) >= 8 and len(on) >= 20)
    assert [_spacing(recording) for recording in (own, other, on)] == [4, 10, 2]
    assert not len(off)
    assert len(set(stamps_of(own.messages))) == len(own)


def test_messages_keep_their_period_when_the_timestep_changes(
    watched: Watched, ros_node: Node, spin_until: Callable[..., bool]
) -> None:
    ros_node.create_subscription(JointState, "joint_states", lambda _: None, SENSOR)
    publisher, _ = watched.topic("joint_states")
    assert spin_until(lambda: publisher.subscriptions)
    simulation, publishers = watched.simulation, watched.publishers
    timestep = simulation.model.opt.timestep
    publishers.set_rates({**RATES, "joint_states": 0.1 / timestep})
    watched.run(33)
    simulation.set_timestep(2 * timestep)
    publishers.set_rates({**RATES, "joint_states": 0.1 / timestep})
    watched.sent.clear()
    watched.run(50)
    sent = [deserialize_message(d, k) for name, k, d in watched.sent if name == "joint_states"]
    times = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in sent]
    assert np.diff(times) == pytest.approx([10 * timestep] * (len(times) - 1))
    assert len(times) == 10


def test_a_sample_is_not_repeated_for_a_robot_that_has_left_the_lockstep(ros_node: Node) -> None:
    simulation = Simulation(load_scene("zoo"))
    lockstep = Lockstep(simulation)
    publishers = Publishers(make_context(ros_node, simulation, lockstep=lockstep), planned)
    sources = [
        SourceConfig(topic=f"{arm}/joint_commands", robot=arm, rate=1000.0)
        for arm in ("left_arm", "right_arm")
    ]
    joined = [it for it in publishers.topics if it.topic.endswith("arm/joint_states")]
    sent: list[str] = []
    for publisher in joined:
        publisher.subscriptions = 1
        publisher.publish = lambda _data, topic=publisher.topic: sent.append(topic)

    def repeated() -> list[str]:
        sent.clear()
        publishers._joined.extend((0.0, it) for it in joined)
        publishers.wait(0.9)
        assert not sent, "a new client may reset first"
        publishers.wait(1.0)
        return sent

    lockstep.configure(LockstepConfig(sources=tuple(sources)))
    simulation.step()
    publishers.publish()
    assert sent == repeated() == ["left_arm/joint_states", "right_arm/joint_states"]
    lockstep.configure(LockstepConfig(sources=(sources[1],)))
    assert repeated() == ["right_arm/joint_states"]


def test_lost_messages_are_logged_once(watched: Watched) -> None:
    publishers = watched.publishers
    limits = {"diagnostics.lost_messages.warn": 0.0, "diagnostics.lost_messages.error": NEVER}
    publishers._clock.lost_by_compiled[0] = 4
    report = publishers.report()
    assert report.judged(limits) == (WARN, "rejected 4 messages")
    assert report.values == {"messages lost on /clock": "4"}
    assert publishers.report().judged(limits) == (OK, "accepts every message")
    publishers._clock.lost_by_compiled[0] = 0
    assert publishers.report().judged(limits) == (OK, "accepts every message")


def test_publishers_of_the_previous_model_close_while_the_simulation_is_paused(
    ros_node: Node,
) -> None:
    # Nodes of other tests may publish the same topics without a namespace.
    node = rclpy.create_node("closing", context=ros_node.context, namespace="closing")
    simulation = Simulation(load_scene(_PROBE))
    publishers = publishers_of(node, simulation)
    publishers.idle_steps()  # which plans compiled steps
    publishers.publish(everything=True)
    assert node.count_publishers("joint_states") == 1
    plant = simulation.build_plant(no_world())
    publishers.build(plant)
    publishers.prepare(plant)
    simulation.switch_model(plant)
    publishers.commit()
    publishers.finish()
    assert node.count_publishers("joint_states") == 0
    node.destroy_node()


def test_no_step_is_compiled_where_the_functions_of_rcl_are_not_found(
    ros_node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template_publisher, "publish_functions", lambda: None)
    assert not publishers_of(ros_node, Simulation(load_scene(_PROBE))).idle_steps()
