"""A shared simulator to play, pause, step and reset."""

from collections.abc import Iterator

import pytest
from simulator_client import PAUSED, PLAYING, SimulatorClient
from simulators import SimulatorLauncher


@pytest.fixture(scope="module")
def shared_client(start_shared: SimulatorLauncher) -> Iterator[SimulatorClient]:
    """The shipped arm in its own process; use `remote`."""
    remote = SimulatorClient(start_shared)
    yield remote
    remote.close()


@pytest.fixture
def remote(shared_client: SimulatorClient) -> Iterator[SimulatorClient]:
    """The shipped arm, playing."""
    shared_client.ensure_state(PAUSED)
    shared_client.settle_and_clear()
    shared_client.ensure_state(PLAYING)
    yield shared_client
    shared_client.ensure_state(PAUSED)  # other tests of the file have their own simulators
