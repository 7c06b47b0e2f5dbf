"""Logs of simulations that tests step."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter

WriteLog = Callable[..., StateLog]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "run.mjlog"


@pytest.fixture
def arm(shipped) -> Simulation:
    return shipped("arm")


@pytest.fixture
def write_log(path) -> WriteLog:
    """A function that takes steps of a simulation, each after a call, and returns their log."""

    def write(
        simulation: Simulation,
        steps: int,
        every: int = 1,
        before: Callable[[], object] = lambda: None,
    ) -> StateLog:
        writer = StateLogWriter(path)
        ring = RingBuffer(simulation.plant, every)
        writer.add(ring)
        for _ in range(steps):
            before()
            simulation.step()
            ring.add_step()
        writer.close()
        return StateLog.open(path)

    return write
