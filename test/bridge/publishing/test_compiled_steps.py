"""Compiled steps have the bits, stamps and messages of the same steps in Python."""

import ctypes
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest
from contexts import make_context
from random_models import random_mjcf
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from stepped_node import planned

from mujoco_ros.bridge.publishing import template_publisher
from mujoco_ros.bridge.publishing.publishers import Publishers
from mujoco_ros.bridge.publishing.template_publisher import Topic
from mujoco_ros.bridge.publishing.topics import CONTACTS, JOINT_REFERENCES, clock_topic
from mujoco_ros.control.cartesian import CartesianSettings
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import JointCommand
from mujoco_ros.model.scene.assembly import assemble_part
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.native import flush, steps_library
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.sim.shared_memory.writer import SharedStateWriter
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.writer import describe_robots
from mujoco_ros.sim.stepping.lockstep import Lockstep, LockstepConfig, SourceConfig
from mujoco_ros.sim.stepping.physics_thread import PhysicsThread, StepListener
from mujoco_ros.sim.stepping.real_time import Pacer

STEPS = 60
SCENES = ["humanoid", "arm", "quadruped", "zoo", "handover"]
TENDON = """<mujoco>
  <option timestep="0.001"/>
  <worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/></body></worldbody>
  <tendon><fixed name="cable"><joint joint="j" coef="0.5"/></fixed></tendon>
  <actuator>
    <position name="pull" tendon="cable" kp="3"/>
    <position name="help" tendon="cable" kp="2"/>
  </actuator>
</mujoco>"""


class _Array(ctypes.Structure):
    _fields_ = (("buffer", ctypes.c_void_p), ("length", ctypes.c_size_t))


_Publish = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Array), ctypes.c_void_p)


class Sent:
    """All that is handed to the middleware, which is replaced: publisher and bytes, in order."""

    def __init__(self) -> None:
        self.messages: list[tuple[int, bytes]] = []

        def publish(publisher: int, message: Any, _allocation: object) -> int:
            array = message.contents
            self.messages.append((publisher, ctypes.string_at(array.buffer, array.length)))
            return 0

        self._callback = _Publish(publish)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    sent = Sent()
    functions = template_publisher.publish_functions()
    if functions is None or steps_library(mujoco.mj_version()) is None:
        pytest.skip("the native part is not compiled: no C compiler")
    replaced = (sent.address, *functions[1:])
    monkeypatch.setattr(template_publisher, "publish_functions", lambda: replaced)
    return sent


def _is_of_python(topic: Topic) -> bool:
    """Whether the engine computes a topic's numbers on request alone."""
    return topic.rate == "engine" and topic.name.endswith(("/accel", "/jacobian"))


class Stepped:
    """A simulation with publishers of every topic, stepped by the code of the physics thread."""

    def __init__(self, node: Node, scene: str, sent: Sent, *, compiled: bool) -> None:
        is_text = scene.startswith("<")
        loaded = assemble_part(part_from_text(scene, name="it")) if is_text else load_scene(scene)
        self.simulation = Simulation(loaded)
        computed = "qacc", "qfrc_*", "actuator_*", "act*", "ctrl", "ten_*", "body *"
        # More often than the contacts, with which Python publishes everything.
        rates = {"publish_rate.contacts": 0.0, "publish_rate.engine": 500.0}
        settings = rates | {"engine_topics": computed}
        self.publishers = Publishers(make_context(node, self.simulation, settings), planned)
        self.publishers._clock.subscriptions = 1
        for publisher, topic in self.publishers.topics.items():
            publisher.subscriptions = int(not _is_of_python(topic))
        self.sent, self.compiled = sent, compiled
        self.listen()

    def listen(self, *others: StepListener) -> None:
        """Have the publishers and others called around steps."""
        self.listeners = (self.publishers, *others)
        self.thread = PhysicsThread(self.simulation, Pacer(0.001, factor=0.0), self.listeners)

    def run(self, steps: int) -> list[tuple[int, bytes]]:
        """Take steps; return what was sent."""
        self.sent.messages.clear()
        thread, taken = self.thread, 0
        while taken < steps:
            idle = thread._idle_steps() if self.compiled else 0
            if idle and self.simulation.idle_steps():
                before = thread._steps
                thread._take_compiled(min(idle, self.simulation.idle_steps(), steps - taken), 0.0)
                taken += thread._steps - before
                continue
            if idle:
                thread._take_single()
            elif self.simulation.step():
                for listener in self.listeners:
                    listener.after_step()
            taken += 1
        flush()
        return list(self.sent.messages)

    def state(self) -> list[bytes]:
        sample, data = self.simulation.sample, self.simulation.data
        arrays = sample.state, sample.sensordata, sample.qacc, data.ctrl, data.qpos, data.qvel
        return [array.tobytes() for array in arrays]


def named(stepped: Stepped, messages: list[tuple[int, bytes]]) -> list[tuple[str, str]]:
    """Return the messages with the names of their topics, without the bytes between numbers."""
    topics = {stepped.publishers._clock: clock_topic(), **stepped.publishers.topics}
    kinds = {publisher.handle.pointer: topic for publisher, topic in topics.items()}
    found = [(kinds[publisher], data) for publisher, data in messages]
    return [(t.name, str(deserialize_message(data, type(t.message)))) for t, data in found]


def both(node: Node, scene: str, sent: Sent) -> tuple[Stepped, Stepped]:
    return tuple(Stepped(node, scene, sent, compiled=compiled) for compiled in (True, False))  # type: ignore[return-value]


@pytest.mark.parametrize("scene", [*SCENES, TENDON])
def test_idle_steps_send_the_messages_of_steps_in_python(
    ros_node: Node, scene: str, sent: Sent
) -> None:
    compiled, python = both(ros_node, scene, sent)
    ours = named(compiled, compiled.run(STEPS))
    theirs = named(python, python.run(STEPS))
    assert len(ours) > STEPS
    assert ours == theirs
    in_python = [group.topics for group in compiled.publishers._stage.in_python]
    topics = [serialized.topic for topics in in_python for serialized in topics.values()]
    assert {topic.rate for topic in topics if not _is_of_python(topic)} <= {CONTACTS}
    assert compiled.state() == python.state()
    assert compiled.simulation.time == python.simulation.time


class _BetweenTicks(StepListener):
    def __init__(self, lockstep: Lockstep) -> None:
        self.idle_steps = lockstep.idle_steps  # type: ignore[method-assign]

    def wait(self, now: float) -> float:
        return 0.0


def test_steps_between_ticks_of_the_lockstep_send_the_messages_of_steps_in_python(
    ros_node: Node, sent: Sent
) -> None:
    source = SourceConfig(topic="joint_commands", robot="humanoid", rate=50.0)
    results = []
    for stepped in both(ros_node, "humanoid", sent):
        lockstep = stepped.publishers._lockstep
        lockstep.configure(LockstepConfig(sources=(source,)))
        stepped.listen(_BetweenTicks(lockstep))
        messages = named(stepped, stepped.run(STEPS))
        ticks = lockstep.status["joint_commands"].ticks
        results.append((messages, stepped.state(), ticks))
        assert (stepped.thread._steps > STEPS / 2) is stepped.compiled
    assert results[0] == results[1]
    assert results[0][-1] == STEPS / 20


def test_a_command_that_waits_for_a_tick_stops_no_step_between(ros_node: Node, sent: Sent) -> None:
    stepped = Stepped(ros_node, "humanoid", sent, compiled=True)
    lockstep, commands = stepped.publishers._lockstep, stepped.simulation.commands
    source = SourceConfig(topic="joint_commands", robot="humanoid", rate=50.0)
    lockstep.configure(LockstepConfig(sources=(source,)))
    stepped.listen(_BetweenTicks(lockstep))
    stepped.run(2)
    assert stepped.thread._idle_steps() > 1
    commands.submit(bool)
    assert stepped.thread._idle_steps() == 0
    before = stepped.simulation.step_number
    stepped.run(STEPS)
    assert stepped.simulation.step_number - before == STEPS


def test_another_controlled_frame_is_followed(ros_node: Node, sent: Sent) -> None:
    results = []
    for stepped in both(ros_node, "arm", sent):
        control = stepped.simulation.controls[0]
        assert isinstance(control.cartesian, CartesianController)
        before = named(stepped, stepped.run(45))
        frame = control.cartesian.chains.names[2]
        control.cartesian.configure(CartesianSettings(frame=frame))
        results.append((before, named(stepped, stepped.run(45))))
    assert results[0] == results[1]
    first, second = (
        {text.split("pose=")[1] for name, text in part if "current_pose" in name}
        for part in results[0]
    )
    assert first
    assert second
    assert first.isdisjoint(second)


def test_a_subscription_during_a_run_gets_what_python_computes(ros_node: Node, sent: Sent) -> None:
    results = []
    for stepped in both(ros_node, "arm", sent):
        topics = stepped.publishers.topics
        late = [publisher for publisher, topic in topics.items() if topic.rate == JOINT_REFERENCES]
        assert late
        for publisher in late:
            publisher.subscriptions = 0
        stepped.run(4)
        stepped.simulation.drives.kp[0] = 0.0  # the first joint follows no position any more
        stage = stepped.publishers._stage
        prepare = stage.prepare

        def join(time: float, prepare: Any = prepare, late: Any = late) -> None:
            prepare(time)
            for publisher in late:
                publisher.subscriptions = 1

        stage.prepare = join  # type: ignore[method-assign]
        if not stepped.compiled:
            join(0.0)
        results.append(named(stepped, stepped.run(3)))
    assert results[0] == results[1]
    assert "nan" in dict(results[0])["joint_references"]


@pytest.mark.parametrize("timeout", [0.0, 0.004])
@pytest.mark.parametrize("scene", ["humanoid", "arm"])
def test_commanded_steps_send_the_messages_of_steps_in_python(
    ros_node: Node, scene: str, timeout: float, sent: Sent
) -> None:
    results = []
    for stepped in both(ros_node, scene, sent):
        control = stepped.simulation.controls[0]
        control.stream = replace(control.stream, timeout=timeout)
        joints = np.arange(3)
        messages: list[tuple[str, str]] = []
        for target in (0.1, -0.2, 0.3):
            values = np.full((3, 3), np.nan)
            values[0] = target
            command = JointCommand(joints=joints, values=values, clamped=())
            time = float(stepped.simulation.data.time)
            control.command(CommandSource.JOINT_COMMANDS, command, time)
            messages += named(stepped, stepped.run(7))
        events = [type(event).__name__ for event in stepped.simulation.events]
        assert ("StreamStopped" in events) == bool(timeout)
        results.append((messages, events, stepped.state()))
    assert results[0] == results[1]


@pytest.mark.parametrize("seed", range(12))
def test_random_models_and_commands_have_the_bits_of_steps_in_python(
    ros_node: Node, seed: int, sent: Sent
) -> None:
    model, results = random_mjcf(np.random.default_rng(seed)), []
    for stepped in both(ros_node, model, sent):
        random = np.random.default_rng(seed)
        simulation, control = stepped.simulation, stepped.simulation.controls[0]
        count = len(control.joints.names)
        messages: list[tuple[str, str]] = []
        for _ in range(6):
            timeout, period = random.choice([0.0, 0.003]), random.choice([0.0, 0.01])
            control.stream = replace(control.stream, timeout=timeout, period=period)
            joints = np.flatnonzero(random.random(count) < 0.7)
            values = random.normal(size=(3, len(joints)))
            values[random.random(values.shape) < 0.3] = np.nan
            command = JointCommand(joints=joints, values=values, clamped=())
            control.command(CommandSource.JOINT_COMMANDS, command, float(simulation.data.time))
            messages += named(stepped, stepped.run(int(random.integers(1, 15))))
        assert stepped.simulation.compiled is not None
        results.append((messages, stepped.state(), simulation.divergences))
    assert results[0] == results[1]


class Sharing(StepListener):
    """Shares the state, as `ChildProcesses` does."""

    def __init__(self, simulation: Simulation) -> None:
        self.writer = SharedStateWriter(simulation, describe_robots)

    def after_step(self) -> None:
        self.writer.write()

    def idle_steps(self) -> int:
        return self.writer.idle_steps()


def test_shared_rows_are_those_of_steps_in_python(ros_node: Node, sent: Sent) -> None:
    rows = []
    for stepped in both(ros_node, "arm", sent):
        sharing = Sharing(stepped.simulation)
        stepped.listen(sharing)
        stepped.run(11)
        segment = sharing.writer._current.segment
        assert int(segment.counter[0]) == 12
        rows.append([bytes(row) for row in segment.rows])
        sharing.writer.close()
    assert rows[0] == rows[1]


def test_a_step_that_python_completes_has_the_references_of_its_own_time(
    ros_node: Node, sent: Sent
) -> None:
    results = []
    for stepped in both(ros_node, "humanoid", sent):
        control = stepped.simulation.controls[0]
        control.stream = replace(control.stream, period=0.02)
        values = np.full((3, 3), np.nan)
        values[0] = 0.3
        command = JointCommand(joints=np.arange(3), values=values, clamped=())
        control.command(CommandSource.JOINT_COMMANDS, command, float(stepped.simulation.data.time))
        compiled = stepped.simulation.compiled
        if stepped.compiled:
            compiled._settings[3:] = 1.0, 0.0, 0.0  # no solver converges within no iterations
        results.append(named(stepped, stepped.run(8)))
    assert results[0] == results[1]


def test_a_run_that_takes_no_step_leaves_the_references(ros_node: Node, sent: Sent) -> None:
    stepped = Stepped(ros_node, "arm", sent, compiled=True)
    simulation, thread = stepped.simulation, stepped.thread
    stepped.run(3)
    simulation.set_timestep(0.0005)
    values = np.full((3, 3), np.nan)
    values[0] = 0.3
    command = JointCommand(joints=np.arange(3), values=values, clamped=())
    simulation.controls[0].command(
        CommandSource.JOINT_COMMANDS, command, float(simulation.data.time)
    )
    before = simulation.references.values.copy()
    simulation.commands.wake()
    thread._take_compiled(min(thread._idle_steps(), simulation.idle_steps()), 0.0)
    assert simulation.references.values.tobytes() == before.tobytes()
