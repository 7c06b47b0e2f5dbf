"""Rows of /diagnostics, as the viewer reads them."""

from collections.abc import Callable
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from mujoco_ros.viewer.ros.diagnostic_rows import DiagnosticRows


class Topic:
    """Has the method of `Endpoints` that opens a subscription, and keeps its callback."""

    receive: Callable[[DiagnosticArray], None]

    def subscription(self, _kind: type, _topic: str, receive: Any, _qos: Any) -> None:
        self.receive = receive


def row(name: str, **values: str) -> DiagnosticStatus:
    pairs = [KeyValue(key=key, value=value) for key, value in values.items()]
    return DiagnosticStatus(name=name, values=pairs)


def test_times_and_temperatures_are_those_of_the_simulator_alone():
    topic = Topic()
    rows = DiagnosticRows(topic, "/cell/mujoco")
    heat = {"hottest motor [°C]": "61.0", "temperature of a [°C]": "61.0"}
    own = [
        row("mujoco: profile", **{"step [us]": "80.50"}),
        row("mujoco: realism of arm", **heat, **{"temperature of b [°C]": "25.5"}),
        row("mujoco: engine", contacts="3"),
    ]
    topic.receive(DiagnosticArray(status=own))
    topic.receive(DiagnosticArray(status=[row("other: profile", **{"step [us]": "1.00"})]))
    topic.receive(DiagnosticArray(status=[row("mujoco: record", topics="3")]))
    assert rows.profile == pytest.approx({"step": 80.5e-6})
    assert rows.temperatures == {("arm", "a"): 61.0, ("arm", "b"): 25.5}
