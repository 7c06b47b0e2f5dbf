"""Statistics and levels of each row."""

from dataclasses import replace
from typing import Any

import mujoco
import pytest

from mujoco_ros.bridge.diagnostics.diagnostics import DIAGNOSTIC_ROWS, DiagnosticSnapshot
from mujoco_ros.bridge.diagnostics.report import ERROR, OK, WARN, DiagnosticReport
from mujoco_ros.bridge.model_switch import HoldTimes
from mujoco_ros.bridge.node import PARAMETERS
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_owners import CommandTally
from mujoco_ros.control.reset_hold import HeldBack
from mujoco_ros.sim.stepping.status import ControlStatus, EngineStatus, Status

DEFAULTS = {spec.name: spec.default for spec in PARAMETERS}
_ENGINE = EngineStatus(
    divergences=0,
    contacts=8,
    constraints=32,
    iterations=3,
    iteration_limit=100,
    warnings={},
)
_CONTROL = ControlStatus(
    saturated={}, holders={"arm": {CommandSource.UNCLAIMED: ("a", "b")}}, rates={}
)
_STATUS = Status(
    sim_time=10.0,
    paused=False,
    factor=1.0,
    achieved_factor=1.0,
    elapsed=1.0,
    waited=0.0,
    steps=1000,
    late_steps=0,
    lag=1e-4,
    dropped=0.0,
    timestep=1e-3,
    period=(1e-3, 1.1e-3, 2e-3),
    step_cost=(1e-4, 2e-4, 3e-4),
    queued=2,
    engine=_ENGINE,
    control=_CONTROL,
)
BEFORE = DiagnosticSnapshot(_STATUS, {})


def report(row: str, *, rejections: Any = None, **changes: Any) -> DiagnosticReport:
    """Return a row after `changes`; those of engine and control have their name as key."""
    status = _STATUS
    for part in ("engine", "control"):
        of_part = changes.pop(part, None)
        if of_part:
            changes[part] = replace(getattr(status, part), **of_part)
    return DIAGNOSTIC_ROWS[row](
        DiagnosticSnapshot(replace(status, **changes), rejections or {}), BEFORE
    )


def judged(result: DiagnosticReport, **limits: float) -> tuple[bytes, str]:
    """Return level and text by the default limits, but for those given as ``name_level``."""
    changed = {f"diagnostics.{'.'.join(n.rsplit('_', 1))}": v for n, v in limits.items()}
    return result.judged(DEFAULTS | changed)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ("real time", "keeps time"),
        ("engine", "healthy"),
        ("control", "as commanded"),
        ("commands", "none yet"),
    ],
)
def test_every_row_of_a_healthy_simulation_is_ok(row: str, text: str) -> None:
    assert judged(report(row)) == (OK, text)


def test_every_row_is_tested_here() -> None:
    assert list(DIAGNOSTIC_ROWS) == [
        "real time",
        "engine",
        "control",
        "commands",
        "world",
        "profile",
    ]


def test_dropped_time_is_a_warning_and_from_half_of_it_on_an_error() -> None:
    little, much = report("real time", dropped=0.0123), report("real time", dropped=0.6)
    assert judged(little) == (WARN, "too slow: 12.3 ms dropped since the last report")
    assert judged(much) == (ERROR, "too slow: 600.0 ms dropped since the last report")
    assert judged(little, dropped_time_warn=0.02) == (OK, "keeps time")


def test_lag_late_steps_and_slow_steps_have_separate_limits() -> None:
    assert judged(report("real time", lag=0.02)) == (OK, "keeps time")
    assert judged(report("real time", lag=0.02), lag_warn=0.01) == (WARN, "lags 20.0 ms behind")
    assert judged(report("real time", late_steps=600)) == (WARN, "600 of 1000 steps began late")
    costly = report("real time", step_cost=(5e-4, 1.5e-3, 2e-3))
    assert judged(costly) == (WARN, "1 % of the steps take over 1.5 periods")
    assert judged(replace(costly), step_cost_warn=2.0) == (OK, "keeps time")
    fast = report("real time", step_cost=(1e-4, 6e-4, 7e-4), factor=2.0)
    assert judged(fast) == (WARN, "1 % of the steps take over 1.2 periods")


def test_timing_limits_do_not_apply_when_paused_or_as_fast_as_possible() -> None:
    late = {"lag": 1.0, "dropped": 1.0, "late_steps": 1000}
    assert judged(report("real time", paused=True, **late)) == (OK, "paused")
    assert judged(report("real time", factor=0.0, **late)) == (OK, "as fast as possible")


@pytest.mark.parametrize("factor", [0.0, 1.0])
def test_a_clock_that_waits_and_makes_no_steps_is_a_warning(factor: float) -> None:
    stopped = {"factor": factor, "achieved_factor": 0.0, "steps": 0, "waited": 0.99}
    level, text = judged(report("real time", **stopped))
    assert level == WARN
    assert text.startswith("the clock is stopped")
    assert judged(report("real time", **stopped | {"achieved_factor": 0.1}))[0] == OK
    assert judged(report("real time", **stopped | {"paused": True})) == (OK, "paused")


def test_a_divergence_is_an_error_once_and_while_it_lasts() -> None:
    assert judged(report("engine", engine={"divergences": 1})) == (ERROR, "diverged")
    after = DiagnosticSnapshot(replace(_STATUS, engine=replace(_ENGINE, divergences=1)), {})
    assert judged(DIAGNOSTIC_ROWS["engine"](after, after)) == (OK, "healthy")
    stands = after._replace(status=replace(after.status, paused=True))
    assert judged(DIAGNOSTIC_ROWS["engine"](stands, stands)) == (ERROR, "diverged")


def test_engine_warnings_are_a_warning_until_the_next_reset() -> None:
    result = report("engine", engine={"warnings": {"BADCTRL": 3}})
    assert judged(result) == (WARN, "warnings: BADCTRL")
    assert result.values["warning BADCTRL"] == "3"
    assert judged(result, engine_warnings_error=2.0) == (ERROR, "warnings: BADCTRL")


def test_a_solver_that_uses_up_its_iterations_is_a_warning() -> None:
    result = report("engine", engine={"iterations": 100})
    assert judged(result) == (WARN, "the solver stopped after 100 iterations")
    assert result.values["solver iterations"] == result.values["solver iterations at most"] == "100"


def test_the_energy_is_reported_if_it_is_computed() -> None:
    result = report("engine", engine={"numbers": {"kinetic energy [J]": 0.25}})
    assert result.values["kinetic energy [J]"] == "0.25"
    assert not [name for name in report("engine").values if "energy" in name]


def test_the_last_warning_and_an_error_of_the_engine_are_named_with_their_steps() -> None:
    warned = report("engine", engine={"messages": 1, "last_warning": "too hot (step 12)"})
    assert judged(warned) == (WARN, "warnings: too hot (step 12)")
    assert warned.values["last warning"] == "too hot (step 12)"
    assert warned.values["MuJoCo"] == mujoco.mj_versionString()
    failed = report("engine", engine={"error": "stack overflow (step 13)"})
    assert judged(failed) == (ERROR, "stack overflow (step 13)")


def test_the_profile_has_the_mean_time_of_a_step_since_the_last_report_or_reset() -> None:
    def after(**timers: tuple[float, int]) -> DiagnosticSnapshot:
        return DiagnosticSnapshot(replace(_STATUS, engine=replace(_ENGINE, timers=timers)), {})

    first, second = after(step=(1e-3, 10)), after(step=(5e-3, 30), velocity=(1e-4, 20))
    row = DIAGNOSTIC_ROWS["profile"]
    assert row(second, first).values == {"step [us]": "200.00", "velocity [us]": "5.00"}
    assert row(first, second).values == {"step [us]": "100.00"}, "after a reset"
    assert judged(row(first, first)) == (OK, "no steps")


def test_joints_at_their_torque_limit_are_a_warning_while_it_lasts() -> None:
    result = report("control", control={"saturated": {"a": 100}})
    assert judged(result) == (WARN, "at the torque limit: a")
    assert judged(result, saturation_warn=0.2) == (OK, "as commanded")
    now = DiagnosticSnapshot(replace(_STATUS, control=replace(_CONTROL, saturated={"a": 100})), {})
    later = DIAGNOSTIC_ROWS["control"](now, now)
    assert judged(later) == (OK, "as commanded")
    assert later.values["steps at the torque limit: a"] == "100"


def test_refused_commands_are_a_warning_once() -> None:
    result = report("control", rejections={"refused on joint_commands": 2})
    assert judged(result) == (WARN, "2 commands rejected, changed or preempted")
    assert result.values["refused on joint_commands"] == "2"
    again = BEFORE._replace(rejections={"refused on joint_commands": 2})
    assert judged(DIAGNOSTIC_ROWS["control"](again, again)) == (OK, "as commanded")


def test_joints_held_since_a_reset_are_a_warning_while_a_source_commands_them() -> None:
    silent = {"arm": {CommandSource.JOINT_COMMANDS: HeldBack(("a", "b"), 0, "")}}
    result = report("control", control={"held": silent})
    assert judged(result) == (OK, "as commanded")
    assert result.values["not moved by joint_commands since the reset"] == "a, b"
    back = HeldBack(("a", "b"), 7, "joint 'a' is elsewhere")
    result = report("control", control={"held": {"arm": {CommandSource.JOINT_COMMANDS: back}}})
    text = "joint_commands is held back since a reset: joint 'a' is elsewhere"
    assert judged(result) == (WARN, text)
    assert judged(result, held_joints_warn=2.0) == (OK, "as commanded")


def _commanded(**holders: dict[CommandSource, tuple[str, ...]]) -> dict[str, Any]:
    rates = {robot: (CommandTally(CommandSource.JOINT_COMMANDS, 200.0, 0.5),) for robot in holders}
    return {"holders": holders, "rates": rates}


def test_command_sources_are_reported_with_their_rates_and_ages() -> None:
    one = _commanded(arm={CommandSource.JOINT_COMMANDS: ("a",)})
    result = report("commands", control=one)
    assert result.values == {"joint_commands rate [Hz]": "200.0", "joint_commands age [s]": "0.500"}
    assert judged(result) == (OK, "received")
    two = _commanded(
        left={CommandSource.JOINT_COMMANDS: ("a",)}, right={CommandSource.UNCLAIMED: ("a",)}
    )
    assert "left: joint_commands rate [Hz]" in report("commands", control=two).values


def test_the_age_limit_of_a_command_applies_only_while_a_joint_follows_it() -> None:
    claimed = report("commands", control=_commanded(arm={CommandSource.JOINT_COMMANDS: ("a",)}))
    free = report("commands", control=_commanded(arm={CommandSource.UNCLAIMED: ("a",)}))
    reason = "no command on joint_commands for 0.500 s"
    assert judged(claimed, command_age_warn=0.2) == (WARN, reason)
    assert judged(claimed, command_age_error=0.4) == (ERROR, reason)
    assert judged(free, command_age_warn=0.2) == (OK, "received")


def test_model_changes_are_counted_and_a_long_block_is_a_warning_once() -> None:
    snapshots = [
        BEFORE,
        BEFORE._replace(holds=HoldTimes(count=1, last=0.002, longest=0.002)),
        BEFORE._replace(holds=HoldTimes(count=3, last=0.2, longest=0.2)),
    ]
    row, (begin, short, long) = DIAGNOSTIC_ROWS["world"], snapshots
    assert judged(row(begin, begin)) == (OK, "unchanged")
    assert judged(row(short, begin)) == (OK, "changed")
    result = row(long, short)
    assert judged(result) == (WARN, "a change held the physics thread for 200.0 ms")
    assert result.values == {
        "changes": "3",
        "last hold of the physics [ms]": "200.000",
        "longest hold of the physics [ms]": "200.000",
    }
    assert judged(row(long, long)) == (OK, "unchanged")
