"""Simulations with shared state, stepped by the tests."""

from collections.abc import Callable, Iterator

import pytest

from mujoco_ros.sim.shared_memory.past_states import HistorySettings
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.sim.shared_memory.writer import SharedStateWriter
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.writer import describe_robots


class Shared:
    """A simulation, the writer of its state, and a reader."""

    def __init__(self, simulation: Simulation, history: HistorySettings | None = None) -> None:
        self.simulation = simulation
        self.writer = SharedStateWriter(simulation, describe_robots, history=history)
        self.reader = SharedState(self.writer.name)

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            assert self.simulation.step()
            self.writer.write()


Share = Callable[..., Shared]


@pytest.fixture
def share() -> Iterator[Share]:
    """A function that shares the state of a simulation."""
    shared: list[Shared] = []

    def begin(simulation: Simulation, history: HistorySettings | None = None) -> Shared:
        shared.append(Shared(simulation, history))
        return shared[-1]

    yield begin
    for one in shared:
        one.writer.close()


@pytest.fixture
def arm(share, shipped) -> Shared:
    return share(shipped("arm"))
