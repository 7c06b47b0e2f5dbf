"""The example on the page about components runs as an extension of the node."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

import rclpy
from rclpy.parameter import Parameter
from simulators import ROOT

from mujoco_ros.bridge.component import Component, Extension
from mujoco_ros.bridge.node import MujocoNode
from mujoco_ros.bridge.rclpy_ext.executor import Executor

PAGE = (ROOT / "docs" / "explanation" / "components.md").read_text(encoding="utf-8")
_DEADLINE_S = 60.0


@pytest.fixture
def node() -> Iterator[Any]:
    """A simulator with the extension of the page, in this process."""
    code, *_ = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
    defined: dict[str, Any] = {"__name__": "example"}
    exec(code, defined)
    given = {"scene": "arm", "cameras": "false", "real_time_factor": "0.0", "gusts.speed": "7.0"}
    parameters = [part for name, value in given.items() for part in ("-p", f"{name}:={value}")]
    rclpy.init(args=["--ros-args", *parameters])
    node = MujocoNode(extensions=[defined["Gusts"]])
    executor = Executor()
    executor.add_node(node)
    node.spin = lambda: executor.spin_once(timeout_sec=0.05)
    node.start()
    yield node
    node.stop()
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()


def test_the_example_applies_the_wind_of_its_parameter(node: Any) -> None:
    def wind_at_its_peak() -> float:
        commands = node.simulation.commands
        winds = [
            commands.submit(lambda: float(node.simulation.model.opt.wind[0])).result(_DEADLINE_S)
            for _ in range(20)
        ]
        return max(abs(wind) for wind in winds)

    gusts = node.components[-1]
    assert isinstance(gusts, Extension)
    peak = 0.0
    for _ in range(200):
        node.spin()
        peak = max(peak, wind_at_its_peak())
    assert 0.0 < peak <= 7.0
    result = node.set_parameters_atomically([Parameter("gusts.speed", value=0.0)])
    assert result.successful
    node.simulation.commands.submit(lambda: None).result(_DEADLINE_S)
    assert wind_at_its_peak() == 0.0
    assert ("gusts", gusts.report) in node.rows
    assert gusts.report().values == {"peak speed [m/s]": "0"}


def test_the_page_names_every_method_of_the_protocol() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE.split("## An example")[0]))
    methods = {
        name
        for cls in Component.__mro__[:-1]
        for name, value in vars(cls).items()
        if callable(value) and not name.startswith("_")
    }
    assert methods <= named
