"""The message that any process publishes on /diagnostics."""

from diagnostic_msgs.msg import DiagnosticArray
from simulators import Listener

from mujoco_ros.bridge.diagnostics.report import (
    OK,
    WARN,
    DiagnosticPublisher,
    DiagnosticReport,
    Metric,
)


def test_rows_have_the_name_of_the_node_its_hardware_and_levels_from_the_limits(
    listener: Listener,
) -> None:
    recording = listener.record(DiagnosticArray, "/diagnostics", reliable=True)
    limits = {"diagnostics.lag.warn": 0.1, "diagnostics.lag.error": 1.0}
    publisher = DiagnosticPublisher(listener.node, "arm", limits)
    late = DiagnosticReport("fine", {"lag [s]": "0.5"}, metrics=(Metric("lag", 0.5, "lags"),))
    rows = {"controller": lambda: DiagnosticReport("fine", {}), "time": lambda: late}

    def publish() -> bool:
        publisher.publish(1.5, rows)
        return len(recording) > 0

    assert listener.spin_until(publish)
    message, name = recording.latest, listener.node.get_name()
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (1, 500_000_000)
    assert [(row.name, row.hardware_id, row.level, row.message) for row in message.status] == [
        (f"{name}: controller", "arm", OK, "fine"),
        (f"{name}: time", "arm", WARN, "lags"),
    ]
    assert [(it.key, it.value) for it in message.status[1].values] == [("lag [s]", "0.5")]
