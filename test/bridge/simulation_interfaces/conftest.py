"""A shared simulator to play, pause, step and reset."""

from collections.abc import Iterator

import pytest
from simulator_client import PAUSED, PLAYING, SimulatorClient


@pytest.fixture
def remote(shared_client: SimulatorClient) -> Iterator[SimulatorClient]:
    """The shipped arm, playing."""
    shared_client.ensure_state(PAUSED)
    shared_client.settle_and_clear()
    shared_client.ensure_state(PLAYING)
    yield shared_client
    shared_client.ensure_state(PAUSED)  # other tests of the file have their own simulators
