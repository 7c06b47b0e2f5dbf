"""The running program: its log, its names and its end."""

import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from simulators import Simulator, SimulatorLauncher
from zoo_recording import PERIODIC

from mujoco_ros.bridge.component import Component, ComponentNode
from mujoco_ros.bridge.parameters.parameters import ParameterRejectedError
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.sim.state_log.reader import StateLog

_IN_TIME_S = 20.0


@pytest.fixture(scope="module")
def zoo(start_shared: SimulatorLauncher) -> Simulator:
    simulator = start_shared.simulator(scene="zoo", real_time_factor=0.1)
    simulator.wait_until_running()
    return simulator


def test_the_log_names_the_scene_and_the_topics_of_its_robots(zoo: Simulator) -> None:
    zoo.wait_for_log("topics: ")
    log = zoo.log
    assert "humanoid: 33 joints, 1 IMU" in log
    assert "simulating 'zoo' with a step of 1 ms, at factor 0.1" in log
    for topic in PERIODIC:
        assert f"/{topic.removeprefix('/')}" in log
    assert zoo.warnings() == []


def test_a_namespace_moves_the_robots_topics_and_leaves_the_clock(start: SimulatorLauncher) -> None:
    simulator = start.simulator(scene="quadruped", remaps=("__ns:=/left_half",))
    listener = start.listener(simulator)
    states = listener.record(JointState, "/left_half/joint_states", reliable=True)
    clock = listener.record(Clock, "/clock", reliable=True)
    assert listener.spin_until(lambda: len(states) > 0 and len(clock) > 0)


def test_an_incompatible_qos_is_logged_by_publisher_and_subscriber(
    zoo: Simulator, start: SimulatorLauncher
) -> None:
    listener = start.listener(zoo)
    imu = listener.record(
        Imu,
        "/humanoid/imu/pelvis_imu",
        qos=QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE),
    )

    def has_warned() -> bool:
        return "requests an incompatible QoS of '/humanoid/imu" in zoo.log

    assert listener.spin_until(has_warned)
    (line,) = [line for line in zoo.log.splitlines() if "incompatible QoS" in line]
    assert line.endswith(
        "node 'listener' requests an incompatible QoS of '/humanoid/imu/pelvis_imu': "
        "Best effort publisher and reliable subscription"
    )
    assert not len(imu)


def _running(start: SimulatorLauncher, **parameters: Any) -> Simulator:
    """Return a simulator whose messages are being received."""
    simulator = start.simulator(**parameters)
    listener = start.listener(simulator)
    states = listener.record(JointState, "/joint_states", reliable=True)
    imu = listener.record(Imu, "/imu/trunk_imu")
    assert listener.spin_until(lambda: len(states) > 10 and len(imu) > 10)
    return simulator


def _assert_ends(simulator: Simulator, number: signal.Signals, times: int = 1) -> None:
    warnings, before = simulator.warnings(), time.monotonic()
    for _ in range(times):
        simulator.process.send_signal(number)
    assert simulator.process.wait(30) == 0
    assert time.monotonic() - before < _IN_TIME_S
    # As fast as possible, the middleware may refuse messages; that is logged for any signal.
    unexpected = [line for line in simulator.warnings() if "get lost" not in line]
    assert unexpected == [line for line in warnings if "get lost" not in line]
    simulator.wait_until_gone()


@pytest.mark.parametrize(("number", "factor"), [(signal.SIGINT, 0.0), (signal.SIGTERM, 1.0)])
def test_a_signal_ends_the_process_in_time_without_a_message(
    start: SimulatorLauncher, number: signal.Signals, factor: float
) -> None:
    _assert_ends(_running(start, scene="quadruped", real_time_factor=factor), number)


def test_a_second_interrupt_has_no_effect(start: SimulatorLauncher) -> None:
    # From the terminal, and from `ros2 launch`, which has received it too.
    simulator = start.simulator(scene="quadruped", fresh_interpreter=True)
    simulator.wait_until_running()
    _assert_ends(simulator, signal.SIGINT, times=2)


def test_a_signal_before_the_handlers_are_installed_ends_the_process(
    start: SimulatorLauncher,
) -> None:
    simulator = start.simulator(scene="quadruped")
    simulator.wait_until_running()
    _assert_ends(simulator, signal.SIGINT)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux' /proc")
def test_a_signal_during_the_start_is_not_lost(start: SimulatorLauncher) -> None:
    simulator = start.simulator(scene="zoo", fresh_interpreter=True)
    deadline = time.monotonic() + 30
    while not _catches_sigterm(simulator.process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.001)
    _assert_ends(simulator, signal.SIGTERM)
    assert "simulating" not in simulator.log


def _catches_sigterm(pid: int) -> bool:
    """Return whether the program has set its signal handlers; Python alone has none for SIGTERM."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    status = dict(line.split(":\t", 1) for line in lines)
    return bool(int(status["SigCgt"], 16) & 1 << (signal.SIGTERM - 1))


def test_a_missing_scene_is_an_error_of_one_line(start: SimulatorLauncher) -> None:
    simulator = start.simulator(scene="quadrupet")
    assert simulator.process.wait(60) == 1
    assert simulator.log.count("\n") == 1
    assert simulator.log.startswith("mujoco_ros: error: scene 'quadrupet' not found (did you mean")


def test_an_unknown_parameter_is_an_error_before_a_file_is_written(
    start: SimulatorLauncher, tmp_path: Path
) -> None:
    log = tmp_path / "run.mjlog"
    simulator = start.simulator(scene="quadruped", state_log=log, real_time_facto=0.5)
    assert simulator.process.wait(60) == 1
    assert (
        "parameter 'real_time_facto' not found (did you mean 'real_time_factor'?" in simulator.log
    )
    assert not log.exists()


def test_the_state_log_has_the_colours_that_were_set_at_start(
    start: SimulatorLauncher, tmp_path: Path
) -> None:
    log = tmp_path / "run.mjlog"
    simulator = _running(
        start, scene="quadruped", state_log=log, geom__floor__rgba="[1.0, 0.0, 0.0, 1.0]"
    )
    _assert_ends(simulator, signal.SIGINT)
    (segment,) = StateLog.open(log).segments
    assert segment.model.geom("floor").rgba.tolist() == [1.0, 0.0, 0.0, 1.0]


def test_the_other_components_stop_and_close_after_one_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Witness(Component):
        def stop(self) -> None:
            calls.append("stop")

        def close(self) -> None:
            calls.append("close")

    class Faulty(Component):
        def stop(self) -> None:
            raise ZeroDivisionError

        close = stop

    calls: list[str] = []
    node: Any = SimpleNamespace(
        components=[Witness(), Faulty(), Witness()],
        physics=SimpleNamespace(stop=lambda: calls.append("physics")),
        models=SimpleNamespace(close=lambda: calls.append("models")),
    )
    ComponentNode.stop(node)
    assert calls == ["stop", "stop", "physics", "models", "close", "close"]
    assert caplog.text.count("component Faulty failed") == 2


def test_the_other_components_follow_a_reset_after_one_fails() -> None:
    class Faulty(Component):
        def on_reset(self, event: SimulationReset) -> None:
            raise ParameterRejectedError("no")

    class Witness(Component):
        def on_reset(self, event: SimulationReset) -> None:
            events.append(event)

    events: list[SimulationReset] = []
    node: Any = SimpleNamespace(components=[Faulty(), Witness()])
    event = SimulationReset(time=0.0, before=1.0, gain_changes=0)
    ComponentNode.notify_reset(node, event)
    assert events == [event]
