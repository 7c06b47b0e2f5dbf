"""What one row of /diagnostics says, and how its figures are judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticStatus

from mujoco_ros.bridge.diagnostics.limits import limit_parameter

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
_LEVELS = {"error": ERROR, "warn": WARN}


class Metric(NamedTuple):
    """A figure that is compared with its limits.

    Attributes:
        limit: Name of the row in ``LIMITS``.
        value: The figure; a NaN exceeds nothing.
        complaint: What to say when it is above one of them.
    """

    limit: str
    value: float
    complaint: str


@dataclass(frozen=True, slots=True)
class DiagnosticReport:
    """What one row says.

    Attributes:
        text: How things are, unless a figure is above its limits.
        values: The figures as they are shown, by their names and units.
        level: The level, unless a figure makes it worse.
        figures: What is compared with limits.
    """

    text: str
    values: Mapping[str, str]
    level: bytes = OK
    figures: tuple[Metric, ...] = ()

    def judged(self, parameters: Mapping[str, Any]) -> tuple[bytes, str]:
        """Return the level and the text by the limits that are set."""
        level, complaints = self.level, [self.text] if self.level > OK else []
        for figure in self.figures:
            for name, exceeded in _LEVELS.items():
                if 0 <= parameters[limit_parameter(figure.limit, name)] < figure.value:
                    level = max(level, exceeded)
                    complaints.append(figure.complaint)
                    break
        return level, "; ".join(complaints) or self.text
