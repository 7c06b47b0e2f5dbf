"""Speed of the lockstep, and motion after resets that streams do not notice."""

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from operator import le
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.durations import Durations
from benchmark.processes.child_process import ROOT, Process, run_trial, running, simulator
from benchmark.report import Row, at_most, result

_KEY = "t"
_TOPIC = "joint_commands"
_SUPPORT = ROOT / "test" / "support" / "ros"
_CYCLES = 10**9
"""More than the stand-in of a controller_manager ever does."""
_TIMEOUT_S = 300.0
_NEAR_RAD = 1e-3


def lockstep(durations: Durations) -> list[Row]:
    """(t) Lockstep with a controller_manager and with a node, of arm and humanoid; held resets.

    The controller_manager is the stand-in of the tests, a Python process: it limits the ticks per
    second.
    """
    seconds, node = durations.lockstep, "node that answers joint_commands"
    return [
        *_rows(
            "stand-in of a controller_manager",
            *("arm", 250, seconds),
            most_ms=1.0,
            least_factor=1.0,
            manager=True,
        ),
        *_rows(node, "arm", 250, seconds, most_ms=0.5, least_factor=3.0),
        *_rows(node, "humanoid", 1000, seconds, most_ms=0.5, least_factor=3.0),
        *_held_resets(durations.held_resets),
    ]


def _ticks(scene: str, rate: int, seconds: float, *, manager: bool) -> Mapping[str, np.ndarray]:
    """Return the records of the trial ``ticks``, of a source at a rate [Hz]."""
    parameters = {
        "mode": "lockstep",
        "lockstep_sources": f"{_TOPIC}@{rate}",
        "lockstep_timeout": _TIMEOUT_S,
        "real_time_factor": 0.0,
        "ros2_control": str(manager).lower(),
    }
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        sim = stack.enter_context(simulator(scene, folder, parameters))
        if manager:
            arguments = [str(rate), str(_CYCLES), "0.0", str(folder / "cycles.json")]
            variables = {"PYTHONPATH": f"{_SUPPORT}:{ROOT}"}
            log = folder / "manager.log"
            process = Process("manager_stand_in", arguments, log, variables)
            stack.callback(process.kill)
        else:
            client = Process("benchmark.processes.lockstep_client", [], folder / "client.log")
            stack.enter_context(running(client))
        return run_trial("ticks", folder, _TIMEOUT_S, _TOPIC, seconds, sim.pid)


def _rows(
    source: str,
    scene: str,
    rate: int,
    seconds: float,
    *,
    most_ms: float,
    least_factor: float,
    manager: bool = False,
) -> list[Row]:
    """Return the rows of a source at a rate [Hz].

    Limits are the processor time of a tick, and the smallest real-time factor.
    """
    records = _ticks(scene, rate, seconds, manager=manager)
    count, wall = float(records["ticks"]), float(records["wall_s"])
    name = f"{scene} at {rate} Hz, {source}"
    return [
        result(_KEY, f"{name}: ticks per second of wall time", count / wall, "Hz", 0),
        result(
            _KEY,
            f"{name}: real-time factor",
            count / wall / rate,
            "×",
            2,
            limit=f"≥ {least_factor:g}",
            keeps=partial(le, least_factor),
        ),
        at_most(
            _KEY,
            f"{name}: processor time of the simulator per tick",
            1e3 * float(records["cpu_s"]) / count,
            most_ms,
            "ms",
            2,
        ),
        result(
            _KEY,
            f"{name}: ticks without an answer",
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
        at_most(
            _KEY,
            f"more after {count} resets while a stream continues",
            moved - alone,
            1e3 * _NEAR_RAD,
            "mrad",
            3,
        ),
    ]
