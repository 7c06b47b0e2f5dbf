"""A controller of another package whose states are faulty, in a running simulator."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import faulty_states
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs import msg, srv
from simulation_interfaces.msg import Result
from simulator_client import SimulatorClient
from simulators import DATA, SimulatorLauncher

TABLE = """
rate: 200
initial: IDLE
states:
  IDLE: {class: Hold}
  EXIT: {class: Fault, how: exit}
  AWAIT: {class: Fault, how: await a number}
  LOOP: {class: Fault, how: loop}
  SLOW: {class: Fault, how: sleep, duration: 0.4}
transitions:
  IDLE:
    exit: {to: EXIT, trigger: request}
    await: {to: AWAIT, trigger: request}
    loop: {to: LOOP, trigger: request}
    slow: {to: SLOW, trigger: request}
  "*": {done: IDLE}
"""


class Faulty:
    """A simulator with the controller above, and a client."""

    def __init__(
        self, start: SimulatorLauncher, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        files = {
            "faulty.yaml": TABLE,
            "faulty_states.py": Path(faulty_states.__file__).read_text(encoding="utf-8"),
            "faulty-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: faulty\nVersion: 1\n",
            "faulty-1.dist-info/entry_points.txt": (
                "[mujoco_ros.states]\nFault = faulty_states:Fault\n"
            ),
        }
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(folder))
        self.remote = SimulatorClient(
            start,
            scene=DATA / "probe.xml",
            controller=folder / "faulty.yaml",
            controller_time_limit=0.5,
            fresh_interpreter=True,
        )
        self.listener = self.remote.listener
        self.diagnostics = self.listener.record(DiagnosticArray, "/diagnostics", reliable=True)
        self._change = self.listener.node.create_client(srv.ChangeState, "/faulty/change_state")
        assert self.until(self._change.service_is_ready)

    def until(self, condition: Callable[[], Any]) -> bool:
        return self.listener.spin_until(lambda: bool(condition()))

    def reset(self) -> None:
        assert self.remote.call("ResetSimulation").result.result == Result.RESULT_OK
        assert self.until_row(DiagnosticStatus.OK, "in IDLE")

    def request(self, label: str) -> None:
        wanted = srv.ChangeState.Request(transition=msg.Transition(label=label))
        assert self.listener.result(self._change.call_async(wanted)).success

    def until_row(self, level: bytes, *texts: str) -> bool:
        """Spin until a later row of the controller has a level and texts."""
        first = len(self.diagnostics)

        def has_row() -> bool:
            rows = [
                row
                for message in self.diagnostics.messages[first:]
                for row in message.status
                if row.name == "mujoco: controller"
            ]
            return any(it.level == level and all(t in it.message for t in texts) for it in rows)

        return self.until(has_row)

    def advances(self) -> bool:
        count = len(self.remote.clock)
        return self.until(lambda: len(self.remote.clock) > count + 50)


@pytest.fixture
def faulty(start: SimulatorLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Faulty:
    return Faulty(start, tmp_path, monkeypatch)


def test_no_state_stops_the_simulator(faulty):
    place = "(Fault.run, faulty_states.py:"
    for label, text in (
        ("exit", "it raised SystemExit(3)"),
        ("await", "context.awaited contains a int"),
        ("loop", "did not return within 0.5 s and was interrupted"),
    ):
        faulty.reset()
        faulty.request(label)
        named = f"state '{label.upper()}' {place}"
        assert faulty.until_row(
            DiagnosticStatus.ERROR, named if label != "await" else "AWAIT", text
        )
        assert f"controller 'faulty' stopped in {label.upper()}: " in faulty.remote.simulator.log
        assert faulty.advances(), "with the joints held"
    assert f"controller 'faulty': state 'LOOP' {place}" in faulty.remote.simulator.log
    faulty.reset()
    faulty.request("slow")
    assert faulty.until_row(DiagnosticStatus.WARN, "slow ticks in state 'SLOW', of up to", "lost")
    assert "slow ticks in state 'SLOW', of up to" in (faulty.remote.simulator.log)
    assert faulty.until_row(DiagnosticStatus.OK, "in IDLE")
