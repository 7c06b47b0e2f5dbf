"""The example on the page about components runs as a component of the node."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

import rclpy
from rclpy.parameter import Parameter
from simulators import ROOT
from std_msgs.msg import Float64

from mujoco_ros.bridge.component import AddedComponent, Component
from mujoco_ros.bridge.diagnostics.report import WARN
from mujoco_ros.bridge.node import COMPONENTS, MujocoNode
from mujoco_ros.rclpy_ext.executor import Executor

PAGE = (ROOT / "docs" / "explanation" / "components.md").read_text(encoding="utf-8")
_DEADLINE_S = 60.0


@pytest.fixture
def node() -> Iterator[Any]:
    """A simulator with the component of the page, in this process."""
    code, *_ = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
    defined: dict[str, Any] = {"__name__": "example"}
    exec(code, defined)
    given = {"scene": "arm", "cameras": "false", "real_time_factor": "0.0", "power.limit": "7.0"}
    parameters = [part for name, value in given.items() for part in ("-p", f"{name}:={value}")]
    rclpy.init(args=["--ros-args", *parameters])
    node = MujocoNode(added=[defined["PowerMeter"]])
    executor = Executor()
    executor.add_node(node)
    node.spin = lambda: executor.spin_once(timeout_sec=0.05)
    node.start()
    yield node
    node.stop()
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()


def test_the_example_measures_publishes_and_warns(node: Any) -> None:
    meter = next(each for each in node.components if isinstance(each, AddedComponent))
    received: list[float] = []
    # A separate node: the executor of the simulator's node serves nothing of a test.
    listener = rclpy.create_node("listener")
    listener.create_subscription(Float64, "power", lambda m: received.append(m.data), 10)

    def push() -> None:
        node.simulation.data.qvel[0] = 1.0

    assert meter.report().values == {"limit [W]": "7"}
    result = node.set_parameters_atomically([Parameter("power.limit", value=0.0)])
    assert result.successful
    end = time.monotonic() + _DEADLINE_S
    while not any(received) and time.monotonic() < end:
        node.simulation.commands.submit(push).result(_DEADLINE_S)
        node.spin()
        rclpy.spin_once(listener, timeout_sec=0.05)
    listener.destroy_node()
    assert max(received, default=0.0) > 0.0
    report = meter.report()
    assert (report.level, report.values) == (WARN, {"limit [W]": "0"})


def test_every_component_with_parameters_or_a_row_is_listed(node: Any) -> None:
    with_either = {
        type(each)
        for each in node.components
        if each.parameters or type(each).report is not Component.report
    }
    assert {cls for cls in with_either if not issubclass(cls, AddedComponent)} == set(COMPONENTS)


def test_the_page_names_every_method_of_the_protocol() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE.split("## An example")[0]))
    methods = {
        name
        for cls in Component.__mro__[:-1]
        for name, value in vars(cls).items()
        if callable(value) and not name.startswith("_")
    }
    assert methods <= named
