"""The rows on /diagnostics about the physics thread, the engine and commands."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from mujoco_ros.bridge.diagnostics.report import ERROR, OK, WARN, DiagnosticReport, Metric
from mujoco_ros.bridge.model_switch import HoldTimes
from mujoco_ros.control.events import CommandSource
from mujoco_ros.sim.stepping.status import Status

_ENERGIES = ("potential energy [J]", "kinetic energy [J]")
_STOPPED = 0.01
"""Achieved real-time factor of a clock that is stopped."""
_LONG_WAIT_S = 0.5
"""Wait of the clock between two reports that is reported."""
_STREAMS = frozenset(
    (
        CommandSource.JOINT_COMMANDS,
        CommandSource.POSITION,
        CommandSource.VELOCITY,
        CommandSource.EFFORT,
    )
)


class DiagnosticSnapshot(NamedTuple):
    """The state that rows report on.

    Attributes:
        status: Statistics of the simulation.
        rejections: Counters of problems with commands, since the start.
    """

    status: Status
    rejections: Mapping[str, int]


def real_time(now: DiagnosticSnapshot, before: DiagnosticSnapshot) -> DiagnosticReport:
    """Report the pace of the simulation."""
    status = now.status
    dropped = status.dropped - before.status.dropped
    late = status.late_steps - before.status.late_steps
    text, level = "keeps time", OK
    metrics: tuple[Metric, ...] = ()
    if status.paused:
        text = "paused"
    elif status.achieved_factor < _STOPPED and status.waited > _LONG_WAIT_S:
        text = "the clock is stopped: it waits for a command, or for a result of a controller"
        level = WARN
    elif not status.factor:
        text = "as fast as possible"
    else:
        cost = status.step_cost[1] * status.factor / status.timestep
        metrics = (
            Metric(
                "dropped_time",
                dropped / status.elapsed if status.elapsed else 0.0,
                f"too slow: {1e3 * dropped:.1f} ms dropped since the last report",
            ),
            Metric("lag", status.lag, f"lags {1e3 * status.lag:.1f} ms behind"),
            Metric(
                "late_steps",
                late / status.steps if status.steps else 0.0,
                f"{late} of {status.steps} steps began late",
            ),
            Metric("step_cost", cost, f"1 % of the steps take over {cost:.1f} periods"),
        )
    return DiagnosticReport(
        text,
        {
            "simulated time [s]": f"{status.sim_time:.3f}",
            "real-time factor asked": f"{status.factor:g}",
            "real-time factor achieved": f"{status.achieved_factor:.4f}",
            "waited for commands or results [s]": f"{status.waited:.3f}",
            "lag [ms]": f"{1e3 * status.lag:.3f}",
            "time dropped in total [s]": f"{status.dropped:.6f}",
            "deadline misses in total": str(status.late_steps),
            "steps": str(status.steps),
            "commands waiting at most": str(status.queued),
            **_percentiles("step period", status.period),
            **_percentiles("step cost", status.step_cost),
        },
        level=level,
        metrics=metrics,
    )


def engine(now: DiagnosticSnapshot, before: DiagnosticSnapshot) -> DiagnosticReport:
    """Report the state of the engine."""
    status = now.status.engine
    diverged = status.divergences > before.status.engine.divergences
    stands = status.divergences > 0 and now.status.paused
    energy = {} if status.energy is None else dict(zip(_ENERGIES, status.energy, strict=True))
    return DiagnosticReport(
        "diverged" if diverged or stands else "healthy",
        {
            "divergences": str(status.divergences),
            "contacts": str(status.contacts),
            "constraints": str(status.constraints),
            "solver iterations": str(status.iterations),
            "solver iterations at most": str(status.iteration_limit),
            **{name: f"{value:.6g}" for name, value in energy.items()},
            **{f"warning {name}": str(count) for name, count in status.warnings.items()},
        },
        level=ERROR if diverged or stands else OK,
        metrics=(
            Metric(
                "engine_warnings",
                sum(status.warnings.values()),
                f"warnings: {', '.join(status.warnings)}",
            ),
            Metric(
                "iterations",
                status.iterations / max(1, status.iteration_limit),
                f"the solver stopped after {status.iterations} iterations",
            ),
        ),
    )


def control(now: DiagnosticSnapshot, before: DiagnosticSnapshot) -> DiagnosticReport:
    """Report the owners of joints, saturation, and problems with commands."""
    status, earlier = now.status.control, before.status.control.saturated
    saturated = {
        joint: count - earlier.get(joint, 0)
        for joint, count in status.saturated.items()
        if count > earlier.get(joint, 0)
    }
    most, steps = max(saturated.values(), default=0), max(1, now.status.steps)
    rejected = sum(now.rejections.values()) - sum(before.rejections.values())
    several = len(status.holders) > 1
    held = {
        f"{robot}: {source}" if several else str(source): back
        for robot, sources in status.held.items()
        for source, back in sources.items()
    }
    waiting = {source: back for source, back in held.items() if back.commands}
    return DiagnosticReport(
        "as commanded",
        {
            **{
                f"{robot}: {_owner(source)}" if several else _owner(source): ", ".join(joints)
                for robot, holders in status.holders.items()
                for source, joints in holders.items()
            },
            **{
                f"not moved by {source} since the reset": ", ".join(back.joints)
                for source, back in held.items()
            },
            **{
                f"steps at the torque limit: {joint}": str(count)
                for joint, count in status.saturated.items()
            },
            **{kind: str(count) for kind, count in now.rejections.items()},
        },
        metrics=(
            Metric("saturation", most / steps, f"at the torque limit: {', '.join(saturated)}"),
            Metric("refusals", rejected, f"{rejected} commands rejected, changed or preempted"),
            Metric(
                "held_joints",
                sum(len(back.joints) for back in waiting.values()),
                "; ".join(
                    f"{source} is held back since a reset: {back.reason}"
                    for source, back in waiting.items()
                ),
            ),
        ),
    )


def _owner(source: CommandSource) -> str:
    return source if source is CommandSource.UNCLAIMED else f"held by {source}"


def commands(now: DiagnosticSnapshot, _before: DiagnosticSnapshot) -> DiagnosticReport:
    """Report the rate of each command source, and the age of its newest command."""
    status = now.status.control
    several = len(status.holders) > 1
    values, stale = {}, Metric("command_age", 0.0, "")
    for robot, tallies in status.rates.items():
        for source, rate, age in tallies:
            name = f"{robot}: {source}" if several else source
            values[f"{name} rate [Hz]"] = f"{rate:.1f}"
            values[f"{name} age [s]"] = f"{age:.3f}"
            if source in _STREAMS and source in status.holders[robot] and age > stale.value:
                stale = Metric("command_age", age, f"no command on {name} for {age:.3f} s")
    return DiagnosticReport("received" if values else "none yet", values, metrics=(stale,))


def world(current: Callable[[], HoldTimes]) -> Callable[[], DiagnosticReport]:
    """Return the report of how long changes of the model held the physics thread."""
    seen = current().count

    def report() -> DiagnosticReport:
        nonlocal seen
        holds = current()
        changed, seen = holds.count > seen, holds.count
        last = holds.last if changed else 0.0
        return DiagnosticReport(
            "changed" if changed else "unchanged",
            {
                "changes": str(holds.count),
                "last hold of the physics [ms]": f"{1e3 * holds.last:.3f}",
                "longest hold of the physics [ms]": f"{1e3 * holds.longest:.3f}",
            },
            metrics=(
                Metric(
                    "world_hold", last, f"a change held the physics thread for {1e3 * last:.1f} ms"
                ),
            ),
        )

    return report


def _percentiles(name: str, seconds: tuple[float, ...]) -> dict[str, str]:
    return {
        f"{name} p{percent} [us]": f"{1e6 * value:.0f}"
        for percent, value in zip(("50", "99", "99.9"), seconds, strict=True)
    }


ROWS: dict[str, Callable[[DiagnosticSnapshot, DiagnosticSnapshot], DiagnosticReport]] = {
    "real time": real_time,
    "engine": engine,
    "control": control,
    "commands": commands,
}
"""The rows by name: each takes the current snapshot and the previous one."""
