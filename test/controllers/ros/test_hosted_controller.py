"""A controller in a running simulator, used over ROS as `ros2 lifecycle` does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs import msg, srv
from rcl_interfaces.srv import DescribeParameters
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile
from simulation_interfaces.msg import Result
from simulator_client import SimulatorClient
from simulators import DATA, SimulatorLauncher
from std_msgs.msg import String

TABLE = """
rate: 200
initial: IDLE
states:
  IDLE: {class: Hold}
  WORK: {class: Wait, duration: 100.0}
  REST: {class: Wait, duration: 0.1}
transitions:
  IDLE: {go: {to: WORK, trigger: request}}
  WORK: {done: REST, abort: {to: IDLE, trigger: request}}
  REST: {done: {to: IDLE, trigger: strict}}
"""


class Hosted:
    """A simulator with the controller above, and a client of both."""

    def __init__(self, start: SimulatorLauncher, folder: Path) -> None:
        table = folder / "worker.yaml"
        table.write_text(TABLE)
        given = {"worker:REST.duration": 0.2}
        self.remote = SimulatorClient(start, scene=DATA / "probe.xml", controller=table, **given)
        self.listener = self.remote.listener
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.states = self.listener.record(String, "/worker/state", qos=latched)
        self.events = self.listener.record(
            msg.TransitionEvent, "/worker/transition_event", reliable=True
        )
        self.diagnostics = self.listener.record(DiagnosticArray, "/diagnostics", reliable=True)
        self.parameters = AsyncParameterClient(self.listener.node, "/worker")
        self._clients: dict[str, Any] = {}
        assert self.until(lambda: self.states)
        assert self.until(self.parameters.services_are_ready)

    def until(self, condition: Callable[[], Any]) -> bool:
        return self.listener.spin_until(lambda: bool(condition()))

    def call(self, kind: Any, service: str, **fields: Any) -> Any:
        if service not in self._clients:
            client = self.listener.node.create_client(kind, f"/worker/{service}")
            assert self.until(client.service_is_ready)
            self._clients[service] = client
        return self.listener.result(self._clients[service].call_async(kind.Request(**fields)))

    @property
    def state(self) -> str:
        return str(self.call(srv.GetState, "get_state").current_state.label)

    def change(self, label: str = "", number: int = 0) -> bool:
        wanted = msg.Transition(id=number, label=label)
        return bool(self.call(srv.ChangeState, "change_state", transition=wanted).success)

    def transitions(self, service: str) -> list[tuple[int, str, str, str]]:
        response = self.call(srv.GetAvailableTransitions, service)
        return [
            (it.transition.id, it.transition.label, it.start_state.label, it.goal_state.label)
            for it in response.available_transitions
        ]

    def become(self, state: str) -> None:
        assert self.until(lambda: self.states.messages[-1].data == state)

    def reset(self) -> None:
        self.set(WORK__duration=100.0)
        assert self.remote.call("ResetSimulation").result.result == Result.RESULT_OK
        self.become("IDLE")

    def set(self, **values: float) -> list[Any]:
        parameters = [
            Parameter(name.replace("__", "."), value=value) for name, value in values.items()
        ]
        return list(self.listener.result(self.parameters.set_parameters(parameters)).results)

    def row(self) -> DiagnosticStatus:
        """Return the row of the next message on /diagnostics."""
        count = len(self.diagnostics)
        assert self.until(lambda: len(self.diagnostics) > count + 1)
        rows = {row.name: row for row in self.diagnostics.messages[-1].status}
        return rows["mujoco: controller"]


@pytest.fixture(scope="module")
def hosted(start_shared: SimulatorLauncher, tmp_path_factory: pytest.TempPathFactory) -> Hosted:
    return Hosted(start_shared, tmp_path_factory.mktemp("table"))


def test_state_and_transitions_are_served(hosted):
    hosted.reset()
    states = hosted.call(srv.GetAvailableStates, "get_available_states").available_states
    assert [(state.id, state.label) for state in states] == [
        *((1, "IDLE"), (2, "WORK"), (3, "REST"), (4, "inactive"), (5, "error"))
    ]
    assert hosted.transitions("get_transition_graph") == [
        (1, "go", "IDLE", "WORK"),
        (2, "done", "WORK", "REST"),
        (3, "abort", "WORK", "IDLE"),
        (4, "done", "REST", "IDLE"),
    ]
    assert hosted.state == "IDLE"
    assert hosted.transitions("get_available_transitions") == [
        (1, "go", "IDLE", "WORK"),
        (6, "deactivate", "IDLE", "inactive"),
    ]


def test_a_controller_is_stopped_and_started_by_lifecycle_transitions(hosted):
    hosted.reset()
    assert hosted.change("go")
    hosted.become("WORK")
    seen = len(hosted.events)
    assert hosted.change("deactivate")
    hosted.become("inactive")
    assert hosted.transitions("get_available_transitions") == [(5, "activate", "inactive", "IDLE")]
    assert not hosted.change("go")
    assert not hosted.change("deactivate")
    assert hosted.row().message == "inactive"
    assert hosted.change(number=5)
    hosted.become("IDLE")
    assert hosted.change("go")
    hosted.become("WORK")
    assert hosted.until(lambda: len(hosted.events) >= seen + 3)
    labels = [it.transition.label for it in hosted.events.messages[seen:]]
    assert labels == ["deactivate", "activate", "go"]


def test_a_transition_is_requested_by_label_or_number_and_rejected_if_not_available(hosted):
    hosted.reset()
    seen = len(hosted.events)
    assert not hosted.change("abort")
    assert hosted.change("go")
    hosted.become("WORK")
    assert not hosted.change("go")
    assert not hosted.change(number=77)
    assert hosted.state == "WORK"
    log = hosted.remote.simulator.log
    assert "rejected: 'abort' is not available in IDLE; available: go" in log
    assert "rejected: 'go' is not available in WORK; available: abort" in log
    assert "rejected: 'transition 77' is not available in WORK; available: abort" in log
    assert hosted.change(number=3)
    hosted.become("IDLE")
    assert hosted.until(lambda: len(hosted.events) == seen + 2)
    made = hosted.events.messages[seen:]
    assert [(it.transition.label, it.start_state.label, it.goal_state.label) for it in made] == [
        *(("go", "IDLE", "WORK"), ("abort", "WORK", "IDLE"))
    ]
    stamps = [it.timestamp for it in made]
    assert all(stamp % 5_000_000 == 0 for stamp in stamps), "simulated time, of a tick"
    assert 0 < stamps[0] < stamps[1]


def test_settings_apply_from_the_next_start_and_wrong_ones_are_rejected(hosted):
    hosted.reset()
    described = hosted.listener.result(
        hosted.parameters._describe_parameters_client.call_async(
            DescribeParameters.Request(names=["WORK.duration", "REST.duration"])
        )
    )
    assert [it.description for it in described.descriptors] == ["[s]", "[s]"]
    assert hosted.change("go")
    hosted.become("WORK")
    assert all(result.successful for result in hosted.set(WORK__duration=0.05))
    (refused,) = hosted.set(WORK__duration=-1.0)
    assert refused.reason == "WORK: duration -1.0 is negative"
    (unknown,) = hosted.set(WORK__velocity=1.0)
    assert unknown.reason.startswith("parameter 'WORK.velocity' not found")
    values = hosted.listener.result(
        hosted.parameters.get_parameters(["WORK.duration", "REST.duration"])
    ).values
    assert [it.double_value for it in values] == [0.05, 0.2], "the second from the command line"
    assert hosted.state == "WORK", "which began with 100 s"
    assert hosted.change("abort")
    hosted.become("IDLE")
    seen = len(hosted.events)
    assert hosted.change("go")
    hosted.become("REST")
    assert hosted.until(lambda: len(hosted.events) == seen + 2)
    begun, ended = (it.timestamp for it in hosted.events.messages[seen:])
    assert ended - begun == 55_000_000, "the state that follows begins a tick later"


def test_a_reset_of_the_simulation_restarts_the_controller_and_is_published(hosted):
    hosted.reset()
    assert hosted.change("go")
    hosted.become("WORK")
    seen = len(hosted.events)
    hosted.reset()
    assert hosted.until(lambda: len(hosted.events) > seen)
    event = hosted.events.messages[-1]
    assert (event.transition.label, event.start_state.label) == ("reset", "WORK")
    assert hosted.transitions("get_available_transitions")[0][1] == "go"


def test_a_stopped_controller_reports_an_error_until_a_reset(hosted):
    hosted.reset()
    assert hosted.row().level == DiagnosticStatus.OK
    hosted.listener.set_parameters({"physics.timestep": 0.003})
    hosted.become("error")
    row = hosted.row()
    assert row.level == DiagnosticStatus.ERROR
    assert "period of 5 ms is not a multiple of the simulation's timestep of 3 ms" in row.message
    assert not hosted.change("go")
    labels = [label for _, label, *_ in hosted.transitions("get_available_transitions")]
    assert labels == ["activate", "deactivate"]
    assert hosted.state == "error"
    hosted.listener.set_parameters({"physics.timestep": 0.001})
    hosted.reset()
    assert hosted.change("go")
    hosted.become("WORK")
