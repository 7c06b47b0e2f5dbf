"""Status of a controller beside a robot on /diagnostics."""

import contextlib
from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile

from mujoco_ros.bridge.diagnostics.report import DiagnosticReport
from mujoco_ros.bridge.publishing.template_publisher import stamp
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.tasks import guarded

_PERIOD_S = 1.0


class ControllerDiagnostics:
    """Publishes one row every second, and on request."""

    def __init__(
        self,
        endpoints: Endpoints,
        hardware: str,
        report: Callable[[], DiagnosticReport],
        now: Callable[[], float],
    ) -> None:
        """Start the timer; `report` returns the row, and `now` the robot's time [s]."""
        self._name = endpoints.node.get_name()
        self._hardware, self._report, self._now = hardware, report, now
        self._publisher = endpoints.publisher(DiagnosticArray, "/diagnostics", QoSProfile(depth=10))
        # Not the node's clock, which stops with a simulator.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = endpoints.node.create_timer(_PERIOD_S, guarded(self.publish), clock=steady)

    def publish(self) -> None:
        """Publish the row."""
        report = self._report()
        status = DiagnosticStatus(
            name=f"{self._name}: controller",
            hardware_id=self._hardware,
            level=report.level,
            message=report.text,
            values=[KeyValue(key=key, value=value) for key, value in report.values.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = stamp(self._now())
        with contextlib.suppress(rclpy_implementation.RCLError):  # an overloaded middleware
            self._publisher.publish(message)
