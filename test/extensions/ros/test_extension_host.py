"""Extensions of a package outside of the repository, in a running simulator."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

import sample_extensions
from belt_scene import write_belt_scene
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from extension_package import write_package
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import LoadWorld
from simulator_client import PAUSED, SimulatorClient
from simulators import SimulatorLauncher
from spawn_requests import named_resource, spawn
from std_msgs.msg import Float64
from std_srvs.srv import SetBool, Trigger

from mujoco_ros.sim.state_log.reader import StateLog

SCENE = """
extensions:
  - {use: conveyor_belt, name: belt, robot: line, settings: {speed: 0.5}}
  - {use: push, robot: "line*", settings: {body: band, force: 0.0}}
  - {use: fault, on_error: disable}
"""
MORE = "<mujoco model='m'><worldbody><body name='band' pos='0 5 2'><joint name='j'/>"
MORE += "<geom size='.1' pos='.1 0 0'/></body></worldbody></mujoco>"


class Line:
    """A simulator with a belt, and a client."""

    def __init__(self, start: SimulatorLauncher, scene: Path, log: Path) -> None:
        self.remote = SimulatorClient(
            start,
            robot="",
            scene=scene,
            fresh_interpreter=True,
            state_log=log,
            **{"extensions.fault.on_error": "pause", "extensions.belt.speed": 0.25},
        )
        self.listener = self.remote.listener
        self.diagnostics = self.listener.record(DiagnosticArray, "/diagnostics", reliable=True)

    def until(self, condition: Callable[[], Any]) -> bool:
        return self.listener.spin_until(lambda: bool(condition()))

    def call(self, kind: Any, name: str, **fields: Any) -> Any:
        client = self.listener.node.create_client(kind, name)
        assert self.until(client.service_is_ready)
        return self.listener.result(client.call_async(kind.Request(**fields)))

    def row(self, name: str) -> DiagnosticStatus | None:
        """Return the last row of an extension."""
        if not len(self.diagnostics):
            return None
        named = {row.name: row for row in self.diagnostics.latest.status}
        return named.get(f"mujoco: extension {name}")

    def shown(self, name: str) -> dict[str, str]:
        """Return the values of the last row of an extension."""
        row = self.row(name)
        return {} if row is None else {it.key: it.value for it in row.values}

    def message(self, name: str) -> str:
        row = self.row(name)
        return "" if row is None else row.message


@pytest.fixture
def line(start: SimulatorLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Line:
    site = tmp_path / "site"
    write_package(site, Path(sample_extensions.__file__), sample_extensions.ENTRY_POINTS)
    monkeypatch.setenv("PYTHONPATH", str(site))
    return Line(start, write_belt_scene(tmp_path, SCENE), tmp_path / "run.mjlog")


def test_extensions_have_parameters_topics_services_rows_and_logged_state(
    line: Line, tmp_path: Path
) -> None:
    listener, remote = line.listener, line.remote
    assert listener.get_parameter("extensions.belt.speed") == 0.25, "the start arguments win"
    distance = listener.record(Float64, "/belt/distance", reliable=True)
    assert line.until(lambda: len(distance) > 10)
    values = [message.data for message in distance.messages]
    assert values == sorted(values)
    assert values[-1] > values[0]
    (wrong,) = listener.set_parameters({"extensions.belt.speed": 11.0})
    assert not wrong.successful
    assert "from -10 to 10" in wrong.reason
    (wrong,) = listener.set_parameters({"extensions.push.direction": [0.0, 0.0, 0.0]})
    assert wrong.reason == "extension 'line/push': 'direction' must not be zero"
    (result,) = listener.set_parameters({"extensions.belt.speed": -0.5})
    assert result.successful
    assert line.until(lambda: distance.latest.data < max(it.data for it in distance.messages[:-1]))
    response = line.call(SetBool, "/belt/run", data=False)
    assert (response.success, response.message) == (True, "stopped")
    assert line.until(lambda: line.shown("line/belt").get("speed") == "-0.5")
    assert line.message("line/belt") == "enabled"
    times = ("time per step p50 [us]", "time per step p99 [us]")
    assert all(line.shown("line/belt")[name].isdigit() for name in times)

    spawned = spawn(remote, text=MORE, name="line_2")
    assert spawned.result.result == Result.RESULT_OK, spawned.result.error_message
    assert listener.get_parameter("line_2.extensions.push.force") == 0.0
    assert line.until(lambda: line.message("line_2/push") == "enabled")
    rejected = spawn(remote, text=MORE.replace("'band'", "'other'"), name="line_3")
    assert "extension 'line_3/push': robot 'line_3': body 'band'" in rejected.result.error_message
    assert remote.call("DeleteEntity", entity="line_2").result.result == Result.RESULT_OK
    assert line.until(lambda: line.row("line_2/push") is None)
    (gone,) = listener.set_parameters({"line_2.extensions.push.force": 1.0})
    assert not gone.successful

    scene = "robots: [{name: a, model: package://mujoco_ros/urdf_mjcf/arm/arm.xml}]\n"
    scene += "extensions: [{use: idle}]\n"
    world = remote.call("LoadWorld", **named_resource(LoadWorld.Request, text=scene))
    assert "can use the extensions of the scene at the start" in world.result.error_message

    assert listener.set_parameters({"extensions.fault.how": "exit"})[0].successful
    assert line.until(lambda: "before_step raised SystemExit(3)" in line.message("fault"))
    assert line.until(lambda: remote.state == PAUSED)
    assert line.until(lambda: listener.get_parameter("extensions.fault.enabled") is False)
    assert "extension 'fault': before_step raised SystemExit(3)" in remote.simulator.log
    both = {"extensions.fault.how": "", "extensions.fault.enabled": True}
    assert all(result.successful for result in listener.set_parameters(both))
    assert line.until(lambda: line.message("fault") == "enabled")
    assert listener.set_parameters({"extensions.belt.enabled": False})[0].successful
    response = line.call(SetBool, "/belt/run", data=True)
    assert (response.success, response.message) == (
        False,
        "extension 'line/belt' is disabled: its parameter 'enabled' is false",
    )
    assert line.call(Trigger, "/mujoco/save_keyframe").success
    remote.simulator.stop()
    log = StateLog.open(tmp_path / "run.mjlog")
    travelled = log.segments[0].extension("line/belt")[:, 1]
    assert travelled.max() >= max(values)
