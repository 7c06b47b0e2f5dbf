"""Levels of reports by the configured limits."""

import pytest
from rclpy.parameter import Parameter

from mujoco_ros.bridge.diagnostics.report import (
    ERROR,
    LIMITS,
    NEVER,
    OK,
    WARN,
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
