"""Running the simulator, and seeing what it does."""

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.probe import COLUMNS
from benchmark.processes import play, simulator, subscriber
from benchmark.stations import EVERY_STEP_HZ, all_rates
from benchmark.subscriber import load

BEGUN, STEPPED, PUBLISHED, STAMP, LATE, DOING, TOLD, SHARED = range(COLUMNS)
"""Columns of a probe's rows."""
_SETTLE_S = 3.0  # discovery, first contacts, caches


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What was seen of a running simulator, without its first seconds.

    Attributes:
        steps: Rows as the probe notes them; for its other modes, what they note.
        arrivals: (arrival, stamp) of every message by topic [ns].
        cpu: Processor time over wall time.
    """

    steps: np.ndarray
    arrivals: dict[str, np.ndarray]
    cpu: float


def watch(
    scene: str,
    seconds: float,
    *,
    probe: Sequence[str] | None = (),
    parameters: Mapping[str, object] | None = None,
) -> Watched:
    """Run the simulator and a subscriber of every topic for `seconds`."""
    settings = {**all_rates(EVERY_STEP_HZ), **(parameters or {})}
    with TemporaryDirectory() as name:
        folder = Path(name)
        with (
            subscriber(scene, folder, record=True),
            simulator(scene, folder, settings, probe) as sim,
        ):
            sim.sleep(_SETTLE_S)
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
        raise RuntimeError(f"nothing arrived on {', '.join(silent)}")
    return Watched(steps=steps, arrivals=arrivals, cpu=cpu)


@dataclass(frozen=True, kw_only=True)
class Commanded:
    """What was seen of a simulator while it was commanded.

    Attributes:
        steps: Rows as the probe notes them, while the commander was at work.
        notes: What the commander noted.
    """

    steps: np.ndarray
    notes: dict[str, np.ndarray]


def command(
    scene: str,
    part: str,
    seconds: float,
    *,
    listen: bool = True,
    parameters: Mapping[str, object] | None = None,
) -> Commanded:
    """Run the simulator with a commander that plays `part` to its end.

    Args:
        scene: The scene.
        part: One of the commander's parts.
        seconds: For how long to play it, where that is not given by itself.
        listen: Whether a subscriber of every topic runs as well.
        parameters: Of the simulator, beside the publish rates.
    """
    settings = {**all_rates(EVERY_STEP_HZ), **(parameters or {})}
    with TemporaryDirectory() as name:
        folder = Path(name)
        with ExitStack() as running:
            if listen:
                running.enter_context(subscriber(scene, folder, record=False))
            sim = running.enter_context(simulator(scene, folder, settings, ["--commands"]))
            sim.sleep(_SETTLE_S)
            play(part, seconds, folder)
            sim.check()
        notes = load(folder / "commands.npz")
        steps = np.load(folder / "steps.npy")
    begun, ended = notes["between"]
    within = (steps[:, BEGUN] >= begun) & (steps[:, BEGUN] < ended)
    return Commanded(steps=steps[within], notes=notes)
