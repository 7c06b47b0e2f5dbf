"""What the work-arounds for rclpy gain."""

from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.durations import Durations
from benchmark.processes.child_process import Process, run_trial, running
from benchmark.processes.subscriber import load
from benchmark.report import Row, percentiles, result

_ROUNDS = 3
_TIMEOUT_S = 30.0  # in addition to the duration of the load
_VARIANTS = {
    ("events", "own"): "EventsExecutor, own classes",
    ("events", "stock"): "EventsExecutor, rclpy's classes",
    ("single", "stock"): "SingleThreadedExecutor, rclpy's classes",
}


def executors(durations: Durations) -> list[Row]:
    """CPU and latency of a node with the work-arounds of rclpy_ext, and with rclpy's classes.

    The load is a topic at 500 Hz, 25 calls of a service and 10 goals per second. The variants
    alternate, each in a process of its own.
    """
    records: dict[str, list[dict[str, np.ndarray]]] = defaultdict(list)
    for _ in range(_ROUNDS):
        for arguments, variant in _VARIANTS.items():
            records[variant].append(_run(arguments, durations.executors / _ROUNDS))
    rows = []
    for variant, runs in records.items():
        joined = {name: np.concatenate([np.ravel(run[name]) for run in runs]) for name in runs[0]}
        cpu = 100 * float(joined["cpu_s"].sum() / joined["seconds"].sum())
        rows += [
            result("executors", f"{variant}: processor, all threads", cpu, "% of a core"),
            *percentiles("executors", f"{variant}: topic", joined["ages"] / 1e3, 50, 99),
            *percentiles("executors", f"{variant}: call", joined["calls"] / 1e3, 50, 99),
            *percentiles("executors", f"{variant}: goal and result", joined["goals"] / 1e3, 50, 99),
        ]
    return rows


def _run(arguments: tuple[str, str], seconds: float) -> dict[str, np.ndarray]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        file, module = folder / "server.npz", "benchmark.processes.executor_server"
        server = Process(module, [*arguments, str(file)], folder / "server.log")
        with running(server):
            server.wait_for("ready")
            client = run_trial("executor", folder, seconds + _TIMEOUT_S, seconds)
        return client | load(file)
