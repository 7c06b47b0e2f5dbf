"""Process that runs one trial: ``python -m benchmark.processes.trial TRIAL FILE ARGUMENT...``."""

import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.processes.executor_load import executor_load
from benchmark.processes.lockstep_trials import held_resets, spent, ticks
from benchmark.processes.peer_states import states
from benchmark.processes.simulator_client import SimulatorClient
from benchmark.processes.trials import calls, flood, load_broken, pause, resets, spawn_and_delete

_SWITCH_INTERVAL_S = 1e-4
"""Records responses on arrival, not when the calling thread releases the GIL."""

_REPORTS = 6


def _calling(client: SimulatorClient, seconds: str, rate: str) -> dict[str, Any]:
    """Call services until the process is killed."""
    functions = calls(client)
    sys.stdout.write("calling\n")
    sys.stdout.flush()
    end, number = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        functions[number % len(functions)]()
        number += 1
        time.sleep(1.0 / float(rate))
    return {}


def _cycles(client: SimulatorClient, count: str, robot: str) -> dict[str, Any]:
    cycle = spawn_and_delete(client, int(count), robot)
    return {
        "cycle": cycle,
        "longest": client.diagnostic("world", "longest hold of the physics [ms]"),
    }


def _totals(client: SimulatorClient) -> dict[str, Any]:
    dropped = client.diagnostic("real time", "time dropped in total [s]")
    return {"dropped": dropped, "lost": sum(map(int, client.report["middleware"].values()))}


def _renders(client: SimulatorClient) -> dict[str, Any]:
    """Count the images that the camera process rendered; return the ids of the child processes."""
    client.until(lambda: "drawing" in client.report)
    cameras = [values for name, values in client.report.items() if "camera/" in name]
    rendered = [int(n) for row in cameras for key, n in row.items() if key.startswith("frames: ")]
    children = client.report["child processes"].items()
    pids = {name.split()[0]: int(pid) for name, pid in children if name.endswith(" process")}
    return {"renders": sum(rendered), **pids}


def _delays(client: SimulatorClient) -> dict[str, Any]:
    """Return the mean and longest delay of images from due to published [ms], by camera."""
    reports: list[dict[str, dict[str, str]]] = []
    for _ in range(_REPORTS):
        client.report.pop("drawing", None)
        client.until(lambda: "drawing" in client.report)
        reports.append(dict(client.report))
    rows = reports[1:]  # during the first, this process was starting
    return {
        name.replace("/", ":"): np.array(
            (
                np.mean([float(row[name]["due to published, mean [ms]"]) for row in rows]),
                max(float(row[name]["due to published, longest [ms]"]) for row in rows),
            )
        )
        for name in rows[0]
        if "camera/" in name
    }


TRIALS: dict[str, Callable[..., dict[str, Any]]] = {
    "flood": lambda client, seconds, rate: asdict(flood(client, float(seconds), float(rate))),
    "calling": _calling,
    "cycles": _cycles,
    "resets": lambda client, count: asdict(resets(client, int(count))),
    "pause": lambda client, seconds: asdict(pause(client, float(seconds))),
    "broken": lambda client, file: {"reason": load_broken(client, Path(file))},
    "totals": _totals,
    "renders": _renders,
    "delays": _delays,
    "ticks": lambda client, topic, seconds, pid: ticks(client, topic, float(seconds), int(pid)),
    "spent": lambda client, seconds, pid: spent(client, float(seconds), int(pid)),
    "held_resets": lambda client, count: held_resets(client, int(count)),
    "states": lambda client, seconds, pid, *controller: states(
        client, float(seconds), int(pid), *controller
    ),
    "executor": lambda client, seconds: executor_load(client, float(seconds)),
}


def main() -> int:
    """Run the trial and save its records."""
    trial, file, *arguments = sys.argv[1:]
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    with closing(SimulatorClient()) as client:
        records = TRIALS[trial](client, *arguments)
    np.savez(file, **records)
    return 0


if __name__ == "__main__":
    sys.exit(main())
