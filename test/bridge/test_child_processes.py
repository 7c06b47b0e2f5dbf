"""The processes beside a running simulator: started anew whatever becomes of them, and no burden.

The tests share a simulator, and follow each other.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import SetEntityState, SetSimulationState, SpawnEntity
from simulators import PATIENCE_S, Listener, Recording, Simulator, Starter

from mujoco_ros.sim.shared_memory.header import SharedHeader
from mujoco_ros.sim.shared_memory.reader import SharedState, Update

_BUSY_S = 1.0
"""By how much a machine that has other work may be later than the documentation says."""


class Beside:
    """A simulator with a camera process."""

    def __init__(self, start: Starter) -> None:
        self.simulator: Simulator = start.simulator(scene="arm", cameras="true")
        self.listener: Listener = start.listener(self.simulator)
        self.said: Recording = self.listener.record(DiagnosticArray, "/diagnostics")
        self.simulator.wait_until_running()
        self.state = SharedState(self._shared())
        self.head = SharedHeader.open(self._shared())

    def cameras(self) -> int | None:
        """Return the process id of the camera process that runs at present."""
        parent = self.simulator.process.pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return next((int(child) for child in children if _state(int(child)) != "Z"), None)

    def wait_until_heard_of(self) -> None:
        """Wait until the camera process is ready."""
        assert self.listener.spin_until(
            lambda: self.head.promised(0) < time.monotonic() + 15.0, PATIENCE_S
        )

    def wait_for_another(self, pid: int) -> None:
        """Wait until another camera process was started."""
        assert self.listener.spin_until(lambda: self.cameras() not in (pid, None))

    def row(self, name: str = "child processes") -> DiagnosticStatus:
        """Return what is said next."""
        count, found = len(self.said), []

        def hear() -> bool:
            statuses = [
                status for message in self.said.messages[count:] for status in message.status
            ]
            found[:] = [status for status in statuses if status.name == f"mujoco: {name}"]
            return bool(found)

        assert self.listener.spin_until(hear)
        return found[-1]

    def figure(self, key: str, row: str = "child processes") -> str:
        return next(value.value for value in self.row(row).values if value.key == key)

    def dropped(self) -> float:
        return float(self.figure("time dropped in total [s]", "real time"))

    def call(self, kind: Any, name: str, request: Any) -> Any:
        """Return what a service of the simulator answers."""
        client = self.listener.node.create_client(kind, f"/mujoco/{name}")
        assert self.listener.spin_until(client.service_is_ready)
        return self.listener.result(client.call_async(request))

    def _shared(self) -> str:
        """Return the name of the shared state, an argument of the camera process, but no seat."""
        assert self.listener.spin_until(lambda: bool(self.cameras()) and self._arguments() != [])
        words = self._arguments()
        return words[words.index("--state") + 1].partition("#")[0]

    def _arguments(self) -> list[str]:
        content = Path(f"/proc/{self.cameras()}/cmdline").read_bytes().decode().split("\0")
        return content if "--state" in content else []


def _state(pid: int) -> str:
    """Return the state of a process (proc(5)); empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    start = Starter(tmp_path_factory.mktemp("beside"))
    yield Beside(start)
    start.close()


def test_what_runs_beside_is_told(beside: Beside) -> None:
    row = beside.row()
    assert (row.level, row.message) == (DiagnosticStatus.OK, "cameras")
    assert beside.figure("cameras process") == str(beside.cameras())
    assert beside.figure("cameras restarts") == "0"


def test_it_leaves_the_processor_to_the_simulator(beside: Beside) -> None:
    assert os.getpriority(os.PRIO_PROCESS, beside.cameras()) >= 5
    assert os.getpgid(beside.cameras()) == os.getpgid(beside.simulator.process.pid)


def test_readers_follow_what_services_and_parameters_do(beside: Beside) -> None:
    state, until = beside.state, beside.listener.spin_until
    assert until(lambda: state.update() is Update.STATE)
    number = state.step
    assert until(lambda: bool(state.update()) and state.step > number + 10)
    assert (state.told["scene"], state.factor, state.paused) == ("arm", 1.0, False)

    beside.listener.set_parameters({"real_time_factor": 0.5, "physics.gravity": [0.0, 0.0, -1.0]})
    assert until(lambda: state.update() is not None and state.model.opt.gravity[2] == -1.0)
    assert state.factor == 0.5

    paused = SimulationState(state=SimulationState.STATE_PAUSED)
    beside.call(
        SetSimulationState, "set_simulation_state", SetSimulationState.Request(state=paused)
    )
    assert until(lambda: state.paused)
    spawn = SpawnEntity.Request(name="more")
    spawn.entity_resource.uri = "package://mujoco_ros/urdf_mjcf/objects/box.xml"
    spawn.initial_pose.pose.position.z = 3.0
    assert beside.call(SpawnEntity, "spawn_entity", spawn).result.result == Result.RESULT_OK
    assert until(lambda: state.update() is Update.MODEL)
    assert state.paused

    move = SetEntityState.Request(entity="more")
    move.state.pose.position.x = 5.0
    if hasattr(move, "set_pose"):  # of newer interfaces
        move.set_pose = True
    assert beside.call(SetEntityState, "set_entity_state", move).result.result == Result.RESULT_OK
    place = int(state.model.jnt_qposadr[-1])  # what comes last to the scene is last in the model
    assert until(lambda: state.update() is Update.STATE and state.data.qpos[place] == 5.0)
    beside.call(
        SetSimulationState,
        "set_simulation_state",
        SetSimulationState.Request(state=SimulationState(state=SimulationState.STATE_PLAYING)),
    )
    assert until(lambda: not state.paused)


@pytest.mark.parametrize(
    ("number", "reason"),
    [(signal.SIGKILL, "it was ended by SIGKILL"), (signal.SIGSTOP, "it hung")],
)
def test_what_dies_or_hangs_is_started_anew_and_the_physics_goes_on(
    beside: Beside, number: signal.Signals, reason: str
) -> None:
    beside.wait_until_heard_of()
    pid, dropped = beside.cameras(), beside.dropped()
    restarts = int(beside.figure("cameras restarts"))
    assert pid is not None
    began = time.monotonic()
    os.kill(pid, number)
    beside.wait_for_another(pid)
    assert time.monotonic() - began < 2.0 + _BUSY_S
    beside.simulator.wait_for_log(f"companion 'cameras': {reason}; it is started anew at once")
    assert int(beside.figure("cameras restarts")) == restarts + 1
    assert beside.dropped() - dropped < 0.01 * PATIENCE_S


def test_nothing_outlives_a_simulator_that_is_killed_not_even_what_hangs(beside: Beside) -> None:
    pid = beside.cameras()
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    beside.simulator.stop(signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_S
    while beside.simulator.has_processes():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert beside.head.ended


def test_a_simulator_that_is_interrupted_ends_what_it_started_without_a_word(
    tmp_path: Path,
) -> None:
    start = Starter(tmp_path)
    beside = Beside(start)
    os.killpg(beside.simulator.process.pid, signal.SIGINT)  # as a terminal does
    assert beside.simulator.process.wait(PATIENCE_S) == 0
    assert not beside.simulator.has_processes()
    assert beside.simulator.complaints() == []
    start.close()
