"""From which figures on a row of /diagnostics is a warning, or an error."""

from typing import NamedTuple

NEVER = -1.0


class MetricLimit(NamedTuple):
    """A figure that is judged: above `warn` its row is a warning, above `error` an error.

    Each gives the parameters ``diagnostics.<name>.warn`` and ``diagnostics.<name>.error``, which
    are from -1 to `high`; what is negative is never exceeded.
    """

    name: str
    description: str
    warn: float
    error: float
    high: float


LIMITS = (
    MetricLimit("dropped_time", "share of the wall time that was given up", 0.0, 0.5, 1.0),
    MetricLimit("lag", "lag behind the wall clock [s]", NEVER, NEVER, 10.0),
    MetricLimit(
        "late_steps", "share of the steps that began late by a period or more", 0.5, NEVER, 1.0
    ),
    MetricLimit(
        "step_cost", "part of the step's period that 99 % of the steps need", 1.0, NEVER, 1e6
    ),
    MetricLimit("engine_warnings", "warnings of the engine since the last reset", 0.0, NEVER, 1e9),
    MetricLimit("iterations", "part of the iterations the solver may make", 0.99, NEVER, 1.0),
    MetricLimit(
        "saturation", "share of the steps in which a joint was at its limit", 0.0, NEVER, 1.0
    ),
    MetricLimit("refusals", "commands not carried out as they were meant", 0.0, NEVER, 1e9),
    MetricLimit("command_age", "age of the command that a joint follows [s]", NEVER, NEVER, 1e6),
    MetricLimit("lost_messages", "messages the middleware did not take", 0.0, NEVER, 1e9),
    MetricLimit(
        "world_hold", "time a change of the world held the physics up [s]", 0.15, NEVER, 60.0
    ),
)


def limit_parameter(limit: str, level: str) -> str:
    """Return the name of the parameter that sets a limit; `level` is ``warn`` or ``error``."""
    return f"diagnostics.{limit}.{level}"
