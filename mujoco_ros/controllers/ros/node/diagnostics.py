"""How a controller beside a robot fares, on /diagnostics."""

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
    """Publishes one row once a second, and whenever it is told to."""

    def __init__(
        self,
        endpoints: Endpoints,
        hardware: str,
        report: Callable[[], DiagnosticReport],
        now: Callable[[], float],
    ) -> None:
        """Start.

        Args:
            endpoints: Opens the topic.
            hardware: What the row is of.
            report: Says how things are.
            now: Returns the robot's time [s].
        """
        self._name = endpoints.node.get_name()
        self._hardware, self._report, self._now = hardware, report, now
        self._publisher = endpoints.publisher(DiagnosticArray, "/diagnostics", QoSProfile(depth=10))
        # Not the node's clock: a simulator that stands is worth telling of.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = endpoints.node.create_timer(_PERIOD_S, guarded(self.tell), clock=steady)

    def tell(self) -> None:
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
