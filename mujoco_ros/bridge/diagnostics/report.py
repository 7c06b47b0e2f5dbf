"""A row on /diagnostics, and its comparison with limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticStatus

from mujoco_ros.bridge.diagnostics.limits import limit_parameter

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
_LEVELS = {"error": ERROR, "warn": WARN}


class Metric(NamedTuple):
    """A metric that is compared with its limits.

    Attributes:
        limit: Name of its entry in ``LIMITS``.
        value: Its value; NaN exceeds no limit.
        complaint: The message of the row when it exceeds a limit.
    """

    limit: str
    value: float
    complaint: str


@dataclass(frozen=True, slots=True)
class DiagnosticReport:
    """A row on /diagnostics.

    Attributes:
        text: Its message, unless a metric exceeds a limit.
        values: Its values as shown, by name and unit.
        level: Its level, unless a metric that exceeds a limit raises it.
        metrics: The metrics that are compared with limits.
    """

    text: str
    values: Mapping[str, str]
    level: bytes = OK
    metrics: tuple[Metric, ...] = ()

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
