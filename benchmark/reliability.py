"""What the simulator survives, and whether it keeps time and memory meanwhile."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmark.plan import Plan
from benchmark.processes import ROOT, Process, simulator, subscriber
from benchmark.report import Row, figure, percentiles
from benchmark.stations import EVERY_STEP_HZ, all_rates
from benchmark.subscriber import load

FLOOD_HZ = 1000.0
ROBOT = ROOT / "urdf_mjcf" / "quadruped" / "quadruped.xml"
"""What is spawned and deleted beside a box."""
_SETTLE_S = 3.0
_TIDY_S = 11.0
"""The simulator gives back what memory it has no more use for every 10 s."""
_LONGEST_S = 1200.0


def flooding(plan: Plan) -> list[Row]:
    """Many calls a second while a trajectory runs; then clients that die in the midst of calls."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with simulator("humanoid", folder, {}) as sim:
            sim.sleep(_SETTLE_S)
            notes = _trial("flood", folder, plan.flood, FLOOD_HZ)
            for number in range(plan.deaths):
                arguments = ["calling", str(folder / "none.npz"), "60", str(FLOOD_HZ)]
                client = Process("benchmark.trial", arguments, folder / f"client{number}.log")
                client.wait_for("calling")
                client.sleep(0.5)
                client.kill()
            sim.check()
            after = _trial("flood", folder, 1.0, 100.0)
    sent, answered = int(notes["sent"]), int(notes["answered"])
    return [
        figure("r", f"calls at {float(notes['rate']):.0f} Hz", sent, "", 0),
        _all("calls answered", answered, sent),
        figure("r", "of them busy, or failed", int(notes["failed"]), "", 0),
        *percentiles("r", "answer to a call", notes["took"] * 1e3, 50, 99, unit="ms"),
        _at_most("time dropped meanwhile", 100 * float(notes["dropped"]), 1.0, "%", 3),
        _all("trajectories that arrived meanwhile", int(notes["arrived"]), 1),
        _all(
            f"calls answered after {plan.deaths} clients died in mid-call",
            int(after["answered"]),
            int(after["sent"]),
        ),
    ]


def changing(plan: Plan) -> list[Row]:
    """A box and a robot, spawned and deleted again and again."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with simulator("humanoid", folder, {}) as sim:
            sim.sleep(_SETTLE_S)
            _trial("cycles", folder, plan.cycles_before, str(ROBOT))
            sim.sleep(_TIDY_S)
            early = sim.resident_mb()
            notes = _trial("cycles", folder, plan.cycles, str(ROBOT))
            sim.sleep(_TIDY_S)
            late = sim.resident_mb()
    return [
        figure("r", f"a cycle, mean of {plan.cycles}", 1e3 * float(notes["cycle"]), "ms", 0),
        _at_most("longest hold of the physics", float(notes["longest"]), 150.0, "ms", 1),
        _at_most("memory gained by them", late - early, 5.0, "MB", 2),
    ]


def resetting(plan: Plan) -> list[Row]:
    """Resets in mid-trajectory; a pause; a broken world."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        broken = folder / "broken.xml"
        broken.write_text("<mujoco><worldbody><body></worldbody></mujoco>")
        with simulator("arm", folder, {}) as sim:
            sim.sleep(_SETTLE_S)
            goals = _trial("resets", folder, plan.resets)
            paused = _trial("pause", folder, plan.pause)
            world = _trial("broken", folder, str(broken))
    once = int(np.sum(goals["ends"] == 1))
    return [
        _all("goals ended once by a reset", once, plan.resets),
        _all("of them with a result", int(goals["results"]), plan.resets),
        figure("r", "time that passed in a pause", 1e3 * float(paused["while_paused"]), "ms", 1),
        _at_most("lead of the clock after it", 1e3 * float(paused["ahead"]), 50.0, "ms", 1),
        _at_most("time dropped around it", 1e3 * float(paused["dropped"]), 0.0, "ms", 1),
        _all("broken worlds refused with a reason", int(bool(str(world["reason"]))), 1),
    ]


def soaking(plan: Plan) -> list[Row]:
    """In real time for long, every topic at every step, all of them heard."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with (
            subscriber("humanoid", folder, record=False),
            simulator("humanoid", folder, all_rates(EVERY_STEP_HZ)) as sim,
        ):
            sim.sleep(plan.soak_from)
            early, before = sim.resident_mb(), _trial("figures", folder)
            sim.sleep(plan.soak_to - plan.soak_from)
            late, after = sim.resident_mb(), _trial("figures", folder)
    dropped, lost = (float(after[k] - before[k]) for k in ("dropped", "lost"))
    what = f"in {plan.soak_to - plan.soak_from:.0f} s with all topics at 1 kHz"
    return [
        _at_most(f"time dropped {what}", 1e3 * dropped, 0.0, "ms", 3),
        _at_most(f"messages lost {what}", lost, 0.0, "", 0),
        _at_most(f"memory gained {what}", late - early, 1.0, "MB", 2),
    ]


def reliability(plan: Plan) -> list[Row]:
    """(r) What it survives: floods, dying clients, changes, resets, a pause, a long run."""
    return [row for part in (flooding, changing, resetting, soaking) for row in part(plan)]


def _trial(part: str, folder: Path, *arguments: object) -> dict[str, Any]:
    """Have a process of its own make a trial, and return what it noted."""
    file = folder / f"{part}.npz"
    command = [part, str(file), *map(str, arguments)]
    process = Process("benchmark.trial", command, folder / f"{part}.log")
    try:
        process.finish(_LONGEST_S)
    finally:
        process.kill()
    return load(file)


def _all(quantity: str, value: int, of: int) -> Row:
    return figure(
        "r", quantity, value, f"of {of}", 0, limit=f"= {of}", keeps=lambda count: count == of
    )


def _at_most(quantity: str, value: float, most: float, unit: str, digits: int) -> Row:
    return figure(
        "r", quantity, value, unit, digits, limit=f"≤ {most:g}", keeps=lambda v: v <= most
    )
