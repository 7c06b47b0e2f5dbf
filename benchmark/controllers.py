"""What a controller's episodes come to, and how fast they are simulated."""

import time
from collections.abc import Callable
from os import sched_getaffinity

from benchmark.plan import Plan
from benchmark.report import Row, figure
from mujoco_ros.evaluation.bounds import LAB, SPEED, TABLE, Bound
from mujoco_ros.evaluation.jobs import episodes
from mujoco_ros.evaluation.statistics import Summary, summarize
from mujoco_ros.evaluation.trials.catalogue import trial

_SEED = 1_000_000
_SETS = (("lab", LAB), ("table", (*TABLE, SPEED)))


def controllers(plan: Plan) -> list[Row]:
    """(r) What pick_place comes to on the lab's start and goal, and anywhere on the table."""
    rows = []
    for name, bounds in _SETS:
        count = plan.lab_episodes if name == "lab" else plan.table_episodes
        seeds = range(_SEED, _SEED + count)
        jobs = len(sched_getaffinity(0))
        done = list(episodes(trial("pick_place", name), seeds, time.process_time, jobs=jobs))
        rows += [
            _row(f"pick_place, {name}, {count} episodes", it, summarize(done)) for it in bounds
        ]
    return rows


def _row(what: str, bound: Bound, summary: Summary) -> Row:
    quantity, _, unit = bound.name.partition(" [")
    return figure(
        "r",
        f"{what}: {quantity}",
        bound.value(summary),
        unit.rstrip("]"),
        digits=bound.digits,
        limit=f"{'≥' if bound.least else '≤'} {bound.limit:g}",
        keeps=lambda _value: bound.holds(summary),
    )


CONTROLLERS: dict[str, Callable[[Plan], list[Row]]] = {"r": controllers}
