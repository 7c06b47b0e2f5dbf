"""A row on /diagnostics, its comparison with limits, and the publisher of rows."""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from mujoco_ros.wire.conversions import stamp
from mujoco_ros.wire.parameter_spec import ParameterSpec

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
_LEVELS = {"error": ERROR, "warn": WARN}


class Metric(NamedTuple):
    """A metric that is compared with its limits."""

    limit: str  # name of its entry in ``LIMITS``
    value: float  # its value; NaN exceeds no limit
    complaint: str  # the message of the row when it exceeds a limit


@dataclass(frozen=True, slots=True)
class DiagnosticReport:
    """A row on /diagnostics."""

    text: str  # its message, unless a metric exceeds a limit
    values: Mapping[str, str]  # its values as shown, by name and unit
    level: bytes = OK  # its level, unless a metric that exceeds a limit raises it
    metrics: tuple[Metric, ...] = ()  # the metrics that are compared with limits

    def judged(self, parameters: Mapping[str, Any]) -> tuple[bytes, str]:
        """Return the level and the message, given the limits that are set as parameters."""
        level, complaints = self.level, [self.text] if self.level > OK else []
        for metric in self.metrics:
            for name, exceeded in _LEVELS.items():
                if 0 <= parameters[limit_parameter(metric.limit, name)] < metric.value:
                    level = max(level, exceeded)
                    complaints.append(metric.complaint)
                    break
        return level, "; ".join(complaints) or self.text


NEVER = -1.0


class MetricLimit(NamedTuple):
    """A metric with limits: above `warn` its row is a warning, above `error` an error.

    The parameters ``diagnostics.<name>.warn`` and ``.error`` range from -1 (never) to `high`.
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
    MetricLimit(
        "engine_warnings",
        "warnings of the engine since the last reset, and of plugins since the last report",
        0.0,
        NEVER,
        1e9,
    ),
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


PERIOD_S = 1.0
"""Wall time between two messages."""

Row = Callable[[], DiagnosticReport]
"""Returns the report of one row."""


class DiagnosticPublisher:
    """Publishes the rows of a node on /diagnostics."""

    def __init__(
        self, node: Node, hardware: str = "MuJoCo", limits: Mapping[str, Any] | None = None
    ) -> None:
        """Open the publisher; `limits` are the values of the parameters that limit metrics."""
        self._name, self._hardware, self._limits = node.get_name(), hardware, limits or {}
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)

    def publish(self, time: float, rows: Mapping[str, Row | DiagnosticReport]) -> None:
        """Publish rows by name, at the simulated `time` [s]; a row that raises is an error."""
        message = DiagnosticArray(status=[self._status(*row) for row in rows.items()])
        message.header.stamp = stamp(time)
        with contextlib.suppress(rclpy_implementation.RCLError):  # an overloaded middleware
            self._publisher.publish(message)

    def _status(self, name: str, row: Row | DiagnosticReport) -> DiagnosticStatus:
        try:
            report = row if isinstance(row, DiagnosticReport) else row()
        except Exception as error:  # an exception here would end the process
            report = DiagnosticReport(f"no report: {error!r}", {}, level=ERROR)
        level, text = report.judged(self._limits)
        return DiagnosticStatus(
            name=f"{self._name}: {name}",
            hardware_id=self._hardware,
            level=level,
            message=text,
            values=[KeyValue(key=key, value=value) for key, value in report.values.items()],
        )
