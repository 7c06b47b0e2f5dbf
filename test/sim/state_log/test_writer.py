import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.state_log import writer as writer_module
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 120.0
# Logs a simulation until it is ended, and prints the time of each step.
LOGGER = """
import sys, time
from pathlib import Path
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.writer import RingBuffer
from mujoco_ros.sim.state_log.writer import StateLogWriter
simulation = Simulation(load_scene("arm"))
writer = StateLogWriter(Path(sys.argv[1]))
ring = RingBuffer(simulation.plant, 1)
writer.add(ring)
while True:
    simulation.step()
    ring.add_step()
    if simulation.time * 1000 % 100 < 1:
        print(time.monotonic(), simulation.time, flush=True)
    time.sleep(0.001)
"""


def log(simulation, ring: RingBuffer, steps: int) -> None:
    for _ in range(steps):
        simulation.step()
        ring.add_step()


def wait_for(condition) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_rows_are_written_while_the_simulation_runs(path, arm):
    writer, ring = StateLogWriter(path), RingBuffer(arm.plant, 1)
    writer.add(ring)
    for count in (100, 200):
        log(arm, ring, 100)
        wait_for(lambda count=count: writer.rows == count)
        assert len(StateLog.open(path)) == count
    writer.close()
    assert path.stat().st_size == writer.size
    assert StateLog.open(path).problem == ""


def test_each_model_gets_a_segment(path, arm):
    writer = StateLogWriter(path)
    first = RingBuffer(arm.plant, 1)
    writer.add(first)
    log(arm, first, 10)
    first.closed = True
    second = RingBuffer(arm.plant, 2)
    writer.add(second)
    log(arm, second, 10)
    writer.close()
    segments = StateLog.open(path).segments
    assert [len(segment) for segment in segments] == [10, 5]
    assert [segment.every for segment in segments] == [1, 2]
    assert segments[1].time[0] == pytest.approx(0.011)


def test_an_existing_file_is_rejected_and_unchanged(path):
    path.write_text("precious")
    with pytest.raises(UserInputError, match="exists; it is not overwritten"):
        StateLogWriter(path)
    assert path.read_text() == "precious"


def test_a_missing_folder_is_reported(tmp_path):
    with pytest.raises(UserInputError, match="cannot be created: No such file or directory"):
        StateLogWriter(tmp_path / "missing" / "run.mjlog")


def test_a_full_disk_ends_the_log_and_nothing_else(path, arm, monkeypatch, caplog):
    writer, ring = StateLogWriter(path), RingBuffer(arm.plant, 1)
    writer.add(ring)
    log(arm, ring, 50)
    wait_for(lambda: writer.rows == 50)

    def full(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writer_module, "write_rows", full)
    log(arm, ring, 50)
    wait_for(lambda: writer.problem)
    assert "No space left on device" in writer.problem
    wait_for(lambda: "the state log ends" in caplog.text)
    assert ring.closed
    writer.close()
    assert len(StateLog.open(path)) == 50


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_device_without_space_is_reported(arm, path, monkeypatch):
    def full(*_arguments: object, **_options: object) -> int:
        return os.open("/dev/full", os.O_WRONLY)

    monkeypatch.setattr(writer_module, "create_file", full)
    writer, ring = StateLogWriter(path), RingBuffer(arm.plant, 1)
    writer.add(ring)
    wait_for(lambda: writer.problem)
    assert "No space left" in writer.problem


def test_a_kill_loses_at_most_the_last_second(path):
    process = subprocess.Popen(
        [sys.executable, "-c", LOGGER, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    steps = [tuple(map(float, process.stdout.readline().split())) for _ in range(12)]
    process.send_signal(signal.SIGKILL)
    steps += [tuple(map(float, line.split())) for line in process.stdout]
    process.wait()
    log = StateLog.open(path)
    killed = steps[-1][0]
    safe = max(simulated for wall, simulated in steps if wall < killed - 1.0)
    assert safe > 0.0
    assert log.time[-1] >= safe


def test_a_log_that_was_deleted_is_reported_and_ends(path, arm, caplog):
    writer = StateLogWriter(path)
    ring = RingBuffer(arm.plant, 1)
    writer.add(ring)
    arm.step()
    ring.add_step()
    path.unlink()
    writer.close()
    assert writer.problem == f"'{path}' cannot be written: it was deleted with 1 rows"
    assert "the state log ends" in caplog.text
    assert ring.closed
