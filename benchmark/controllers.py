"""What a controller's episodes come to, and how fast they are simulated."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import sched_getaffinity

from benchmark.plan import Plan
from benchmark.report import Row, figure
from mujoco_ros.cli.progress import run_episodes
from mujoco_ros.controllers.evaluation.bounds import LAB, SPEED, TABLE, Bound
from mujoco_ros.controllers.evaluation.statistics import Summary, summarize
from mujoco_ros.controllers.evaluation.trials.catalogue import trial

_SEED = 1_000_000
_ASKED = {"lab": LAB, "table": (*TABLE, SPEED)}
"""What is asked for under which conditions."""


def controllers(plan: Plan) -> list[Row]:
    """(r) What pick_place comes to on the lab's start and goal, and anywhere on the table."""
    counts = {"lab": plan.lab_episodes, "table": plan.table_episodes}
    rows = []
    for name, asked in _ASKED.items():
        seeds = range(_SEED, _SEED + counts[name])
        done, whole = run_episodes(trial("pick_place", name), seeds, len(sched_getaffinity(0)))
        if not whole:
            raise KeyboardInterrupt
        told = [it if name == "lab" else replace(it, lab="") for it in (*LAB, SPEED)]
        rows += _rows(f"{name}, {counts[name]} episodes", summarize(done), told, asked)
    return rows


def _rows(where: str, summary: Summary, told: Sequence[Bound], asked: Sequence[Bound]) -> list[Row]:
    limits = {bound.name: bound for bound in asked}
    low, high = (100.0 * end for end in summary.interval)
    interval = "95 % interval of success, {} end"
    return [
        *(_row(where, it, summary, limits.get(it.name)) for it in told),
        figure("r", f"{where}: {interval.format('lower')}", low, "%"),
        figure("r", f"{where}: {interval.format('upper')}", high, "%"),
        *(
            figure("r", f"{where}: failed with {outcome}", count, "episodes", 0)
            for outcome, count in summary.outcomes.items()
        ),
        *(
            figure("r", f"{where}: recovered from {failure}", count, "times", 0)
            for failure, count in summary.recovered.items()
        ),
    ]


def _row(where: str, told: Bound, summary: Summary, asked: Bound | None) -> Row:
    quantity, _, unit = told.name.partition(" [")
    sign = "≥" if told.least else "≤"
    return figure(
        "r",
        f"{where}: {quantity}",
        told.value(summary),
        unit.rstrip("]"),
        digits=told.digits,
        limit=f"{sign} {asked.limit:g}" if asked else "",
        keeps=(lambda _value: asked.holds(summary)) if asked else None,
        others=told.lab,
    )


CONTROLLERS: dict[str, Callable[[Plan], list[Row]]] = {"r": controllers}
