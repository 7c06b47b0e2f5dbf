"""Speed of the lockstep, and motion after resets that streams do not notice."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.durations import Durations
from benchmark.processes.child_process import ROOT, Process, run_trial, running, simulator
from benchmark.report import Row, result

_KEY = "t"
_RATE_HZ = 250
_TOPIC = "joint_commands"
_SUPPORT = ROOT / "test" / "support" / "ros"
_CYCLES = 10**9
"""More than the stand-in of a controller_manager ever does."""
_TIMEOUT_S = 300.0
_NEAR_RAD = 1e-3


def lockstep(durations: Durations) -> list[Row]:
    """(t) Lockstep of the arm at 250 Hz, with a controller_manager and with a node; held resets.

    The controller_manager is the stand-in of the tests, a Python process: it limits the ticks per
    second.
    """
    with_manager = _ticks(durations.lockstep, manager=True)
    with_node = _ticks(durations.lockstep, manager=False)
    return [
        *_rows("stand-in of a controller_manager, two components", with_manager, most_ms=1.0),
        *_rows("node that answers joint_commands", with_node, most_ms=0.5),
        *_held_resets(durations.held_resets),
    ]


def _ticks(seconds: float, *, manager: bool) -> Mapping[str, np.ndarray]:
    """Return the records of the trial ``ticks``."""
    parameters = {
        "mode": "lockstep",
        "lockstep_sources": f"{_TOPIC}@{_RATE_HZ}",
        "lockstep_timeout": _TIMEOUT_S,
        "real_time_factor": 0.0,
        "ros2_control": str(manager).lower(),
    }
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        sim = stack.enter_context(simulator("arm", folder, parameters))
        if manager:
            arguments = [str(_RATE_HZ), str(_CYCLES), "0.0", str(folder / "cycles.json")]
            variables = {"PYTHONPATH": f"{_SUPPORT}:{ROOT}"}
            log = folder / "manager.log"
            process = Process("manager_stand_in", arguments, log, variables)
            stack.callback(process.kill)
        else:
            client = Process("benchmark.processes.lockstep_client", [], folder / "client.log")
            stack.enter_context(running(client))
        return run_trial("ticks", folder, _TIMEOUT_S, _TOPIC, seconds, sim.pid)


def _rows(source: str, records: Mapping[str, np.ndarray], *, most_ms: float) -> list[Row]:
    """Return the rows of a source, whose processor time per tick has a limit."""
    count, wall = float(records["ticks"]), float(records["wall_s"])
    return [
        result(_KEY, f"{source}: ticks per second of wall time", count / wall, "Hz", 0),
        result(_KEY, f"{source}: real-time factor", count / wall / _RATE_HZ, "×", 2),
        result(
            _KEY,
            f"{source}: processor time of the simulator per tick of 4 steps",
            1e3 * float(records["cpu_s"]) / count,
            "ms",
            2,
            limit=f"≤ {most_ms:g}",
            keeps=lambda ms: ms <= most_ms,
        ),
        result(
            _KEY,
            f"{source}: ticks without an answer",
            float(records["without"]),
            "",
            0,
            limit="= 0",
            keeps=lambda ticks: ticks == 0,
        ),
    ]


def _held_resets(count: int) -> list[Row]:
    """Return the rows of the largest motion after resets."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with simulator("arm", folder, {"publish_rate.joint_states": 1000.0}):
            records = run_trial("held_resets", folder, _TIMEOUT_S, count)
    alone, moved = (1e3 * float(records[key].max()) for key in ("alone", "moved"))
    return [
        result(_KEY, f"largest motion after {count} resets, without commands", alone, "mrad", 3),
        result(
            _KEY,
            f"more after {count} resets while a stream continues",
            moved - alone,
            "mrad",
            3,
            limit=f"≤ {1e3 * _NEAR_RAD:g}",
            keeps=lambda mrad: mrad <= 1e3 * _NEAR_RAD,
        ),
    ]
