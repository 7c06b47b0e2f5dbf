"""Simulators and listeners for the tests with a live middleware."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from simulator_client import SimulatorClient
from simulators import Domain, Listener, SimulatorLauncher
from stepped_node import SteppedNode
from zoo_recording import ZooRecording, record_zoo


@pytest.fixture
def start(tmp_path: Path) -> Iterator[SimulatorLauncher]:
    """Simulators and listeners for one test."""
    starter = SimulatorLauncher(tmp_path)
    yield starter
    starter.close()


@pytest.fixture(scope="module")
def start_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatorLauncher]:
    """Simulators and listeners that the tests of a module share."""
    starter = SimulatorLauncher(tmp_path_factory.mktemp("simulators"))
    yield starter
    starter.close()


@pytest.fixture(scope="module")
def shared_client(start_shared: SimulatorLauncher) -> Iterator[SimulatorClient]:
    """The shipped arm in its own process; tests use their `remote`."""
    remote = SimulatorClient(start_shared)
    yield remote
    remote.close()


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    """A node in its own domain, for tests that create the publishers themselves."""
    domain = Domain()
    listener = Listener(domain.id)
    yield listener
    listener.close()
    domain.close()


@pytest.fixture(scope="module")
def zoo(start_shared: SimulatorLauncher) -> ZooRecording:
    """The shipped zoo, running and recorded; do not change its parameters."""
    return record_zoo(start_shared)


@pytest.fixture(scope="session")
def shared_stepped() -> Iterator[SteppedNode]:
    """The shipped arm, in a node stepped by tests; use `stepped`."""
    arm = SteppedNode("arm")
    yield arm
    arm.close()


@pytest.fixture
def stepped(shared_stepped: SteppedNode) -> SteppedNode:
    """The shipped arm in its initial state, stepped by the test."""
    shared_stepped.restart()
    return shared_stepped
