from dataclasses import replace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from benchmark.durations import QUICK
from benchmark.measurements import commands
from benchmark.processes.numbered_commands import SOURCES
from mujoco_ros.control.events import CommandSource

_WITHOUT_CLIENT = {CommandSource.UNCLAIMED, CommandSource.CONTROLLER}
"""Commands that no client sends."""


def test_every_source_of_commands_is_measured():
    sources = {source.topic.partition("/")[0] for source in SOURCES.values()}
    assert set(CommandSource) - _WITHOUT_CLIENT <= sources


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "name", ["target_pose", "target_wrench", "gripper_cmd", "actuator_commands"]
)
def test_the_steps_that_use_the_commands_of_a_source_are_found(monkeypatch, name):
    monkeypatch.setattr(commands, "SOURCES", {name: SOURCES[name]})
    rows = commands.latency(replace(QUICK, latency=1.0))
    shown = {row.quantity: row for row in rows}
    rate = f"{SOURCES[name].rate_hz:g} Hz"
    assert shown[f"{name} at {rate}: commands used, or replaced by a later one"].value > 0.0
    assert shown[f"{name} at {rate}: command to step, p50"].value > 0.0
