"""Forms, values and alternatives of a real node, as the page receives and sets them."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hand_panel import Hand
from rclpy.node import Node

from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.panel_descriptions import ItemInfo
from mujoco_ros.viewer.ros.declared_panels import DeclaredPanels
from mujoco_ros.viewer.ros.requests import Requests
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters
from mujoco_ros.wire.service_caller import ServiceCaller


class Page:
    """The panels of a page, in the node of the hand."""

    def __init__(self, node: Node, spin_until: Callable[..., bool]) -> None:
        self.hand, self._spin_until = Hand(node), spin_until
        self.name = node.get_fully_qualified_name()
        self._caller, requests, endpoints = ServiceCaller(node), Requests(node), Endpoints(node)
        simulator = SimulatorParameters(self._caller, requests, endpoints, "/mujoco")
        self.panels = DeclaredPanels(self._caller, requests, endpoints, simulator)

    def until(self, condition: Callable[[], object]) -> bool:
        def ticked() -> bool:
            now = time.monotonic()
            self._caller.tick(now)
            self.panels.tick(now)
            self.hand.server.publish(now)
            return bool(condition())

        return self._spin_until(ticked)

    def items(self) -> tuple[ItemInfo, ...]:
        assert self.until(lambda: self.panels.known)
        assert self.until(lambda: self.panels.setting(self.name, "force"))
        (panel,) = self.panels.known.values()
        return panel.groups[0].items

    def send(self, form: ItemInfo, **values: Any) -> tuple[bool | None, str]:
        """Return the result of a form, and its message."""
        request = self.panels.send_form(form.label, self.name, values, form.service)
        assert self.until(lambda: request.ok is not None)
        return request.ok, request.message


@pytest.fixture
def page(ros_node: Node, spin_until: Callable[..., bool]) -> Iterator[Page]:
    shown = Page(ros_node, spin_until)
    yield shown
    shown.hand.server.close()


def test_a_form_sets_parameters_and_calls_the_method_with_them(page: Page) -> None:
    form, _, _ = page.items()
    assert page.send(form, object="ball", force=20.0) == (True, "'Grasp' is pressed")
    assert page.hand.grasped == [("ball", 20.0)]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"object": "ball", "force": 80.0}, "parameter 'force' cannot be 80.0"),
        ({"object": "cup", "force": 20.0}, "there is no 'cup': box, ball"),
    ],
)
def test_a_rejected_form_sets_and_calls_nothing(
    page: Page, values: dict[str, Any], message: str
) -> None:
    form, _, _ = page.items()
    is_set, reason = page.send(form, **values)
    assert is_set is False
    assert message in reason
    assert page.hand.parameters.values == {"object": "box", "force": 1.0, "fingers": 3}
    assert page.hand.grasped == []


def test_values_and_changing_alternatives_are_received_while_they_are_watched(page: Page) -> None:
    form, _, value = page.items()
    choice, _ = form.fields
    page.panels.watch([choice.topic, value.topic])
    assert page.until(lambda: page.panels.rows(value.topic) == [["0.01", "0.02"]])
    assert page.until(lambda: page.panels.rows(choice.topic) == [["box"], ["ball"]])
    page.hand.objects = ["cup"]
    assert page.until(lambda: page.panels.rows(choice.topic) == [["cup"]])
    page.panels.watch([])
    assert page.until(lambda: not page.panels.rows(choice.topic))
