"""What recording costs: the log of the full state, and a bag of topics."""

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from benchmark.pacing import costs_in_steps
from benchmark.plan import Plan
from benchmark.processes import Process, running
from benchmark.report import Row, figure, percentiles
from benchmark.talker import RATE_HZ, TOPICS
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.ring_buffer import RingBuffer
from mujoco_ros.sim.state_log.writer import StateLogWriter

_READY_S = 30.0


def state_log(plan: Plan) -> list[Row]:
    """(l) What a step of the humanoid takes longer with its state logged, in real time."""
    simulation = Simulation(load_scene("humanoid"))
    with TemporaryDirectory() as folder:
        writer = StateLogWriter(Path(folder, "run.mjlog"))
        ring = RingBuffer(simulation, simulation.plant, 1)
        writer.add(ring)
        costs = costs_in_steps(simulation, ring.add_step, plan.recording)
        writer.close()
        if writer.rows != len(costs):
            raise RuntimeError(f"{writer.rows} of {len(costs)} rows were written")
    return [
        *percentiles("l", "logging a step", costs, 50, 99),
        figure(
            "l",
            "logging a step, mean",
            float(costs.mean()),
            "µs",
            limit="≤ 10",
            keeps=lambda us: us <= 10,
        ),
        figure("l", "log", writer.size / plan.recording / 1e6, "MB/s"),
    ]


def bag(plan: Plan) -> list[Row]:
    """(m) The executable `record`."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        arguments = ["--output", str(folder / "bag"), "--regex", "/talker/.*"]
        with (
            running(Process("benchmark.talker", [], folder / "talker.log")),
            running(Process("mujoco_ros.cli.record", arguments, folder / "record.log")) as recorder,
        ):
            _wait_for_messages(folder / "bag")
            first, since, used = _messages(folder / "bag"), time.monotonic(), recorder.cpu_s()
            recorder.sleep(plan.recording)
            elapsed = time.monotonic() - since
            used, recorded = recorder.cpu_s() - used, _messages(folder / "bag") - first
    return [
        figure("m", f"messages of {TOPICS} topics recorded", recorded / elapsed, "/s", 0),
        figure(
            "m",
            "processor, all threads",
            100 * used / elapsed,
            "% of a core",
            limit="≤ 12",
            keeps=lambda percent: percent <= 12,
        ),
    ]


RECORDING: dict[str, Callable[[Plan], list[Row]]] = {"l": state_log, "m": bag}
"""Measurements by key."""


def _messages(folder: Path) -> int:
    """Return how many messages a bag has, within half a second."""
    try:
        content = yaml.safe_load((folder / "metadata.yaml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return 0
    return int(content["rosbag2_bagfile_information"]["message_count"])


def _wait_for_messages(folder: Path) -> None:
    deadline = time.monotonic() + _READY_S
    while _messages(folder) < TOPICS * RATE_HZ:
        if time.monotonic() > deadline:
            raise RuntimeError(f"nothing was recorded within {_READY_S:g} s")
        time.sleep(0.1)
