"""A process that makes one trial: ``python -m benchmark.trial TRIAL FILE ARGUMENT...``."""

import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.caller import Caller
from benchmark.trials import calls, flood, load_broken, pause, resets, spawn_and_delete

_SWITCH_INTERVAL_S = 1e-4
"""So that answers are noted when they come, not when the thread that calls lets go of the GIL."""

_CAMERAS = "mujoco_cameras"
_SECONDS_OF_PICTURES = 6


def _calling(caller: Caller, seconds: str, rate: str) -> dict[str, Any]:
    """Call without end, so as to be killed amid it."""
    functions = calls(caller)
    sys.stdout.write("calling\n")
    sys.stdout.flush()
    end, number = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        functions[number % len(functions)]()
        number += 1
        time.sleep(1.0 / float(rate))
    return {}


def _cycles(caller: Caller, count: str, robot: str) -> dict[str, Any]:
    cycle = spawn_and_delete(caller, int(count), robot)
    return {"cycle": cycle, "longest": caller.figure("world", "longest hold of the physics [ms]")}


def _figures(caller: Caller) -> dict[str, Any]:
    dropped = caller.figure("real time", "time dropped in total [s]")
    return {"dropped": dropped, "lost": sum(map(int, caller.report["middleware"].values()))}


def _renders(caller: Caller) -> dict[str, Any]:
    """Count what the camera process has drawn, and tell which processes the companions are."""
    caller.until(lambda: _CAMERAS in caller.reports and caller.report)
    rows = caller.reports[_CAMERAS]
    cameras = [values for name, values in rows.items() if "camera/" in name]
    drawn = [int(n) for row in cameras for key, n in row.items() if key.startswith("frames: ")]
    companions = caller.report["companions"].items()
    pids = {name.split()[0]: int(pid) for name, pid in companions if name.endswith(" process")}
    return {"renders": sum(drawn), **pids}


def _due(caller: Caller) -> dict[str, Any]:
    """Tell how long pictures take from when they are due until they are published [ms].

    For each camera the mean of some seconds, and the longest.
    """
    seen: list[dict[str, dict[str, str]]] = []
    for _ in range(_SECONDS_OF_PICTURES):
        caller.reports.pop(_CAMERAS, None)
        caller.until(lambda: "drawing" in caller.reports.get(_CAMERAS, {}))
        seen.append(dict(caller.reports[_CAMERAS]))
    rows = seen[1:]  # while the first were taken, this process was starting
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
    "flood": lambda caller, seconds, rate: asdict(flood(caller, float(seconds), float(rate))),
    "calling": _calling,
    "cycles": _cycles,
    "resets": lambda caller, count: asdict(resets(caller, int(count))),
    "pause": lambda caller, seconds: asdict(pause(caller, float(seconds))),
    "broken": lambda caller, file: {"reason": load_broken(caller, Path(file))},
    "figures": _figures,
    "renders": _renders,
    "due": _due,
}


def main() -> int:
    """Make the trial and save what was noted."""
    trial, file, *arguments = sys.argv[1:]
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    with closing(Caller()) as caller:
        notes = TRIALS[trial](caller, *arguments)
    np.savez(file, **notes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
