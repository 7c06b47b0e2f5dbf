"""Rows of the camera process on /diagnostics."""

from collections.abc import Callable, Sequence
from functools import partial

from rclpy.node import Node

from mujoco_ros.bridge.diagnostics.report import (
    ERROR,
    OK,
    PERIOD_S,
    WARN,
    DiagnosticPublisher,
    DiagnosticReport,
    Row,
)
from mujoco_ros.cameras.ros.source import FrameSource
from mujoco_ros.rclpy_ext.executor import create_wall_timer


class CameraDiagnostics:
    """Publishes a row for each frame source and one for the renderer, once a second."""

    def __init__(
        self,
        node: Node,
        sources: Callable[[], Sequence[FrameSource]],
        renderer: Row,
        now: Callable[[], float],
    ) -> None:
        """Start the timer.

        Args:
            node: The node.
            sources: Returns the frame sources.
            renderer: Returns the row of the renderer.
            now: Returns the simulated time [s].
        """
        self._sources, self._renderer, self._now = sources, renderer, now
        self._before = now()
        self._publisher = DiagnosticPublisher(node)
        self._timer = create_wall_timer(node, PERIOD_S, self.publish)

    def publish(self) -> None:
        """Publish the statistics since the last call."""
        now = self._now()
        elapsed, self._before = now - self._before, now
        rows: dict[str, Row] = {it.name: partial(source_row, it, elapsed) for it in self._sources()}
        self._publisher.publish(now, rows | {"drawing": self._renderer})


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
    if source.delivery is not None:
        values["lost in delivery"] = str(source.delivery.lost)
    return DiagnosticReport(text, values, level=level)
