"""The publisher of a process on /diagnostics."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from mujoco_ros.bridge.diagnostics.report import ERROR, DiagnosticReport
from mujoco_ros.wire.stamps import stamp

PERIOD_S = 1.0
"""Wall time between two messages."""

Row = Callable[[], DiagnosticReport]
"""Returns the report of one row."""


class DiagnosticPublisher:
    """Publishes the rows of a node on /diagnostics."""

    def __init__(
        self, node: Node, hardware: str = "MuJoCo", limits: Mapping[str, Any] | None = None
    ) -> None:
        """Open the publisher.

        Args:
            node: The node, whose name prefixes those of its rows.
            hardware: The hardware ID of all rows.
            limits: Current values of the parameters that limit metrics; without it, no report may
                have metrics.
        """
        self._name, self._hardware, self._limits = node.get_name(), hardware, limits or {}
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)

    def publish(self, time: float, rows: Mapping[str, Row]) -> None:
        """Publish rows by name, at the simulated `time` [s]; a row that raises is an error."""
        message = DiagnosticArray(status=[self._status(*row) for row in rows.items()])
        message.header.stamp = stamp(time)
        with contextlib.suppress(rclpy_implementation.RCLError):  # an overloaded middleware
            self._publisher.publish(message)

    def _status(self, name: str, row: Row) -> DiagnosticStatus:
        try:
            report = row()
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
