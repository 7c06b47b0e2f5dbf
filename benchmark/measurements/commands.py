"""Cost, latency and accuracy of commands."""

from functools import partial
from operator import le

import numpy as np

from benchmark.durations import Durations
from benchmark.measurements.control_updates import update_costs
from benchmark.measurements.simulator_runs import run_commanded
from benchmark.processes.arm_motion import DAMPING, JOINTS, STIFFNESS
from benchmark.processes.commander import PACES, STATES_HZ, STREAM_HZ
from benchmark.processes.numbered_commands import SOURCES
from benchmark.processes.probe import IDLE, STREAM, TRAJECTORY
from benchmark.processes.probe_columns import (
    ACTIVITY,
    BEGUN,
    LATE,
    PUBLISHED,
    STAMP,
    UNIT,
)
from benchmark.report import Row, percentiles, result

_LIMITED = ("gravity_gentle", "dynamics_fast")
"""Paces whose error has a limit."""
_LEAST_RECEIVED = 95.0  # percent of the states


def tracking(durations: Durations) -> list[Row]:
    """(h) Tracking error of the arm in a pick and place, with the gains of the grasping lab.

    With gravity feed-forward only, the error accelerates the arm: it is inertia times acceleration
    over kp, so only slow motions are within the limit. Motions at the lab's limits of acceleration
    need feed-forward of all dynamics.
    """
    gains: dict[str, float] = {"publish_rate.controller_state": STATES_HZ}
    for joint, kp, kd in zip(JOINTS, STIFFNESS, DAMPING, strict=True):
        gains |= {f"gains.{joint}.kp": kp, f"gains.{joint}.kd": kd}
    records = run_commanded(
        "arm", "follow", durations.tracking, subscribe=False, parameters=gains
    ).records
    rows = []
    for name, (share, dynamics) in PACES.items():
        if name not in records:
            continue
        worst = 1e3 * float(np.abs(records[name]).max())
        duration_s = float(records[f"{name}_s"])
        received = 100 * len(records[name]) / (STATES_HZ * duration_s)
        pace = f"in {duration_s:.1f} s"
        fed = "all dynamics" if dynamics else "gravity"
        quantity = (
            f"largest joint error, {fed} fed forward, {share:.0%} of the acceleration, {pace}"
        )
        limited = name in _LIMITED
        rows.append(
            result(
                "h",
                quantity,
                worst,
                "mrad",
                2,
                limit="< 5" if limited else "",
                keeps=(lambda mrad: mrad < 5) if limited else None,
            )
        )
        # Otherwise the largest error may be among the lost ones, as on a busy machine.
        complete = partial(le, _LEAST_RECEIVED)
        limit = f"≥ {_LEAST_RECEIVED:g}"
        rows.append(
            result("h", f"of the states, {pace}", received, "%", limit=limit, keeps=complete)
        )
    return rows


def latency(durations: Durations) -> list[Row]:
    """(i) Latency from publishing a command to the first step that uses it, for every source."""
    return [row for name in SOURCES for row in _latency(name, durations.latency)]


def _latency(name: str, seconds: float) -> list[Row]:
    """Return the rows of one source."""
    source = SOURCES[name]
    parameters = {"interpolation": "hold", "external_wrench_axes": "world", **source.parameters}
    run = run_commanded(source.scene, name, seconds, parameters=parameters)
    steps, sent = run.steps, run.records["sent"]
    # A step uses a command if its quantity is beyond the quantity of the command before.
    quantities = float(run.records["start"]) + source.unit * (np.arange(len(sent)) + 0.01)
    used = np.searchsorted(steps[:, source.column] * UNIT, quantities)
    reached = used < len(steps)
    waits = (steps[used[reached], BEGUN] - sent[reached]) / 1e6
    what = f"{name} at {source.rate_hz:g} Hz"
    return [
        *percentiles(
            "i", f"{what}: command to step", waits, 50, 99, unit="ms", below={50: 1, 99: 3}
        ),
        result("i", f"{what}: slowest", float(waits.max()), "ms", 2),
        result(
            "i",
            f"{what}: commands used, or replaced by a later one",
            100 * len(waits) / len(sent),
            "%",
            2,
        ),
        *_real_time("i", steps),
    ]


def costs(durations: Durations) -> list[Row]:
    """(j) Cost per step of a trajectory or a stream for all joints."""
    steps = run_commanded("humanoid", "alternate", durations.alternating).steps
    whole = (steps[:, PUBLISHED] - steps[:, BEGUN]) / 1e3
    idle, trajectory, stream = (
        float(np.median(whole[steps[:, ACTIVITY] == activity]))
        for activity in (IDLE, TRAJECTORY, STREAM)
    )
    alone = update_costs(durations.updates)
    return [
        result("j", "step with everything published, idle, p50", idle, "µs"),
        result(
            "j",
            "more with a trajectory of all joints, p50",
            trajectory - idle,
            "µs",
            limit="≤ 25",
            keeps=lambda us: us <= 25,
        ),
        result("j", f"more with a stream of {STREAM_HZ:g} Hz, p50", stream - idle, "µs"),
        result(
            "j",
            "RobotControl.update alone, quintic trajectory",
            alone["trajectory"],
            "µs",
            limit="< 15",
            keeps=lambda us: us < 15,
        ),
        result(
            "j",
            "RobotControl.update alone, upsampled trajectory",
            alone["upsampled"],
            "µs",
            limit="< 15",
            keeps=lambda us: us < 15,
        ),
        result("j", "RobotControl.update alone, stream", alone["stream"], "µs"),
        *(
            result("j", f"RobotControl.update alone, Cartesian, {mode} (arm)", alone[mode], "µs")
            for mode in ("pose", "impedance")
        ),
        result("j", "RobotControl.command alone", alone["command"], "µs"),
    ]


def gains(durations: Durations) -> list[Row]:
    """(k) Round trip of one set_parameters_atomically for all PD gains."""
    run = run_commanded("humanoid", "gains", durations.gains)
    count = int(run.records["parameters"])
    return [
        *percentiles(
            "k",
            f"round trip of {count} gains",
            run.records["took"] / 1e6,
            50,
            99,
            unit="ms",
            below={99: 20},
        ),
        *_real_time("k", run.steps),
    ]


def _real_time(key: str, steps: np.ndarray) -> list[Row]:
    """Return the real-time factor and deadline misses of some steps."""
    first, last = steps[0], steps[-1]
    factor = float((last[STAMP] - first[STAMP]) / (last[BEGUN] - first[BEGUN]))
    return [
        result(
            key,
            f"real-time factor meanwhile, over {(last[BEGUN] - first[BEGUN]) / 1e9:.0f} s",
            factor,
            "×",
            6,
            limit="1 ± 0.001",
            keeps=lambda factor: abs(factor - 1) <= 0.001,
        ),
        result(key, "deadline misses meanwhile", last[LATE] - first[LATE], f"of {len(steps)}", 0),
    ]
