"""Step period while other programs keep the processors busy."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from subprocess import Popen

import numpy as np

from benchmark.durations import Durations
from benchmark.measurements.simulator_runs import run_simulator
from benchmark.processes.probe_columns import BEGUN, LATE
from benchmark.report import Row, percentiles, result

_PRIORITY = 20  # the default of the parameter
_LONGEST_RUN_S = 150.0
"""The probe records no more steps."""


def jitter(durations: Durations) -> list[Row]:
    """(jitter) Step period beside four busy processes, with and without real-time priority.

    Runs with and without the priority take turns.
    """
    runs = max(1, round(durations.jitter / _LONGEST_RUN_S))
    seconds = durations.jitter / runs
    periods: dict[int, list[np.ndarray]] = {_PRIORITY: [], 0: []}
    late = dict.fromkeys(periods, 0)
    for _ in range(runs):
        for priority in periods:
            with _busy_processes(durations.busy_processes):
                steps = run_simulator(
                    "humanoid", seconds, parameters={"realtime_priority": priority}
                ).steps
            periods[priority].append(np.diff(steps[:, BEGUN]) / 1e3)
            late[priority] += int(steps[-1, LATE] - steps[0, LATE])
    rows = []
    for priority, parts in periods.items():
        name, period = f"realtime_priority {priority}", np.concatenate(parts)
        rows += percentiles("jitter", f"{name}: step period", period, 50, 99, 99.9, 100)
        rows.append(
            result("jitter", f"{name}: deadline misses", late[priority], f"of {len(period)}", 0)
        )
    return rows


@contextmanager
def _busy_processes(count: int) -> Iterator[None]:
    """Run processes that never rest until the end of the block."""
    with ExitStack() as stack:
        for _ in range(count):
            process = stack.enter_context(Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(process.kill)
        yield
