"""Samples of a long run, in a CSV file for each part."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

_EARLY, _LATE = 0.1, 0.9
"""Begin and end of what is compared: a part warms up in its first tenth."""
PROCESSES = ("simulator", "cameras", "viewer")
QUEUES = ("commands", "udp_queue", "udp_drops", "threads", "files")


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """What is measured at an instant; counts are totals since the part began.

    Attributes:
        wall: Wall time [s].
        simulated: Simulated time [s].
        dropped: Wall time that the pacer dropped [s].
        late: Steps that began a period or more late.
        steps: Steps since the last report of the simulator, which comes each second.
        cost: Time that 99 % of these steps take at most [µs].
        lost: Messages that the middleware rejected.
        commands: Most commands that waited for the physics at a time, since the last sample.
        udp_queue: Bytes that wait in the sockets of the simulator.
        udp_drops: Datagrams that these sockets dropped.
        threads: Threads of the simulator.
        files: Open file descriptors of the simulator.
        simulator: Resident memory [MB].
        cameras: Resident memory of the camera process [MB].
        viewer: Resident memory of the viewer process [MB].
        restarts: Restarts of child processes.
        load: Load average of the machine.
    """

    wall: float
    simulated: float
    dropped: float
    late: float
    steps: float
    cost: float
    lost: float
    commands: float
    udp_queue: float
    udp_drops: float
    threads: float
    files: float
    simulator: float
    cameras: float
    viewer: float
    restarts: float
    load: float


COLUMNS = tuple(field.name for field in fields(Sample))


class SampleFile:
    """Writes samples of a part; a part that is interrupted keeps those before."""

    def __init__(self, path: Path) -> None:
        """Create the file.

        Raises:
            OSError: It exists, or cannot be written.
        """
        self._file = path.open("x", newline="", encoding="utf-8")
        self._writer = csv.DictWriter(self._file, COLUMNS)
        self._writer.writeheader()

    def add(self, sample: Sample) -> None:
        """Write a sample."""
        self._writer.writerow({name: f"{value:.10g}" for name, value in asdict(sample).items()})
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def load(path: Path) -> dict[str, np.ndarray]:
    """Return the samples of a part by column.  # (n,) each."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in COLUMNS}


def summary(parts: Sequence[Mapping[str, np.ndarray]]) -> dict[str, float]:
    """Return the metrics of a run: sums over its parts, and the largest growth in one of them.

    Growth is the median of the last tenth of a part minus the median of the second tenth; a part
    begins with processes of its own, which warm up in the first tenth.

    Raises:
        ValueError: A part has fewer than 20 samples.
    """
    if any(len(part["wall"]) < 20 for part in parts):
        raise ValueError("a part has fewer than 20 samples; make it longer, or sample more often")
    wall = sum(_span(part["wall"]) for part in parts)
    return {
        "wall time [s]": wall,
        "simulated time [s]": sum(_span(part["simulated"]) for part in parts),
        "dropped time [%]": 100.0 * sum(_span(part["dropped"]) for part in parts) / wall,
        "late steps": sum(_span(part["late"]) for part in parts),
        "lost messages": sum(_span(part["lost"]) for part in parts),
        "restarts": sum(_span(part["restarts"]) for part in parts),
        **{
            f"growth of {name} [MB]": max(_growth(part[name]) for part in parts)
            for name in PROCESSES
        },
        **{f"growth of {name}": max(_growth(part[name]) for part in parts) for name in QUEUES},
        "mean load": float(np.mean(np.concatenate([part["load"] for part in parts]))),
    }


def _span(values: np.ndarray) -> float:
    return float(values[-1] - values[0])


def _growth(values: np.ndarray) -> float:
    early, late = int(_EARLY * len(values)), int(_LATE * len(values))
    return float(np.median(values[late:]) - np.median(values[early : 2 * early]))
