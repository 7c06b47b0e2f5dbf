"""Short tests of reliability; the benchmark's part ``reliability`` has the long ones."""

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from fork_server import fork_server
from simulators import ROOT, Simulator, SimulatorLauncher

from benchmark.processes.simulator_client import SimulatorClient
from benchmark.processes.trials import flood, load_broken, pause, resets, spawn_and_delete

_ROBOT = str(ROOT / "urdf_mjcf" / "quadruped" / "quadruped.xml")


@pytest.fixture(scope="module")
def simulator(start_shared: SimulatorLauncher) -> Simulator:
    """The shipped arm, whose trials follow one another as in a long run."""
    simulator = start_shared.simulator(scene="arm")
    simulator.wait_until_running()
    return simulator


@pytest.fixture(scope="module")
def client(simulator: Simulator) -> Iterator[SimulatorClient]:
    with closing(SimulatorClient(simulator.domain)) as client:
        yield client


def test_every_call_of_a_burst_gets_a_response_while_a_trajectory_completes(
    client: SimulatorClient,
) -> None:
    done = flood(client, 1.0, 300.0)
    assert done.answered == done.sent == 300
    assert done.failed == 0
    assert done.arrived


def test_clients_that_die_during_calls_affect_no_other_client(
    simulator: Simulator, client: SimulatorClient, tmp_path: Path
) -> None:
    for number in range(2):
        log = tmp_path / f"{number}.log"
        with log.open("w") as output:
            command = ["benchmark.processes.trial", "calling", str(tmp_path / "none.npz"), "60"]
            process = fork_server().fork(
                *command, "500", env=simulator.environment, stdout=output.fileno()
            )
        client.until(lambda log=log: "calling" in log.read_text())
        client.until(lambda: client.node.count_clients("/mujoco/get_simulation_state") > 0)
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = flood(client, 0.5, 100.0)
    assert done.answered == done.sent
    assert simulator.process.poll() is None


def test_a_reset_during_a_trajectory_ends_its_goal_exactly_once(client: SimulatorClient) -> None:
    done = resets(client, 4)
    assert done.results == done.goals == 4
    assert done.reached == 0
    np.testing.assert_array_equal(done.ends, np.ones(4))


def test_the_clock_stops_in_a_pause_and_resumes_without_a_burst(client: SimulatorClient) -> None:
    done = pause(client, 0.5, 0.5)
    assert done.while_paused == 0.0
    # Time caught up after a stall of the machine is not a burst: it is at most 0.05 s.
    assert done.ahead < 0.06


def test_an_invalid_world_is_refused_with_the_reason_and_the_old_one_continues(
    client: SimulatorClient, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.xml"
    broken.write_text("<mujoco><worldbody><body></worldbody></mujoco>")
    assert "not well-formed XML" in load_broken(client, broken)
    broken.write_text("<mujoco><worldbody><geom type='box'/></worldbody></mujoco>")
    assert "size" in load_broken(client, broken)
    assert "none.xml" in load_broken(client, tmp_path / "none.xml")


def test_spawned_and_deleted_entities_leave_nothing_behind(
    simulator: Simulator, client: SimulatorClient
) -> None:
    topics = _topics(client)
    spawn_and_delete(client, 2, _ROBOT)
    client.until(lambda: _topics(client) == topics)
    assert client.diagnostic("world", "changes") == 8
    assert client.diagnostic("engine", "divergences") == 0


def test_no_error_was_logged(simulator: Simulator) -> None:
    errors = [line for line in simulator.warnings() if not line.startswith("[WARN]")]
    assert errors == []


def _topics(client: SimulatorClient) -> set[str]:
    """Return the topics that the simulator publishes or listens to."""
    node = client.node
    found = node.get_publisher_names_and_types_by_node("mujoco", "/")
    found += node.get_subscriber_names_and_types_by_node("mujoco", "/")
    return {name for name, _types in found}
