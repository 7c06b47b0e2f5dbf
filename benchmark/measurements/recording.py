"""Cost of recording: the state log, and a bag of topics."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from benchmark.durations import Durations
from benchmark.measurements.step_costs import costs_in_steps
from benchmark.processes.child_process import Process, running
from benchmark.processes.joint_state_publisher import RATE_HZ, TOPICS
from benchmark.report import Row, percentiles, result
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter

_READY_S = 30.0


def state_log(durations: Durations) -> list[Row]:
    """(l) Cost of logging the humanoid's state at each step, in real time."""
    simulation = Simulation(load_scene("humanoid"))
    with TemporaryDirectory() as folder:
        writer = StateLogWriter(Path(folder, "run.mjlog"))
        ring = RingBuffer(simulation.plant, 1)
        writer.add(ring)
        costs = costs_in_steps(simulation, ring.add_step, durations.recording)
        writer.close()
        if writer.rows != len(costs):
            raise RuntimeError(f"{writer.rows} of {len(costs)} rows were written")
    return [
        *percentiles("l", "logging a step", costs, 50, 99),
        result(
            "l",
            "logging a step, mean",
            float(costs.mean()),
            "µs",
            limit="≤ 10",
            keeps=lambda us: us <= 10,
        ),
        result("l", "log", writer.size / durations.recording / 1e6, "MB/s"),
    ]


def bag(durations: Durations) -> list[Row]:
    """(m) CPU of the executable `record` with 12 topics at 500 Hz."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        arguments = ["--output", str(folder / "bag"), "--regex", "/benchmark/.*"]
        with (
            running(
                Process("benchmark.processes.joint_state_publisher", [], folder / "publisher.log")
            ),
            running(Process("mujoco_ros.cli.record", arguments, folder / "record.log")) as recorder,
        ):
            _wait_for_messages(folder / "bag")
            first, since, used = _messages(folder / "bag"), time.monotonic(), recorder.cpu_s()
            recorder.sleep(durations.recording)
            elapsed = time.monotonic() - since
            used, recorded = recorder.cpu_s() - used, _messages(folder / "bag") - first
    return [
        result("m", f"messages of {TOPICS} topics recorded", recorded / elapsed, "/s", 0),
        result(
            "m",
            "processor, all threads",
            100 * used / elapsed,
            "% of a core",
            limit="≤ 12",
            keeps=lambda percent: percent <= 12,
        ),
    ]


def _messages(folder: Path) -> int:
    """Return the number of messages in a bag, half a second old at most."""
    try:
        content = yaml.safe_load((folder / "metadata.yaml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return 0
    return int(content["rosbag2_bagfile_information"]["message_count"])


def _wait_for_messages(folder: Path) -> None:
    deadline = time.monotonic() + _READY_S
    while _messages(folder) < TOPICS * RATE_HZ:
        if time.monotonic() > deadline:
            raise RuntimeError(f"no messages were recorded within {_READY_S:g} s")
        time.sleep(0.1)
