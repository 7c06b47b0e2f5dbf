"""The child processes of a running simulator, their restarts and their load.

The tests share a simulator and depend on their order.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import SetEntityState, SetSimulationState, SpawnEntity
from simulators import WAIT_LIMIT_S, Listener, Recording, Simulator, SimulatorLauncher
from spawn_requests import resource_of

from mujoco_ros.process.heartbeat import TIMEOUT_S
from mujoco_ros.sim.shared_memory.memory_block import SharedHeader
from mujoco_ros.sim.shared_memory.reader import SharedState, Update

_BUSY_S = 1.0
"""Delay that a busy machine may add to the documented times."""


class SimulatorWithCameras:
    """A simulator and its camera process."""

    def __init__(self, start: SimulatorLauncher) -> None:
        self.simulator: Simulator = start.simulator(
            scene="arm", cameras="true", cameras_at_start="true"
        )
        self.listener: Listener = start.listener(self.simulator)
        self.diagnostics: Recording = self.listener.record(DiagnosticArray, "/diagnostics")
        self.simulator.wait_until_running()
        self.state = SharedState(self._shared())
        self.head = SharedHeader.open(self._shared())

    def cameras(self) -> int | None:
        """Return the process id of the camera process that runs at present."""
        group = os.getpgid(self.simulator.process.pid)
        return next((pid for pid in _named("cameras") if os.getpgid(pid) == group), None)

    def wait_for_heartbeat(self) -> None:
        """Wait until each heartbeat of the camera process is due 1.5 s after the previous one."""
        assert self.listener.spin_until(
            lambda: self.head.deadline(0)[0] < time.monotonic() + TIMEOUT_S, WAIT_LIMIT_S
        )

    def wait_for_another(self, pid: int) -> None:
        """Wait until another camera process runs."""
        assert self.listener.spin_until(lambda: self.cameras() not in (pid, None))

    def row(self, name: str = "child processes") -> DiagnosticStatus:
        """Return the next message of a diagnostic row."""
        count, found = len(self.diagnostics), []

        def received() -> bool:
            statuses = [
                status for message in self.diagnostics.messages[count:] for status in message.status
            ]
            found[:] = [status for status in statuses if status.name == f"mujoco: {name}"]
            return bool(found)

        assert self.listener.spin_until(received)
        return found[-1]

    def figure(self, key: str, row: str = "child processes") -> str:
        return next(value.value for value in self.row(row).values if value.key == key)

    def dropped(self) -> float:
        return float(self.figure("time dropped in total [s]", "real time"))

    def call(self, kind: Any, name: str, request: Any) -> Any:
        """Return the response of a service of the simulator."""
        client = self.listener.node.create_client(kind, f"/mujoco/{name}")
        assert self.listener.spin_until(client.service_is_ready)
        return self.listener.result(client.call_async(request))

    def _shared(self) -> str:
        """Return the name of the shared state: the first block of the simulator."""
        assert self.listener.spin_until(lambda: self.cameras() is not None)
        files = Path(f"/proc/{self.simulator.process.pid}/fd").iterdir()
        blocks = [file for file in files if "memfd:mujoco_ros" in str(file.resolve())]
        return str(min(blocks, key=lambda file: int(file.name)))


def _named(name: str) -> Iterator[int]:
    """Yield the ids of the processes with a name."""
    for file in Path("/proc").glob("[0-9]*/comm"):
        with suppress(OSError):  # it has ended
            if file.read_text() == f"{name}\n":
                yield int(file.parent.name)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatorWithCameras]:
    start = SimulatorLauncher(tmp_path_factory.mktemp("simulated"))
    yield SimulatorWithCameras(start)
    start.close()


def test_child_processes_are_reported(simulated: SimulatorWithCameras) -> None:
    row = simulated.row()
    assert (row.level, row.message) == (DiagnosticStatus.OK, "cameras")
    assert simulated.figure("cameras process") == str(simulated.cameras())
    assert simulated.figure("cameras restarts") == "0"


def test_a_child_process_leaves_the_processor_to_the_simulator(
    simulated: SimulatorWithCameras,
) -> None:
    assert os.getpriority(os.PRIO_PROCESS, simulated.cameras()) >= 5
    assert os.getpgid(simulated.cameras()) == os.getpgid(simulated.simulator.process.pid)


def test_readers_follow_services_and_parameters(simulated: SimulatorWithCameras) -> None:
    state, until = simulated.state, simulated.listener.spin_until
    assert until(lambda: state.update() is Update.STATE)
    number = state.step
    assert until(lambda: bool(state.update()) and state.step > number + 10)
    assert (state.metadata["scene"], state.factor, state.paused) == ("arm", 1.0, False)

    simulated.listener.set_parameters(
        {"real_time_factor": 0.5, "physics.gravity": [0.0, 0.0, -1.0]}
    )
    assert until(lambda: state.update() is not None and state.model.opt.gravity[2] == -1.0)
    assert state.factor == 0.5

    paused = SimulationState(state=SimulationState.STATE_PAUSED)
    simulated.call(
        SetSimulationState, "set_simulation_state", SetSimulationState.Request(state=paused)
    )
    assert until(lambda: state.paused)
    spawn = SpawnEntity.Request(name="more")
    resource_of(spawn).uri = "package://mujoco_ros/urdf_mjcf/objects/box.xml"
    spawn.initial_pose.pose.position.z = 3.0
    assert simulated.call(SpawnEntity, "spawn_entity", spawn).result.result == Result.RESULT_OK
    assert until(lambda: state.update() is Update.MODEL)
    assert state.paused

    move = SetEntityState.Request(entity="more")
    move.state.pose.position.x = 5.0
    if hasattr(move, "set_pose"):  # of newer interfaces
        move.set_pose = True
    assert (
        simulated.call(SetEntityState, "set_entity_state", move).result.result == Result.RESULT_OK
    )
    place = int(state.model.jnt_qposadr[-1])  # an added part is last in the model
    assert until(lambda: state.update() is Update.STATE and state.data.qpos[place] == 5.0)
    simulated.call(
        SetSimulationState,
        "set_simulation_state",
        SetSimulationState.Request(state=SimulationState(state=SimulationState.STATE_PLAYING)),
    )
    assert until(lambda: not state.paused)


@pytest.mark.parametrize(
    ("number", "reason"),
    [(signal.SIGKILL, "SIGKILL"), (signal.SIGSTOP, "missed its heartbeat")],
)
def test_a_process_that_dies_or_hangs_is_restarted_without_a_delay_of_the_physics(
    simulated: SimulatorWithCameras, number: signal.Signals, reason: str
) -> None:
    simulated.wait_for_heartbeat()
    pid, dropped = simulated.cameras(), simulated.dropped()
    restarts = int(simulated.figure("cameras restarts"))
    assert pid is not None
    began = time.monotonic()
    os.kill(pid, number)
    simulated.wait_for_another(pid)
    assert time.monotonic() - began < 2.0 + _BUSY_S
    simulated.simulator.wait_for_log(f"child process 'cameras': {reason}; restart now")
    assert int(simulated.figure("cameras restarts")) == restarts + 1
    assert simulated.dropped() - dropped < 0.01 * WAIT_LIMIT_S


def test_a_child_that_hangs_ends_with_a_simulator_that_is_killed(
    simulated: SimulatorWithCameras,
) -> None:
    pid = simulated.cameras()
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    simulated.simulator.stop(signal.SIGKILL)
    simulated.simulator.wait_until_gone()
    assert simulated.head.ended


def test_a_simulator_that_is_interrupted_ends_its_child_processes_without_a_message(
    tmp_path: Path,
) -> None:
    start = SimulatorLauncher(tmp_path)
    simulated = SimulatorWithCameras(start)
    os.killpg(simulated.simulator.process.pid, signal.SIGINT)  # as a terminal does
    assert simulated.simulator.process.wait(WAIT_LIMIT_S) == 0
    simulated.simulator.wait_until_gone()
    assert simulated.simulator.warnings() == []
    start.close()
