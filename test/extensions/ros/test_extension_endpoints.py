"""Topics and services of an extension, in the thread of the test."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from belt_scene import write_belt_scene
from contexts import make_context
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.extensions.ros.extension_endpoints import ExtensionEndpoints
from mujoco_ros.extensions.ros.extension_host import ExtensionParameters
from mujoco_ros.extensions.ros.library.contacts import ConveyorBelt
from mujoco_ros.extensions.runner import ExtensionRunner
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.panel_items import Button
from mujoco_ros.model.scene.config import read_scene
from mujoco_ros.sim.simulation import Simulation

BELT = """
extensions:
  - {use: conveyor_belt, name: belt, robot: line, settings: {speed: 0.5}}
"""


class Belt:
    """A conveyor belt that is stepped, and its endpoints."""

    def __init__(self, scene: Path, node: Node) -> None:
        self.simulation = Simulation(read_scene(scene))
        self.set = ExtensionSet(self.simulation)
        self.node, self.context = node, make_context(node, self.simulation)

    @property
    def runner(self) -> ExtensionRunner:
        return self.set.runners[0]

    def open(self) -> ExtensionEndpoints:
        settings = ExtensionParameters(self.runner).settings
        return ExtensionEndpoints(self.context, self.runner, ConveyorBelt, settings)

    def names(self) -> set[str]:
        """Return the names of the open topics and services of the belt."""
        opened = {it.topic for it in self.node.publishers}
        opened |= {it.service_name for it in self.node.services}
        return {name for name in opened if "/belt/" in name}

    def step(self, endpoints: ExtensionEndpoints) -> None:
        self.set.before_step()
        assert self.simulation.step()
        endpoints.publish()
        self.set.after_step()


@pytest.fixture
def belt(tmp_path: Path, ros_node: Node) -> Iterator[Belt]:
    opened = Belt(write_belt_scene(tmp_path, BELT), ros_node)
    yield opened
    opened.set.close()


def test_a_rejected_panel_leaves_nothing_open(belt: Belt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ConveyorBelt, "panel", (Button("x", "nope"),))
    with pytest.raises(UserInputError, match="names the method 'nope', which ConveyorBelt does"):
        belt.open()
    assert not belt.names()


def test_endpoints_open_before_the_extension_has_an_instance(belt: Belt) -> None:
    del belt.runner.extension
    endpoints = belt.open()
    assert "/belt/panel/start" in belt.names()
    endpoints.close()
    assert not belt.names()


def test_an_error_while_opening_closes_what_is_open(
    belt: Belt, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no topic")

    monkeypatch.setattr("mujoco_ros.bridge.publishing.topic_publisher.PublisherPool.open", fail)
    with pytest.raises(RuntimeError, match="no topic"):
        belt.open()
    assert not belt.names()


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(3)])
def test_an_error_in_a_plot_ends_the_plot_and_not_the_extension(
    belt: Belt,
    spin_until: Callable[[Callable[[], Any]], bool],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: BaseException,
) -> None:
    def travelled(extension: Any) -> None:
        extension.data.qfrc_applied[0] = 7.0  # must not remain
        raise error

    monkeypatch.setattr(ConveyorBelt, "travelled", travelled)
    endpoints = belt.open()
    belt.node.create_subscription(Float64MultiArray, "/belt/panel/travelled", print, 10)

    def stepped() -> bool:
        belt.step(endpoints)
        return "'Distance' of the panel cannot be computed" in caplog.text

    assert spin_until(stepped)
    belt.step(endpoints)
    assert caplog.text.count("cannot be computed") == 1
    assert belt.runner.is_enabled
    assert belt.simulation.data.qfrc_applied[0] == 0.0
    endpoints.close()


def test_a_plot_has_at_most_100_messages_per_second(
    belt: Belt,
    spin_until: Callable[[Callable[[], Any]], bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times: list[float] = []

    def travelled(extension: Any) -> list[float]:
        times.append(float(extension.data.time))
        return [0.0]

    monkeypatch.setattr(ConveyorBelt, "travelled", travelled)
    endpoints = belt.open()
    belt.node.create_subscription(Float64MultiArray, "/belt/panel/travelled", print, 10)

    def stepped() -> bool:
        belt.step(endpoints)
        return len(times) >= 5

    assert spin_until(stepped)
    assert belt.simulation.model.opt.timestep < 0.009
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) > 0.0099
    endpoints.close()
