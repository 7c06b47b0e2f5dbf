"""Levels of reports by the configured limits."""

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.parameter import Parameter
from simulators import Listener

from mujoco_ros.bridge.diagnostics.report import (
    ERROR,
    LIMITS,
    NEVER,
    OK,
    WARN,
    DiagnosticPublisher,
    DiagnosticReport,
    Metric,
    limit_parameter,
)
from mujoco_ros.bridge.node import PARAMETERS

_SET = {"diagnostics.lag.warn": 0.1, "diagnostics.lag.error": 1.0}
_OFF = {"diagnostics.lost_messages.warn": NEVER, "diagnostics.lost_messages.error": NEVER}


def _judged(*figures: Metric, level: bytes = OK) -> tuple[bytes, str]:
    return DiagnosticReport("fine", {}, level, figures).judged(_SET | _OFF)


@pytest.mark.parametrize(
    ("lag", "level", "text"),
    [
        (0.1, OK, "fine"),
        (0.2, WARN, "lags"),
        (1.0, WARN, "lags"),
        (1.1, ERROR, "lags"),
        (float("nan"), OK, "fine"),
    ],
)
def test_a_statistic_above_its_limit_sets_the_level_and_the_text(
    lag: float, level: bytes, text: str
) -> None:
    assert _judged(Metric("lag", lag, "lags")) == (level, text)


def test_a_negative_limit_is_never_exceeded() -> None:
    assert _judged(Metric("lost_messages", 1e9, "lost")) == (OK, "fine")


def test_the_worst_statistic_sets_the_level_and_each_exceeded_one_is_reported() -> None:
    figures = Metric("lag", 2.0, "lags much"), Metric("lag", 0.2, "lags")
    assert _judged(*figures) == (ERROR, "lags much; lags")


def test_a_problem_is_reported_before_the_statistics() -> None:
    assert _judged(level=ERROR) == (ERROR, "fine")
    assert _judged(Metric("lag", 0.2, "lags"), level=ERROR) == (ERROR, "fine; lags")


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_every_limit_has_two_parameters_with_its_range(limit) -> None:
    specs = {spec.name: spec for spec in PARAMETERS}
    for level, default in (("warn", limit.warn), ("error", limit.error)):
        spec = specs[limit_parameter(limit.name, level)]
        assert spec.default == default
        assert spec.problem(NEVER) == spec.problem(limit.high) == ""
        assert "it is a number from -1 to" in spec.problem(2 * limit.high)
        assert Parameter(spec.name, value=spec.default).type_ == Parameter.Type.DOUBLE


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
