"""Limits of metrics on /diagnostics: the values above which a row is a warning or an error."""

from typing import NamedTuple

from mujoco_ros.wire.parameter_spec import ParameterSpec

NEVER = -1.0


class MetricLimit(NamedTuple):
    """A metric with limits: above `warn` its row is a warning, above `error` an error.

    Each gives the parameters ``diagnostics.<name>.warn`` and ``diagnostics.<name>.error``, in the
    range from -1 to `high`; a negative limit is never exceeded.
    """

    name: str
    description: str
    warn: float
    error: float
    high: float


LIMITS = (
    MetricLimit("dropped_time", "share of the wall time that was dropped", 0.0, 0.5, 1.0),
    MetricLimit("lag", "lag behind the wall clock [s]", NEVER, NEVER, 10.0),
    MetricLimit(
        "late_steps", "share of the steps that began late by a period or more", 0.5, NEVER, 1.0
    ),
    MetricLimit(
        "step_cost", "part of the step period that 99 % of the steps need", 1.0, NEVER, 1e6
    ),
    MetricLimit("engine_warnings", "warnings of the engine since the last reset", 0.0, NEVER, 1e9),
    MetricLimit("iterations", "part of the iterations the solver may make", 0.99, NEVER, 1.0),
    MetricLimit(
        "saturation", "share of the steps in which a joint was at its limit", 0.0, NEVER, 1.0
    ),
    MetricLimit("refusals", "commands rejected, changed or preempted", 0.0, NEVER, 1e9),
    MetricLimit(
        "held_joints", "joints held since a reset, which a source wants to move", 0.0, NEVER, 1e9
    ),
    MetricLimit("command_age", "age of the command that a joint follows [s]", NEVER, NEVER, 1e6),
    MetricLimit("lost_messages", "messages that the middleware rejected", 0.0, NEVER, 1e9),
    MetricLimit(
        "world_hold",
        "time for which a change of the model held the physics thread [s]",
        0.15,
        NEVER,
        60.0,
    ),
)


def limit_parameters() -> tuple[ParameterSpec, ...]:
    """Return the parameters of all limits."""
    return tuple(
        ParameterSpec(
            limit_parameter(limit.name, level),
            threshold,
            f"/diagnostics: {level} above this value of: {limit.description}; negative is never",
            low=NEVER,
            high=limit.high,
        )
        for limit in LIMITS
        for level, threshold in (("warn", limit.warn), ("error", limit.error))
    )


def limit_parameter(limit: str, level: str) -> str:
    """Return the name of the parameter that sets a limit; `level` is ``warn`` or ``error``."""
    return f"diagnostics.{limit}.{level}"
