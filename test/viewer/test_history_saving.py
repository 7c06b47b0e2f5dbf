"""Saving the past states of a simulation from the viewer."""

import threading
from datetime import datetime

import pytest
from fake_clients import FakeClients

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.shared_memory.past_states import HistorySettings
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.sim.shared_memory.writer import SharedStateWriter
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.writer import describe_robots
from mujoco_ros.viewer.clients import ParameterInfo
from mujoco_ros.viewer.history_saving import LOG, TABLE, HistorySaving


@pytest.fixture
def state():
    simulation = Simulation(load_scene("arm"))
    history = HistorySettings(length=1.0, rate=100.0)
    writer = SharedStateWriter(simulation, describe_robots, history=history)
    for _ in range(200):
        simulation.step()
        writer.write()
    yield SharedState(writer.name)
    writer.close()


def finish() -> None:
    """Wait for the threads that write files."""
    for thread in threading.enumerate():
        if thread.name == "history":
            thread.join()


@pytest.mark.parametrize(("kind", "suffix"), [(LOG, "mjlog"), (TABLE, "csv")])
def test_the_past_states_are_saved_below_the_output_folder(state, tmp_path, kind, suffix):
    clients = FakeClients()
    clients.parameters.known["output_folder"] = ParameterInfo(value=str(tmp_path / "out"))
    saving = HistorySaving(state, clients.parameters, lambda: datetime(2026, 1, 2, 3, 4, 5))
    request = saving.save(kind)
    finish()
    assert request.ok, request.message
    path = tmp_path / "out" / f"arm_2026-01-02_03-04-05.{suffix}"
    if kind == LOG:
        assert StateLog.open(path).time.tolist() == state.past.times.tolist()
        assert request.command == f"ros2 run mujoco_ros replay {path}"
    else:
        assert len(path.read_text().splitlines()) == 1 + len(state.past.times)
    second = saving.save(kind)
    finish()
    assert second.ok is False
    assert "exists" in second.message
