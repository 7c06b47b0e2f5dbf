"""Reliability of the simulator: floods of calls, killed clients, model changes, a long run."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark.durations import Durations
from benchmark.processes.child_process import ROOT, Process, run_trial, simulator, subscriber
from benchmark.processes.scene_topics import EVERY_STEP_HZ, all_rates
from benchmark.report import Row, at_most, percentiles, result

FLOOD_HZ = 1000.0
ROBOT = ROOT / "urdf_mjcf" / "quadruped" / "quadruped.xml"
"""Spawned and deleted together with a box."""
_KEY = "s"
_SETTLE_S = 3.0
_TRIM_S = 11.0
"""The simulator returns unused memory every 10 s."""
_TIMEOUT_S = 1200.0


def reliability(durations: Durations) -> list[Row]:
    """(s) Reliability: floods of calls, killed clients, model changes, resets, a long run."""
    parts = (_flood, _model_changes, _resets, _long_run)
    return [row for part in parts for row in part(durations)]


def _flood(durations: Durations) -> list[Row]:
    """1000 calls per second during a trajectory; then clients that are killed during calls."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with simulator("humanoid", folder, {}) as sim:
            sim.sleep(_SETTLE_S)
            records = run_trial("flood", folder, _TIMEOUT_S, durations.calls, FLOOD_HZ)
            for number in range(durations.killed_clients):
                arguments = ["calling", str(folder / "none.npz"), "60", str(FLOOD_HZ)]
                log = folder / f"client{number}.log"
                client = Process("benchmark.processes.trial", arguments, log)
                client.wait_for("calling")
                client.sleep(0.5)
                client.kill()
            sim.check()
            after = run_trial("flood", folder, _TIMEOUT_S, 1.0, 100.0)
    sent, answered = int(records["sent"]), int(records["answered"])
    return [
        result(_KEY, f"calls at {float(records['rate']):.0f} Hz", sent, "", 0),
        _all("calls answered", answered, sent),
        result(_KEY, "of them rejected or failed", int(records["failed"]), "", 0),
        *percentiles(_KEY, "response time of a call", records["took"] * 1e3, 50, 99, unit="ms"),
        at_most(_KEY, "time dropped meanwhile", 100 * float(records["dropped"]), 1.0, "%", 3),
        _all("trajectories completed meanwhile", int(records["arrived"]), 1),
        _all(
            f"calls answered after {durations.killed_clients} clients were killed",
            int(after["answered"]),
            int(after["sent"]),
        ),
    ]


def _model_changes(durations: Durations) -> list[Row]:
    """Repeated spawning and deleting of a box and a robot."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with simulator("humanoid", folder, {}) as sim:
            sim.sleep(_SETTLE_S)
            run_trial("cycles", folder, _TIMEOUT_S, durations.warm_up_cycles, ROBOT)
            sim.sleep(_TRIM_S)
            early = sim.resident_mb()
            records = run_trial("cycles", folder, _TIMEOUT_S, durations.cycles, ROBOT)
            sim.sleep(_TRIM_S)
            late = sim.resident_mb()
    cycle_ms = 1e3 * float(records["cycle"])
    return [
        result(_KEY, f"spawn and delete, mean of {durations.cycles}", cycle_ms, "ms", 0),
        at_most(_KEY, "longest pause of the physics", float(records["longest"]), 150.0, "ms", 1),
        at_most(_KEY, "memory growth", late - early, 5.0, "MB", 2),
    ]


def _resets(durations: Durations) -> list[Row]:
    """Resets during a trajectory; a pause; an invalid world."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        broken = folder / "broken.xml"
        broken.write_text("<mujoco><worldbody><body></worldbody></mujoco>")
        with simulator("arm", folder, {}) as sim:
            sim.sleep(_SETTLE_S)
            goals = run_trial("resets", folder, _TIMEOUT_S, durations.resets)
            paused = run_trial("pause", folder, _TIMEOUT_S, durations.pause)
            world = run_trial("broken", folder, _TIMEOUT_S, broken)
    once = int(np.sum(goals["ends"] == 1))
    return [
        _all("goals ended once by a reset", once, durations.resets),
        _all("of them with a result", int(goals["results"]), durations.resets),
        result(_KEY, "simulated time in a pause", 1e3 * float(paused["while_paused"]), "ms", 1),
        at_most(_KEY, "lead of the clock after it", 1e3 * float(paused["ahead"]), 50.0, "ms", 1),
        at_most(_KEY, "time dropped around it", 1e3 * float(paused["dropped"]), 0.0, "ms", 1),
        _all("invalid worlds rejected with a reason", int(bool(str(world["reason"]))), 1),
    ]


def _long_run(durations: Durations) -> list[Row]:
    """A long run in real time with all topics at 1 kHz and subscribed."""
    seconds = durations.long_run_to - durations.long_run_from
    with TemporaryDirectory() as name:
        folder = Path(name)
        with (
            subscriber("humanoid", folder, record=False),
            simulator("humanoid", folder, all_rates(EVERY_STEP_HZ)) as sim,
        ):
            sim.sleep(durations.long_run_from)
            early, before = sim.resident_mb(), run_trial("totals", folder, _TIMEOUT_S)
            sim.sleep(seconds)
            late, after = sim.resident_mb(), run_trial("totals", folder, _TIMEOUT_S)
    dropped, lost = (float(after[k] - before[k]) for k in ("dropped", "lost"))
    span = f"in {seconds:.0f} s with all topics at 1 kHz"
    return [
        at_most(_KEY, f"time dropped {span}", 1e3 * dropped, 0.0, "ms", 3),
        at_most(_KEY, f"messages lost {span}", lost, 0.0, "", 0),
        at_most(_KEY, f"memory growth {span}", late - early, 1.0, "MB", 2),
    ]


def _all(quantity: str, value: int, of: int) -> Row:
    return result(
        _KEY, quantity, value, f"of {of}", 0, limit=f"= {of}", keeps=lambda count: count == of
    )
