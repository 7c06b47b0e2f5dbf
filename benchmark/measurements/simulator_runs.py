"""Runs of the simulator with the probe and clients."""

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.processes.child_process import run_scenario, simulator, subscriber
from benchmark.processes.probe_columns import BEGUN, COLUMNS
from benchmark.processes.scene_topics import EVERY_STEP_HZ, all_rates
from benchmark.processes.subscriber import load

_SETTLE_S = 3.0  # discovery, first contacts, caches


def _settle_s(seconds: float) -> float:
    """Return the time to settle before a run, which is shorter where `seconds` only try it."""
    return min(_SETTLE_S, max(1.0, seconds))


@dataclass(frozen=True, kw_only=True)
class SimulatorRun:
    """Records of a running simulator, without its first seconds.

    Attributes:
        steps: Rows of the probe; in its other modes, their results.
        arrivals: (arrival, stamp) of every message by topic [ns].
        cpu: CPU time over wall time.
    """

    steps: np.ndarray
    arrivals: dict[str, np.ndarray]
    cpu: float


def run_simulator(
    scene: str,
    seconds: float,
    *,
    probe: Sequence[str] | None = (),
    parameters: Mapping[str, object] | None = None,
) -> SimulatorRun:
    """Run the simulator and a subscriber of every topic for `seconds`."""
    settings = {**all_rates(EVERY_STEP_HZ), **(parameters or {})}
    with TemporaryDirectory() as name:
        folder = Path(name)
        with (
            subscriber(scene, folder, record=True) as receiver,
            simulator(scene, folder, settings, probe) as sim,
        ):
            receiver.wait_for("/clock")
            sim.sleep(_settle_s(seconds))
            begun, cpu = time.monotonic(), sim.cpu_s()
            sim.sleep(seconds)
            cpu = (sim.cpu_s() - cpu) / (time.monotonic() - begun)
        arrivals = load(folder / "arrivals.npz")
        steps = (
            np.load(folder / "steps.npy") if probe is not None else np.zeros((0, COLUMNS), np.int64)
        )
    settled = int(begun * 1e9)
    if steps.dtype.names is None:
        steps = steps[steps[:, BEGUN] >= settled]
    arrivals = {topic: rows[rows[:, 0] >= settled] for topic, rows in arrivals.items()}
    silent = [topic for topic, rows in arrivals.items() if not len(rows)]
    if silent:
        raise RuntimeError(f"no messages arrived on {', '.join(silent)}")
    return SimulatorRun(steps=steps, arrivals=arrivals, cpu=cpu)


@dataclass(frozen=True, kw_only=True)
class CommandedRun:
    """Records of a simulator during a scenario of the commander.

    Attributes:
        steps: Rows of the probe.
        records: Records of the commander.
    """

    steps: np.ndarray
    records: dict[str, np.ndarray]


def run_commanded(
    scene: str,
    scenario: str,
    seconds: float,
    *,
    subscribe: bool = True,
    parameters: Mapping[str, object] | None = None,
) -> CommandedRun:
    """Run the simulator and a commander.

    Args:
        scenario: One of the commander's scenarios.
        seconds: Duration of the scenario, if it has none of its own.
        subscribe: Whether a subscriber of every topic runs as well.
        parameters: Parameters of the simulator, in addition to the publish rates.
    """
    settings = {**all_rates(EVERY_STEP_HZ), **(parameters or {})}
    with TemporaryDirectory() as name:
        folder = Path(name)
        with ExitStack() as running:
            if subscribe:
                running.enter_context(subscriber(scene, folder, record=False))
            sim = running.enter_context(simulator(scene, folder, settings, ["--commands"]))
            sim.sleep(_settle_s(seconds))
            run_scenario(scenario, seconds, folder)
            sim.check()
        records = load(folder / "commands.npz")
        steps = np.load(folder / "steps.npy")
    begun, ended = records["between"]
    within = (steps[:, BEGUN] >= begun) & (steps[:, BEGUN] < ended)
    return CommandedRun(steps=steps[within], records=records)
