"""Wall times of the ticks of a policy in real time."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.durations import Durations
from benchmark.processes.child_process import Process, running, simulator
from benchmark.report import Row, percentiles, result
from mujoco_ros.controllers.catalogue import load_table

_KEY, _CONTROLLER, _SCENE = "y", "trot_policy", "quadruped"
_MODULE = "benchmark.processes.tick_times"
_SETTLE_S = 5.0
_WINDOW_S = 5.0
"""Time in which the pace of the simulator is even."""
_LIMIT_US = 500.0


def tick_times(durations: Durations) -> list[Row]:
    """(y) Distance of a policy's ticks from an even grid of wall time, hosted and as a node."""
    seconds = durations.walking
    parameters = {"publish_rate.joint_states": 1000.0}
    return [
        *_hosted(seconds),
        *_as_node("a node", seconds, {}),
        *_as_node("a node, joint_states at 1 kHz", seconds, parameters),
    ]


def grid_distances(ticks: np.ndarray, period: float) -> np.ndarray:
    """Return how far ticks are from an even grid of wall time, whose offset fits best [s].

    Args:
        ticks: Wall time and time of each tick [s].  # (n, 2)
        period: Time between two ticks [s].
    """
    wall, times = ticks.T
    late = wall - period * np.round(times / period)
    windows = ((times - times[0]) / _WINDOW_S).astype(int)
    for window in range(windows.max() + 1):
        late[windows == window] -= np.median(late[windows == window])
    return np.asarray(np.abs(late))


def _hosted(seconds: float) -> list[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        ros = ["-p", f"controller:={_CONTROLLER}", "-p", "cameras:=false"]
        process = _timed(folder, "sim", [], ros)
        with running(process):
            process.wait_for("ready")
            process.sleep(_SETTLE_S + seconds)
        return _rows("hosted", folder)


def _as_node(where: str, seconds: float, parameters: Mapping[str, object]) -> list[Row]:
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        stack.enter_context(simulator(_SCENE, folder, parameters))
        process = _timed(folder, "controller", [_CONTROLLER], [])
        with running(process):
            process.wait_for("ready")
            process.sleep(_SETTLE_S)
            before = process.cpu_s()
            process.sleep(seconds)
            spent = 100.0 * (process.cpu_s() - before) / seconds
        title = f"{_CONTROLLER} as {where}: processor time of the node"
        return [*_rows(where, folder), result(_KEY, title, spent, "% of a core")]


def _timed(folder: Path, program: str, arguments: list[str], ros: list[str]) -> Process:
    command = [str(folder / "ticks.npy"), program, *arguments]
    command += ["--ros-args", "-p", f"scene:={_SCENE}", *ros]
    return Process(_MODULE, command, folder / f"{program}.log")


def _rows(where: str, folder: Path) -> list[Row]:
    ticks = np.load(folder / "ticks.npy")
    ticks = ticks[ticks[:, 0] > ticks[0, 0] + _SETTLE_S]
    distances = 1e6 * grid_distances(ticks, 1.0 / load_table(_CONTROLLER).rate)
    title = f"{_CONTROLLER}, {where}: distance of {len(ticks)} ticks from their grid"
    return percentiles(_KEY, title, distances, 50, 99, below={99: _LIMIT_US})
