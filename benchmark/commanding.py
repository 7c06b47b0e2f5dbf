"""What it costs to be commanded, and how well it is done."""

from collections.abc import Callable

import numpy as np

from benchmark.commander import COMMANDS_HZ, PACES, STREAM_HZ
from benchmark.moves import DAMPING, JOINTS, STIFFNESS
from benchmark.plan import Plan
from benchmark.probe import IDLE, STREAM, TRAJECTORY
from benchmark.report import Row, figure, percentiles
from benchmark.updates import update_costs
from benchmark.watching import BEGUN, DOING, LATE, PUBLISHED, STAMP, TOLD, command

_KEEPING = ("gravity_gentle", "dynamics_fast")
"""Paces whose error has a limit."""


def tracking(_plan: Plan) -> list[Row]:
    """(h) How closely the arm follows a pick and place, with the gains of the grasping lab.

    With gravity alone fed forward, it is the error itself that accelerates the arm: inertia times
    acceleration over kp, so that only gentle moves keep the limit. A controller that goes to the
    lab's limits of acceleration has to feed all of the dynamics forward.
    """
    gains: dict[str, float] = {}
    for joint, kp, kd in zip(JOINTS, STIFFNESS, DAMPING, strict=True):
        gains |= {f"gains.{joint}.kp": kp, f"gains.{joint}.kd": kd}
    seen = command("arm", "follow", 0.0, listen=False, parameters=gains).notes
    rows = []
    for name, (share, dynamics) in PACES.items():
        worst = 1e3 * float(np.abs(seen[name]).max())
        pace = f"in {seen[f'{name}_s']:.1f} s"
        fed = "all dynamics" if dynamics else "gravity"
        quantity = (
            f"largest joint error, {fed} fed forward, {share:.0%} of the acceleration, {pace}"
        )
        limited = name in _KEEPING
        rows.append(
            figure(
                "h",
                quantity,
                worst,
                "mrad",
                2,
                limit="< 5" if limited else "",
                keeps=(lambda mrad: mrad < 5) if limited else None,
            )
        )
    return rows


def latency(plan: Plan) -> list[Row]:
    """(i) From publishing a command for all joints to the first step that uses it."""
    seen = command("humanoid", "stream", plan.latency, parameters={"interpolation": "hold"})
    steps, sent = seen.steps, seen.notes["sent"]
    used = np.searchsorted(steps[:, TOLD], np.arange(1, len(sent) + 1))
    reached = used < len(steps)
    waits = (steps[used[reached], BEGUN] - sent[reached]) / 1e6
    return [
        *percentiles(
            "i",
            f"command to torque at {COMMANDS_HZ:g} Hz",
            waits,
            50,
            99,
            unit="ms",
            below={50: 1, 99: 3},
        ),
        figure("i", "slowest", float(waits.max()), "ms", 2),
        figure(
            "i", "commands used, or overtaken by a later one", 100 * len(waits) / len(sent), "%", 2
        ),
        *_kept_time("i", steps),
    ]


def costs(plan: Plan) -> list[Row]:
    """(j) What following a trajectory or a stream with all joints costs in every step."""
    steps = command("humanoid", "alternate", plan.alternating).steps
    whole = (steps[:, PUBLISHED] - steps[:, BEGUN]) / 1e3
    idle, trajectory, stream = (
        float(np.median(whole[steps[:, DOING] == doing])) for doing in (IDLE, TRAJECTORY, STREAM)
    )
    alone = update_costs(plan.updates)
    return [
        figure("j", "step with everything published, idle, p50", idle, "µs"),
        figure(
            "j",
            "more with a trajectory of all joints, p50",
            trajectory - idle,
            "µs",
            limit="≤ 25",
            keeps=lambda us: us <= 25,
        ),
        figure("j", f"more with a stream of {STREAM_HZ:g} Hz, p50", stream - idle, "µs"),
        figure(
            "j",
            "RobotControl.update alone, quintic trajectory",
            alone["trajectory"],
            "µs",
            limit="< 15",
            keeps=lambda us: us < 15,
        ),
        figure("j", "RobotControl.update alone, stream", alone["stream"], "µs"),
        figure("j", "RobotControl.command alone", alone["command"], "µs"),
    ]


def gains(plan: Plan) -> list[Row]:
    """(k) Changing all PD gains by one set_parameters_atomically."""
    seen = command("humanoid", "gains", plan.gains)
    count = int(seen.notes["parameters"])
    return [
        *percentiles(
            "k",
            f"round trip of {count} gains",
            seen.notes["took"] / 1e6,
            50,
            99,
            unit="ms",
            below={99: 20},
        ),
        *_kept_time("k", seen.steps),
    ]


COMMANDING: dict[str, Callable[[Plan], list[Row]]] = {
    "h": tracking,
    "i": latency,
    "j": costs,
    "k": gains,
}
"""Measurements by key."""


def _kept_time(key: str, steps: np.ndarray) -> list[Row]:
    """Return how the physics kept time over some steps."""
    first, last = steps[0], steps[-1]
    factor = float((last[STAMP] - first[STAMP]) / (last[BEGUN] - first[BEGUN]))
    return [
        figure(
            key,
            f"real-time factor meanwhile, over {(last[BEGUN] - first[BEGUN]) / 1e9:.0f} s",
            factor,
            "×",
            6,
            limit="1 ± 0.001",
            keeps=lambda factor: abs(factor - 1) <= 0.001,
        ),
        figure(key, "deadline misses meanwhile", last[LATE] - first[LATE], f"of {len(steps)}", 0),
    ]
