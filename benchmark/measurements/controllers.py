"""Success and speed of a controller's episodes, and cost of hosted controllers."""

from collections.abc import Sequence
from os import sched_getaffinity
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmark.durations import Durations
from benchmark.processes.child_process import run_trial, simulator
from benchmark.report import Row, result
from mujoco_ros.cli.evaluate import run_episodes
from mujoco_ros.controllers.evaluation.bounds import LAB, Bound
from mujoco_ros.controllers.evaluation.report import Summary, summarize
from mujoco_ros.controllers.evaluation.trials import trial

_SEED = 1_000_000
SPEED = Bound("simulated time per processor time", "", 10.0, lambda it: it.speed, least=True)
_REQUIRED = {
    ("pick_place", "lab"): LAB,
    ("pick_place", "table"): (LAB[0]._replace(limit=99.0), SPEED),
    ("pick_place", "perturbed"): (
        LAB[0]._replace(limit=95.0),
        Bound("false successes", "", 0.0, lambda it: it.false_successes, 0),
    ),
    ("handover", "table"): LAB[:2],
}
"""Required bounds by controller and conditions."""
_HOSTED = {"stand": "humanoid", "left": "left_arm", "right": "right_arm"}
"""Hosted controllers of the scene zoo and their robots, in the order in which they are added."""
_SETTINGS = {
    "left.type": "pick_place",
    "right.type": "grasp_reflex",
    **{f"{name}.robot": robot for name, robot in _HOSTED.items()},
}
_SETTLE_S = 5.0
_TIMEOUT_S = 60.0


def controllers(durations: Durations) -> list[Row]:
    """(r) Success of pick_place and of handover under random conditions."""
    counts = (
        durations.lab_episodes,
        durations.table_episodes,
        durations.perturbed_episodes,
        durations.handover_episodes,
    )
    rows = []
    for (controller, name), count in zip(_REQUIRED, counts, strict=True):
        required = _REQUIRED[controller, name]
        episodes, complete = run_episodes(
            trial(controller, name), range(_SEED, _SEED + count), len(sched_getaffinity(0))
        )
        if not complete:
            raise KeyboardInterrupt
        is_lab = (controller, name) == ("pick_place", "lab")
        shown = [bound if is_lab else bound._replace(lab="") for bound in (*LAB, SPEED)]
        shown += [bound for bound in required if bound.name not in {other.name for other in shown}]
        where = name if controller == "pick_place" else f"{controller}, {name}"
        rows += _rows(f"{where}, {count} episodes", summarize(episodes), shown, required)
    return rows


def hosted(durations: Durations) -> list[Row]:
    """(u) Processor time of the simulator with several hosted controllers, scene zoo."""
    rows = []
    for count in range(len(_HOSTED) + 1):
        names = list(_HOSTED)[:count]
        of_controllers = {
            key: value for key, value in _SETTINGS.items() if key.partition(".")[0] in names
        }
        parameters = {"controllers": f"[{', '.join(names)}]", **of_controllers} if names else {}
        with TemporaryDirectory() as name:
            folder = Path(name)
            with simulator("zoo", folder, parameters) as sim:
                sim.sleep(min(_SETTLE_S, durations.settle))
                timeout = durations.controllers + _TIMEOUT_S
                records = run_trial("spent", folder, timeout, durations.controllers, sim.pid)
        share = 100.0 * float(records["cpu_s"]) / float(records["simulated_s"])
        shown = f"with {count} hosted" + (f": {', '.join(names)}" if names else "")
        rows.append(result("u", f"processor time at factor 1 {shown}", share, "% of a core"))
    return rows


def _rows(
    where: str, summary: Summary, shown: Sequence[Bound], required: Sequence[Bound]
) -> list[Row]:
    limits = {bound.name: bound for bound in required}
    low, high = (100.0 * end for end in summary.interval)
    interval = "95 % interval of success, {} end"
    return [
        *(_row(where, bound, summary, limits.get(bound.name)) for bound in shown),
        result("r", f"{where}: {interval.format('lower')}", low, "%"),
        result("r", f"{where}: {interval.format('upper')}", high, "%"),
        *(
            result("r", f"{where}: failed with {outcome}", count, "episodes", 0)
            for outcome, count in summary.outcomes.items()
        ),
        *(
            result("r", f"{where}: recovered from {failure}", count, "times", 0)
            for failure, count in summary.recovered.items()
        ),
    ]


def _row(where: str, shown: Bound, summary: Summary, required: Bound | None) -> Row:
    quantity, _, unit = shown.name.partition(" [")
    sign = "≥" if shown.least else "≤"
    return result(
        "r",
        f"{where}: {quantity}",
        shown.value(summary),
        unit.rstrip("]"),
        digits=shown.digits,
        limit=f"{sign} {required.limit:g}" if required else "",
        keeps=(lambda _value: required.holds(summary)) if required else None,
        others=shown.lab,
    )
