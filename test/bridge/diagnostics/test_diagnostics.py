"""The reports on /diagnostics about time and engine, and their times."""

import re
import time
from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from command_clients import ARM, CommandClient
from contexts import make_context
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.impl.implementation_singleton import rclpy_implementation
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import (
    DeleteEntity,
    ResetSimulation,
    SetSimulationState,
    SpawnEntity,
)
from simulators import DATA, ROOT, Recording, Simulator, SimulatorLauncher, stamps_of
from spawn_requests import resource_of
from stepped_node import SteppedNode
from zoo_recording import ROBOTS, ZooRecording

from benchmark.processes.simulator_client import SimulatorClient
from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.diagnostics import Diagnostics
from mujoco_ros.bridge.diagnostics.report import DiagnosticReport
from mujoco_ros.bridge.model_switch import HoldTimes
from mujoco_ros.sim.stepping.physics_thread import PhysicsThread
from mujoco_ros.sim.stepping.real_time import Pacer

_RUNAWAY = DATA / "runaway.xml"
_TIME = {
    "simulated time [s]",
    "real-time factor asked",
    "real-time factor achieved",
    "lag [ms]",
    "time dropped in total [s]",
    "deadline misses in total",
    "steps",
    "commands waiting at most",
    "waited for commands or results [s]",
    *(
        f"step {of} p{percent} [us]"
        for of in ("period", "cost")
        for percent in ("50", "99", "99.9")
    ),
}
_ENGINE = {
    "divergences",
    "contacts",
    "constraints",
    "solver iterations",
    "solver iterations at most",
}


def _values(status: Any) -> dict[str, str]:
    return {value.key: value.value for value in status.values}


def test_a_healthy_simulation_reports_its_time_and_its_engine(zoo: ZooRecording) -> None:
    message = zoo.recordings["/diagnostics"].latest
    names = [status.name for status in message.status]
    assert names[:4] == [
        "mujoco: real time",
        "mujoco: engine",
        "mujoco: control",
        "mujoco: commands",
    ]
    pace, engine, control, commands = message.status[:4]
    middleware = next(status for status in message.status if status.name == "mujoco: middleware")
    assert {status.hardware_id for status in message.status} == {"MuJoCo"}
    assert set(_values(pace)) == _TIME
    assert float(_values(pace)["real-time factor asked"]) == 0.1
    assert 0.05 < float(_values(pace)["real-time factor achieved"]) < 0.2
    assert 0 < float(_values(pace)["step cost p50 [us]"]) < 1e5
    assert set(_values(engine)) == _ENGINE
    assert (engine.level, engine.message) == (DiagnosticStatus.OK, "healthy")
    assert _values(engine)["divergences"] == "0"
    assert (middleware.level, middleware.message) == (DiagnosticStatus.OK, "accepts every message")
    assert int(_values(engine)["contacts"]) > 8  # two feet, four feet, two boxes
    assert int(_values(engine)["solver iterations"]) > 0
    assert (commands.level, commands.message) == (DiagnosticStatus.OK, "none yet")
    assert (control.level, control.message) == (DiagnosticStatus.OK, "as commanded")
    assert set(_values(control)) == {f"{robot}: unclaimed" for robot in ROBOTS}
    joints = zoo.recordings["/left_arm/joint_states"].messages[0].name
    assert _values(control)["left_arm: unclaimed"] == ", ".join(joints)


def test_the_stamp_equals_the_reported_simulated_time(zoo: ZooRecording) -> None:
    for message in zoo.recordings["/diagnostics"].messages:
        stamp = message.header.stamp.sec + message.header.stamp.nanosec * 1e-9
        assert abs(stamp - float(_values(message.status[0])["simulated time [s]"])) < 1e-3


def test_a_report_comes_about_once_a_second(zoo: ZooRecording, start: SimulatorLauncher) -> None:
    listener = start.listener(zoo.simulator)
    arrivals: list[float] = []
    listener.node.create_subscription(
        DiagnosticArray, "/diagnostics", lambda _: arrivals.append(time.monotonic()), 10
    )
    # Some consecutive ones, because others may be late on a busy machine.
    assert listener.spin_until(
        lambda: len(arrivals) >= 3 and 0.7 < np.mean(np.diff(arrivals[-3:])) < 1.5
    )


def _control(recording: Recording) -> Any:
    """Return the latest status of control."""
    return recording.latest.status[2]


@pytest.fixture(scope="module")
def arm(start_shared: SimulatorLauncher) -> Simulator:
    return start_shared.simulator(scene="arm", diagnostics__dropped_time__warn=-1.0)


def test_control_reports_the_owner_of_each_joint_and_the_changed_commands(
    arm: Simulator, start: SimulatorLauncher
) -> None:
    listener = start.listener(arm)
    diagnostics = listener.record(DiagnosticArray, "/diagnostics", reliable=True)
    commander = CommandClient(listener)
    assert listener.spin_until(lambda: len(diagnostics) > 0)
    assert set(_values(_control(diagnostics))) == {"unclaimed"}

    commander.publish_joints(ARM[3:5], effort=[1000.0, 0.0])
    saturated = "steps at the torque limit: wrist_1_joint"
    assert listener.spin_until(lambda: saturated in _values(_control(diagnostics)))
    control = _control(diagnostics)
    assert (control.level, control.message) == (
        DiagnosticStatus.WARN,
        "at the torque limit: wrist_1_joint",
    )
    assert int(_values(control)[saturated]) > 100
    assert _values(control)["held by joint_commands"] == "wrist_1_joint, wrist_2_joint"
    assert "wrist_1_joint" not in _values(control)["unclaimed"]

    commander.publish_joints(["tail"], effort=[1000.0])
    lost = "joints lost to position_controller on joint_commands"

    def set_state(state: int) -> None:
        request = SetSimulationState.Request(state=SimulationState(state=state))
        listener.call(SetSimulationState, "set_simulation_state", request)

    set_state(SimulationState.STATE_PAUSED)  # an ended stream is not preempted
    commander.publish_joints(ARM[3:5], effort=[1000.0, 0.0])
    commander.publish_forward("position", [7.0, -8.0, 0.0, 0.0, 0.0, 0.0])
    set_state(SimulationState.STATE_PLAYING)
    assert listener.spin_until(lambda: lost in _values(_control(diagnostics)))
    values = _values(_control(diagnostics))
    assert values[lost] == "1"
    assert values["refused on joint_commands"] == "1"
    assert int(values["positions clamped on position_controller/commands"]) == 2
    assert values["held by position_controller"] == ", ".join(ARM)
    # The level covers the last second; the counts start with the simulator. By now the arm may be
    # jammed, and no command frees it.
    reset = listener.call(ResetSimulation, "reset_simulation", ResetSimulation.Request())
    assert reset.result.result == Result.RESULT_OK
    assert listener.spin_until(lambda: _control(diagnostics).level == DiagnosticStatus.OK)
    assert _values(_control(diagnostics))[lost] == "1"


def context_of(stepped: SteppedNode) -> NodeContext:
    physics = PhysicsThread(stepped.simulation, Pacer(0.001), [])
    models = SimpleNamespace(holds=HoldTimes())
    return make_context(stepped.node, stepped.simulation, status=physics.status, models=models)


@pytest.fixture
def components() -> list[Component]:
    """Components that report rows."""
    return []


@pytest.fixture
def diagnostics(stepped: SteppedNode, components: list[Component]) -> Iterator[Diagnostics]:
    """The reports on a simulation that no thread steps."""
    diagnostics = Diagnostics(context_of(stepped), components)
    diagnostics.start()
    yield diagnostics
    stepped.node.destroy_timer(diagnostics._timer)
    stepped.node.destroy_publisher(diagnostics._publisher._publisher)


@pytest.fixture
def published(diagnostics: Diagnostics, monkeypatch: pytest.MonkeyPatch) -> list[DiagnosticArray]:
    """The published reports."""
    published: list[DiagnosticArray] = []
    monkeypatch.setattr(diagnostics._publisher._publisher, "publish", published.append)
    return published


def test_a_report_that_the_middleware_rejects_is_dropped(
    stepped: SteppedNode, diagnostics: Diagnostics, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[DiagnosticArray] = []

    def refuse(message: DiagnosticArray) -> None:
        refused.append(message)
        raise rclpy_implementation.RCLError("cannot publish data")

    monkeypatch.setattr(diagnostics._publisher._publisher, "publish", refuse)
    stepped.diverge()
    diagnostics.close()
    assert len(refused) == 1


class Mine(Component):
    name = "mine"

    def report(self) -> DiagnosticReport:
        return DiagnosticReport("all right", {"answer": "42"})


class Broken(Component):
    name = "broken"

    def report(self) -> DiagnosticReport:
        raise LookupError("no such thing")


class Engine(Mine):
    name = "engine"


class Unnamed(Mine):
    name = ""


def test_a_row_has_a_name_of_its_own(stepped: SteppedNode) -> None:
    context = context_of(stepped)
    for components, problem in (
        ([Mine(), Mine()], "has a row 'mine' already"),
        ([Engine()], "has a row 'engine' already"),
        ([Unnamed()], "Unnamed has a report, and needs a name"),
    ):
        with pytest.raises(ValueError, match=problem):
            Diagnostics(context, components)


@pytest.mark.parametrize("components", [[Broken(), Mine()]])
def test_a_row_that_fails_is_an_error_of_its_own(
    stepped: SteppedNode, diagnostics: Diagnostics, published: list[DiagnosticArray]
) -> None:
    stepped.diverge()
    diagnostics.close()
    broken, mine = published[0].status[-2:]
    assert (broken.level, broken.message) == (
        DiagnosticStatus.ERROR,
        "no report: LookupError('no such thing')",
    )
    assert (mine.level, mine.message) == (DiagnosticStatus.OK, "all right")
    assert _values(mine) == {"answer": "42"}


def test_a_physics_thread_without_response_is_reported_once_and_blocks_nothing(
    stepped: SteppedNode,
    diagnostics: Diagnostics,
    published: list[DiagnosticArray],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logged: list[str] = []
    monkeypatch.setattr(diagnostics._errors, "_log", logged.append)
    times = [time.monotonic()]
    for _ in range(40):
        diagnostics._poll()
        times.append(time.monotonic())
    assert np.median(np.diff(times)) < 0.0025
    assert logged == ["physics thread: no answer for 0.5 s"]
    alone = published[-1]
    count = len(published)
    assert count < 4, "once a second, with the rows of the components"
    stepped.step()
    diagnostics._poll()
    assert len(published) == count + 1
    assert len(alone.status) < len(published[-1].status)


def test_repeated_messages_of_the_engine_are_logged_rarely_with_a_count(
    stepped: SteppedNode,
    diagnostics: Diagnostics,
    published: list[DiagnosticArray],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    warned: list[str] = []
    failed: list[str] = []
    monkeypatch.setattr(diagnostics._warnings, "_log", warned.append)
    monkeypatch.setattr(diagnostics._errors, "_log", failed.append)
    # A process has one log handler of the engine: threads of earlier tests may compile meanwhile.
    mujoco.set_mju_user_warning(stepped.simulation.engine_messages.append)
    stepped.simulation.note_change("body.a.mass = 1e-09")
    for _ in range(5):
        stepped.diverge()
        diagnostics._poll()  # sends the request
        stepped.step()
        diagnostics._poll()  # takes the response
    assert len(published) == 5
    assert len(failed) == 1
    assert [re.sub(r"Q(VEL|ACC) .*Time = \d.*", r"Q\1", warning) for warning in warned] == [
        "MuJoCo: Nan, Inf or huge value in QVEL",
        "MuJoCo: Nan, Inf or huge value in QACC",
    ]
    assert re.fullmatch(
        r"engine: the simulation diverged; on_divergence: reset \(before \d+\.\d+ s; "
        r"the last change of parameters was body\.a\.mass = 1e-09, at \d+\.\d+ s\)",
        failed[0],
    )
    assert [status.message for status in (m.status[1] for m in published)] == ["diverged"] * 5


def _errors(recording: Any) -> list[Any]:
    return [m for m in recording.messages if m.status[1].level == DiagnosticStatus.ERROR]


def test_a_divergence_is_logged_and_reported_at_once_and_the_simulation_continues(
    start: SimulatorLauncher,
) -> None:
    # It diverges after every 0.215 s of simulated time.
    simulator = start.simulator(scene=_RUNAWAY, real_time_factor=0.2)
    listener = start.listener(simulator)
    diagnostics = listener.record(DiagnosticArray, "/diagnostics", reliable=True)
    states = listener.record(JointState, "/joint_states", reliable=True)
    clock = listener.record(Clock, "/clock", reliable=True)
    assert listener.spin_until(lambda: len(_errors(diagnostics)) >= 2)
    for message in _errors(diagnostics):
        engine = message.status[1]
        assert engine.message == "diverged"
        simulated = float(_values(message.status[0])["simulated time [s]"])
        divergence = int(_values(engine)["divergences"])
        # Within some polls of 0.1 s after the divergence, at a fifth of real time.
        assert 0 <= simulated - 0.215 * divergence < 0.1
    assert any(m.status[1].level == DiagnosticStatus.OK for m in diagnostics.messages)
    simulator.wait_for_log("MuJoCo: Nan, Inf or huge value in QACC at DOF 0")
    simulator.wait_for_log("the simulation diverged")
    numbers = [[*m.position, *m.velocity, *m.effort] for m in states.messages]
    assert np.isfinite(numbers).all()
    stamps = stamps_of(clock.messages)
    assert stamps == sorted(set(stamps))


def test_a_simulation_that_pauses_on_divergence_still_serves_requests(
    start: SimulatorLauncher,
) -> None:
    simulator = start.simulator(scene=_RUNAWAY, on_divergence="pause")
    listener = start.listener(simulator)
    diagnostics = listener.record(DiagnosticArray, "/diagnostics", reliable=True)
    assert listener.spin_until(
        lambda: any(m.status[0].message == "paused" for m in diagnostics.messages)
    )
    diagnostics.raw.clear()
    assert listener.spin_until(lambda: len(diagnostics) >= 2)
    first, second = diagnostics.messages[:2]
    assert first.status[0].message == second.status[0].message == "paused"
    assert first.header.stamp == second.header.stamp
    assert _values(second.status[0])["steps"] == "0"
    assert listener.get_parameter("on_divergence") == "pause"
    assert simulator.stop() == 0


def test_a_simulation_that_shuts_down_on_divergence_has_an_error_of_one_line(
    start: SimulatorLauncher,
) -> None:
    simulator = start.simulator(scene=_RUNAWAY, on_divergence="shutdown")
    assert simulator.process.wait(60) == 1
    assert "Traceback" not in simulator.log
    assert simulator.log.splitlines()[-1] == (
        "mujoco_ros: error: the simulation diverged at 0.2140 s"
    )


def test_dropped_time_is_counted_and_is_an_error(start: SimulatorLauncher) -> None:
    simulator = start.simulator(scene="zoo", real_time_factor=1000.0)
    listener = start.listener(simulator)
    diagnostics = listener.record(DiagnosticArray, "/diagnostics", reliable=True)
    assert listener.spin_until(lambda: len(diagnostics) >= 2)
    pace = diagnostics.latest.status[0]
    assert pace.level == DiagnosticStatus.ERROR  # more than half of it
    assert "too slow" in pace.message
    values = _values(pace)
    assert float(values["time dropped in total [s]"]) > 0.5
    assert int(values["deadline misses in total"]) > 100
    assert 0 < float(values["real-time factor achieved"]) < 1000


def test_limits_can_be_changed_at_run_time(arm: Simulator, start: SimulatorLauncher) -> None:
    listener = start.listener(arm)
    diagnostics = listener.record(DiagnosticArray, "/diagnostics", reliable=True)
    assert listener.get_parameter("diagnostics.dropped_time.warn") == -1.0
    (result,) = listener.set_parameters({"diagnostics.lag.error": 20.0})
    assert not result.successful
    assert "it is a number from -1 to 10" in result.reason
    (result,) = listener.set_parameters({"diagnostics.lag.error": 0.0})
    assert result.successful
    assert listener.spin_until(
        lambda: any(m.status[0].level == DiagnosticStatus.ERROR for m in diagnostics.messages)
    )
    assert any(m.status[0].message.startswith("lags ") for m in diagnostics.messages)


def test_robots_are_reported_between_their_spawning_and_deletion(arm: Simulator) -> None:
    robot = str(ROOT / "urdf_mjcf" / "quadruped" / "quadruped.xml")
    with closing(SimulatorClient(arm.domain)) as client:
        client.until(lambda: "unclaimed" in client.report.get("control", {}))
        spawn = SpawnEntity.Request(name="dog", entity_namespace="dog")
        resource_of(spawn).uri = robot
        assert client.call(SpawnEntity, "spawn_entity", spawn).result.result == Result.RESULT_OK
        client.until(lambda: "dog: unclaimed" in client.report["control"])
        assert "FL_hip_joint" in client.report["control"]["dog: unclaimed"]
        assert client.report["world"]["changes"] == "1"
        assert float(client.report["world"]["longest hold of the physics [ms]"]) < 150
        delete = DeleteEntity.Request(entity="dog")
        assert client.call(DeleteEntity, "delete_entity", delete).result.result == Result.RESULT_OK
        client.until(lambda: "unclaimed" in client.report["control"])
