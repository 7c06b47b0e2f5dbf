"""The topic /diagnostics: its rows about physics thread, engine and commands."""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import NamedTuple

import mujoco

from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.report import (
    ERROR,
    OK,
    PERIOD_S,
    WARN,
    DiagnosticPublisher,
    DiagnosticReport,
    Metric,
    Row,
    limit_parameters,
)
from mujoco_ros.bridge.model_switch import HoldTimes
from mujoco_ros.control.events import CommandSource, QueueFullError
from mujoco_ros.rclpy_ext.executor import create_wall_timer, guarded, later
from mujoco_ros.sim.stepping.status import Status
from mujoco_ros.wire.names import PROFILE

_STOPPED = 0.01  # achieved real-time factor of a clock that is stopped
_LONG_WAIT_S = 0.5  # wait of the clock between two reports that is reported
_STREAMS = frozenset(
    (
        CommandSource.JOINT_COMMANDS,
        CommandSource.POSITION,
        CommandSource.VELOCITY,
        CommandSource.EFFORT,
    )
)


class DiagnosticSnapshot(NamedTuple):
    """The statistics that rows report on, and the counters of problems since the start."""

    status: Status
    rejections: Mapping[str, int]
    holds: HoldTimes = HoldTimes()


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
    # The messages of a divergence are known.
    new = 0 if diverged else status.messages - before.status.engine.messages
    return DiagnosticReport(
        status.error or ("diverged" if diverged or stands else "healthy"),
        {
            "MuJoCo": mujoco.mj_versionString(),
            "divergences": str(status.divergences),
            "contacts": str(status.contacts),
            "constraints": str(status.constraints),
            "solver iterations": str(status.iterations),
            "solver iterations at most": str(status.iteration_limit),
            **{name: f"{value:.6g}" for name, value in status.numbers.items()},
            **{f"warning {name}": str(count) for name, count in status.warnings.items()},
            "last warning": status.last_warning or "none",
        },
        level=ERROR if status.error or diverged or stands else OK,
        metrics=(
            Metric(
                "engine_warnings",
                max(new, sum(status.warnings.values())),
                f"warnings: {', '.join(status.warnings) or status.last_warning}",
            ),
            Metric(
                "iterations",
                status.iterations / max(1, status.iteration_limit),
                f"the solver stopped after {status.iterations} iterations",
            ),
        ),
    )


def profile(now: DiagnosticSnapshot, before: DiagnosticSnapshot) -> DiagnosticReport:
    """Report how long each stage of a step took on average since the last report."""
    earlier, values = before.status.engine.timers, {}
    for stage, (total, count) in now.status.engine.timers.items():
        total_before, count_before = earlier.get(stage, (0.0, 0))
        if count < count_before:  # after a reset
            total_before, count_before = 0.0, 0
        if count > count_before:
            mean = (total - total_before) / (count - count_before)
            values[f"{stage} [us]"] = f"{1e6 * mean:.2f}"
    return DiagnosticReport("measured" if values else "no steps", values)


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


def world(now: DiagnosticSnapshot, before: DiagnosticSnapshot) -> DiagnosticReport:
    """Report how long changes of the model held the physics thread."""
    holds = now.holds
    changed = holds.count > before.holds.count
    last = 1e3 * holds.last if changed else 0.0
    return DiagnosticReport(
        "changed" if changed else "unchanged",
        {
            "changes": str(holds.count),
            "last hold of the physics [ms]": f"{1e3 * holds.last:.3f}",
            "longest hold of the physics [ms]": f"{1e3 * holds.longest:.3f}",
        },
        metrics=(
            Metric("world_hold", last / 1e3, f"a change held the physics thread for {last:.1f} ms"),
        ),
    )


def _percentiles(name: str, seconds: tuple[float, ...]) -> dict[str, str]:
    return {
        f"{name} p{percent} [us]": f"{1e6 * value:.0f}"
        for percent, value in zip(("50", "99", "99.9"), seconds, strict=True)
    }


DIAGNOSTIC_ROWS: dict[str, Callable[[DiagnosticSnapshot, DiagnosticSnapshot], DiagnosticReport]] = {
    "real time": real_time,
    "engine": engine,
    "control": control,
    "commands": commands,
    "world": world,
    PROFILE: profile,
}
"""The rows by name: each takes the current snapshot and the previous one."""


_POLL_S = 0.1
_ANSWER_S = 0.5


class Diagnostics(Component):
    """Publishes /diagnostics once a second, and at once when something goes wrong or is paused.

    Engine messages are logged as they come. It never waits for the physics thread.
    """

    parameters = limit_parameters()

    def __init__(self, context: NodeContext, components: Iterable[Component]) -> None:
        """Open the topic; some components report rows, in the executor's thread."""
        self._node = context.node
        self._simulation, self._status = context.simulation, context.status
        self._rejections = context.rejections.counts
        self._models = context.models
        self._rows: dict[str, Row] = {}
        self._further: list[Callable[[], Mapping[str, DiagnosticReport] | None]] = []
        for component in components:
            kind = type(component)
            if kind.report is not Component.report:
                name = component.name
                if not name:
                    raise ValueError(f"{kind.__name__} has a report, and needs a name")
                if name in self._rows or name in DIAGNOSTIC_ROWS:
                    raise ValueError(f"/diagnostics has a row '{name}' already")
                self._rows[name] = component.report
            if kind.reports is not Component.reports:
                failed = f"{kind.__name__} failed to report"
                self._further.append(guarded(component.reports, failed))
        self._publisher = DiagnosticPublisher(context.node, limits=context.values)
        log = context.node.get_logger()
        # rclpy requires one call site for each severity.
        self._warnings = RejectionLog(lambda text: log.warning(text))
        self._errors = RejectionLog(lambda text: log.error(text))
        self._reported = self._state()
        self._polls = 0
        self._request: Future[Status] | None = None

    def start(self) -> None:
        """Start the timer."""
        self._before = self._snapshot(self._status())
        self._timer = create_wall_timer(self._node, _POLL_S, self._poll)

    def close(self) -> None:
        """Publish the last changes, after the physics thread has ended."""
        self._log_engine_messages()
        if self._state() != self._reported:
            self._publish(self._status())

    def _state(self) -> tuple[int, bool, str]:
        simulation = self._simulation
        return simulation.divergences, simulation.paused, simulation.engine_messages.error

    def _poll(self) -> None:
        self._log_engine_messages()
        self._polls += 1
        if self._request is not None:
            self._receive()
        elif self._state() != self._reported or self._polls >= PERIOD_S / _POLL_S:
            self._polls = 0
            with contextlib.suppress(QueueFullError):  # it has ended, and the node will
                self._request = self._simulation.commands.submit(self._status, urgent=True)
                self._request.add_done_callback(lambda _request: later(self._node, self._receive))

    def _receive(self) -> None:
        """Publish the status from the physics thread, if it has answered."""
        request = self._request
        if request is None:
            return
        if request.done():
            self._request = None
            if not request.cancelled():
                self._publish(request.result())
            return
        overdue = self._polls - round(_ANSWER_S / _POLL_S)
        if overdue == 0:
            self._errors.report("physics thread", "timeouts", f"no answer for {_ANSWER_S:g} s")
        if overdue > 0 and overdue % round(PERIOD_S / _POLL_S) == 0:
            # The rows of the components may name what the physics thread waits for.
            self._publisher.publish(self._before.status.sim_time, self._rows)

    def _log_engine_messages(self) -> None:
        messages = self._simulation.engine_messages
        while messages:
            text, when, time = messages.popleft().partition(" Time = ")
            self._warnings.report("MuJoCo", "warnings", text, detail=f"{when}{time}")

    def _snapshot(self, status: Status) -> DiagnosticSnapshot:
        return DiagnosticSnapshot(status, dict(self._rejections), self._models.holds)

    def _publish(self, status: Status) -> None:
        before, now = self._before, self._snapshot(status)
        engine = status.engine
        self._before, self._reported = now, (engine.divergences, status.paused, engine.error)
        if status.engine.divergences != before.status.engine.divergences:
            self._errors.report(
                "engine",
                "divergences",
                f"the simulation diverged; on_divergence: {self._simulation.on_divergence}",
                detail=f" (before {status.sim_time:.3f} s{self._simulation.last_change})",
            )
        rows: dict[str, Row | DiagnosticReport] = {
            name: partial(row, now, before) for name, row in DIAGNOSTIC_ROWS.items()
        }
        rows |= self._rows
        for reports in self._further:
            rows |= reports() or {}
        self._publisher.publish(status.sim_time, rows)
