"""Rows of the camera process on /diagnostics."""

import contextlib
from collections.abc import Callable, Sequence

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from mujoco_ros.bridge.diagnostics.report import ERROR, OK, WARN, DiagnosticReport
from mujoco_ros.bridge.publishing.template_publisher import stamp
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.tasks import guarded
from mujoco_ros.cameras.ros.source import FrameSource

_PERIOD_S = 1.0


class CameraDiagnostics:
    """Publishes a row for each frame source and one for the renderer, once a second."""

    def __init__(
        self,
        endpoints: Endpoints,
        sources: Callable[[], Sequence[FrameSource]],
        renderer: Callable[[], DiagnosticReport],
        now: Callable[[], float],
    ) -> None:
        """Start the timer.

        Args:
            endpoints: Opens the publisher.
            sources: Returns the frame sources.
            renderer: Returns the row of the renderer.
            now: Returns the simulated time [s].
        """
        self._node: Node = endpoints.node
        self._sources, self._renderer, self._now = sources, renderer, now
        self._before = now()
        self._publisher = self._node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        # Not the node's clock: under use_sim_time it would stop with the simulation.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self._node.create_timer(_PERIOD_S, guarded(self.publish), clock=steady)

    def publish(self) -> None:
        """Publish the statistics since the last call."""
        now = self._now()
        elapsed, self._before = now - self._before, now
        rows = {source.name: source_row(source, elapsed) for source in self._sources()}
        rows["drawing"] = self._renderer()
        message = DiagnosticArray(status=[self._status(*row) for row in rows.items()])
        message.header.stamp = stamp(now)
        with contextlib.suppress(rclpy_implementation.RCLError):  # an overloaded middleware
            self._publisher.publish(message)

    def _status(self, name: str, row: DiagnosticReport) -> DiagnosticStatus:
        return DiagnosticStatus(
            name=f"{self._node.get_name()}: {name}",
            hardware_id="MuJoCo",
            level=row.level,
            message=row.text,
            values=[KeyValue(key=key, value=value) for key, value in row.values.items()],
        )


def source_row(source: FrameSource, elapsed: float) -> DiagnosticReport:
    """Return the row of a source.

    Args:
        source: The source, whose statistics begin again.
        elapsed: Simulated time since its last row [s].
    """
    frames, mean_s, longest_s = source.statistics.take()
    rate, achieved = source.schedule.rate, frames / elapsed if elapsed > 0 else 0.0
    level, text = OK, f"{achieved:.1f} of {rate:g} Hz"
    if not rate:
        text = "off: its rate is 0"
    elif not source.subscriptions:
        text = "no subscriptions"
    elif source.failure:
        level, text = ERROR, source.failure
    elif source.warning:
        level, text = WARN, source.warning
    values = {
        "asked [Hz]": f"{rate:g}",
        "achieved [Hz]": f"{achieved:.1f}",
        "subscriptions": str(source.subscriptions),
        "frames": str(source.statistics.total),
        **{f"frames: {product}": str(source.counts[product]) for product in source.products},
        "due to published, mean [ms]": f"{1e3 * mean_s:.1f}",
        "due to published, longest [ms]": f"{1e3 * longest_s:.1f}",
        "lost messages": str(sum(publisher.lost for publisher in source.publishers)),
    }
    return DiagnosticReport(text, values, level=level)
