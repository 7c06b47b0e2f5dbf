"""Panels that nodes on the graph declare."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hand_panel import Hand
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import ListParameters, SetParametersAtomically
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.panel_descriptions import ItemInfo
from mujoco_ros.viewer.ros.declared_panels import DeclaredPanels
from mujoco_ros.viewer.ros.requests import Requests
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters
from mujoco_ros.wire.qos import LATCHED
from mujoco_ros.wire.service_caller import ServiceCaller

TOPIC = "/hand/panel"
DESCRIPTION = {
    "title": "hand",
    "node": "/hand",
    "groups": [{"name": "", "items": [{"kind": "number", "label": "F", "parameter": "force"}]}],
}


@pytest.fixture
def panels(ros_node, caller) -> DeclaredPanels:
    requests, endpoints = Requests(ros_node), Endpoints(ros_node)
    simulator = SimulatorParameters(caller, requests, endpoints, "/mujoco")
    return DeclaredPanels(caller, requests, endpoints, simulator)


@pytest.fixture
def until(panels, spin_until):
    def waited(condition) -> bool:
        def ticked() -> bool:
            panels.tick(time.monotonic())
            return bool(condition())

        return bool(spin_until(ticked))

    return waited


def open_calls(caller, prefix: str) -> list[str]:
    return [name for name in caller.names() if name.startswith(prefix)]


def test_a_panel_is_found_with_its_parameters_until_its_node_ends(panels, until, ros_node, caller):
    publisher = ros_node.create_publisher(String, TOPIC, LATCHED)
    publisher.publish(String(data=json.dumps(DESCRIPTION)))
    assert until(lambda: TOPIC in panels.known)
    assert panels.known[TOPIC].title == "hand"
    assert panels.setting("/hand", "force") is None
    assert "/hand/list_parameters" in caller.names()
    caller.answer("/hand/list_parameters", ListParameters.Response())
    request = panels.set("/hand", "force", 2.0)
    assert until(lambda: "/hand/set_parameters_atomically" in caller.names())
    assert request.command == "ros2 param set /hand force 2.0"
    ros_node.destroy_publisher(publisher)
    assert until(lambda: not panels.known)
    assert not open_calls(caller, "/hand/"), "its clients are closed"
    assert panels.setting("/hand", "force") is None
    request = panels.set("/hand", "force", 2.0)
    assert until(lambda: request.ok is False)
    assert request.message == "/hand is gone"


def test_the_parameters_of_a_panel_without_settings_are_not_requested(
    panels, until, ros_node, caller
):
    items = [{"kind": "button", "label": "Record", "service": "/record/start_episode"}]
    content = {"title": "Dataset", "node": "/record", "groups": [{"name": "", "items": items}]}
    publisher = ros_node.create_publisher(String, "/record/panel", LATCHED)
    publisher.publish(String(data=json.dumps(content)))
    assert until(lambda: panels.known)
    assert not open_calls(caller, "/record/"), "the node may have none"


def test_the_clients_of_a_node_that_is_renamed_are_closed(panels, until, ros_node, caller):
    publisher = ros_node.create_publisher(String, TOPIC, LATCHED)
    publisher.publish(String(data=json.dumps(DESCRIPTION)))
    assert until(lambda: TOPIC in panels.known)
    publisher.publish(String(data=json.dumps(DESCRIPTION | {"node": "/gripper"})))
    assert until(lambda: "/gripper/list_parameters" in caller.names())
    assert until(lambda: not open_calls(caller, "/hand/"))
    assert "/gripper/list_parameters" in caller.names()


def test_the_parameters_of_the_simulator_are_shared_and_stay(panels, until, ros_node, caller):
    publisher = ros_node.create_publisher(String, TOPIC, LATCHED)
    publisher.publish(String(data=json.dumps(DESCRIPTION | {"node": "/mujoco"})))
    assert until(lambda: TOPIC in panels.known)
    ros_node.destroy_publisher(publisher)
    assert until(lambda: not panels.known)
    assert open_calls(caller, "/mujoco/") == ["/mujoco/list_parameters"]


def test_what_is_no_panel_is_logged_once(panels, until, ros_node, caplog):
    publisher = ros_node.create_publisher(String, TOPIC, LATCHED)
    publisher.publish(String(data="{}"))
    assert until(lambda: "'/hand/panel' is no panel" in caplog.text)
    publisher.publish(String(data="x" * (1 << 19)))
    assert until(lambda: "characters" in caplog.text)
    assert not panels.known


def test_a_panel_with_an_invalid_topic_leaves_other_tables(panels, until, ros_node, caplog):
    table = {"kind": "table", "label": "T", "topic": "no topic", "columns": ["c"]}
    wrong = DESCRIPTION | {"groups": [{"name": "", "items": [table]}]}
    other = ros_node.create_publisher(String, "/arm/panel", LATCHED)
    other.publish(String(data=json.dumps(wrong)))
    publisher = ros_node.create_publisher(String, TOPIC, LATCHED)
    publisher.publish(String(data=json.dumps(DESCRIPTION)))
    assert until(lambda: "'/arm/panel' is no panel" in caplog.text and TOPIC in panels.known)
    assert list(panels.known) == [TOPIC]


def test_a_button_calls_its_service(panels, until, caller):
    request = panels.press("Open", "/hand/panel/open")
    assert until(lambda: "/hand/panel/open" in caller.names())
    assert request.command == "ros2 service call /hand/panel/open std_srvs/srv/Trigger"
    caller.answer("/hand/panel/open", Trigger.Response(success=False, message="it is stuck"))
    assert request.ok is False
    assert request.message == "it is stuck"
    panels.press("Open", "/hand/panel/open")
    assert until(lambda: "/hand/panel/open" not in caller.names()), "no panel has it"


@pytest.fixture
def declared(panels, until, ros_node):
    """The panels, one of which is that of `/hand`."""
    publisher = ros_node.create_publisher(String, TOPIC, LATCHED)
    publisher.publish(String(data=json.dumps(DESCRIPTION)))
    assert until(lambda: TOPIC in panels.known)
    return panels


SET, GO = "/hand/set_parameters_atomically", "/hand/panel/go"
VALUES = {"force": 2.0, "grasps": True}


def result(successful: bool, reason: str = "") -> SetParametersAtomically.Response:
    parts = SetParametersResult(successful=successful, reason=reason)
    return SetParametersAtomically.Response(result=parts)


def test_a_form_sets_its_parameters_atomically_and_then_calls_its_service(declared, until, caller):
    request = declared.send_form("Grasp: Go", "/hand", VALUES, GO)
    assert until(lambda: SET in caller.names())
    (message,) = [it[1] for it in caller.open if it[0] == SET]
    assert [it.name for it in message.parameters] == ["force", "grasps"]
    assert request.command == (
        f"ros2 service call {SET} rcl_interfaces/srv/SetParametersAtomically "
        "'{parameters: [{name: force, value: {type: 3, double_value: 2.0}}, "
        "{name: grasps, value: {type: 1, bool_value: true}}]}' "
        f"&& ros2 service call {GO} std_srvs/srv/Trigger"
    )
    assert GO not in caller.names()
    caller.answer(SET, result(successful=True))
    assert request.ok is None
    caller.answer(GO, Trigger.Response(success=True, message="'Go' is pressed"))
    assert request.summary == "Grasp: Go: 'Go' is pressed"
    assert request.ok


def test_a_form_whose_parameters_are_rejected_does_not_call_its_service(declared, until, caller):
    request = declared.send_form("Grasp: Go", "/hand", VALUES, GO)
    assert until(lambda: SET in caller.names())
    caller.answer(SET, result(successful=False, reason="force is too large"))
    assert (request.ok, request.message) == (False, "force is too large")
    request = declared.send_form("Grasp: Go", "/hand", {"force": 2.0}, GO)
    assert until(lambda: SET in caller.names())
    assert request.command.startswith("ros2 param set /hand force 2.0 && ros2 service call")
    caller.give_up(SET)
    assert (request.ok, request.message) == (False, "it does not answer")
    assert GO not in caller.names()


def test_a_form_without_a_service_sets_its_parameters(declared, until, caller):
    request = declared.send_form("Grasp: Set", "/hand", VALUES, "")
    assert until(lambda: SET in caller.names())
    assert "&&" not in request.command
    caller.answer(SET, result(successful=True))
    assert request.ok


def test_the_form_of_a_node_that_has_ended_fails(panels, until):
    request = panels.send_form("Grasp: Go", "/hand", VALUES, GO)
    assert until(lambda: request.ok is False)
    assert request.message == "/hand is gone"


def test_a_pressed_button_keeps_its_client_while_any_panel_has_it(panels, until, ros_node, caller):
    """The end of `/hand/open` does not concern `/hand/open_wide`."""

    def declare(name: str, *services: str):
        items = [{"kind": "button", "label": it, "service": it} for it in services]
        publisher = ros_node.create_publisher(String, f"/{name}/panel", LATCHED)
        groups = [{"name": "", "items": items}]
        publisher.publish(String(data=json.dumps(DESCRIPTION | {"groups": groups})))
        return publisher

    leaving = declare("hand", "/hand/open", "/hand/shared")
    staying = declare("arm", "/hand/open_wide", "/hand/shared")
    assert until(lambda: len(panels.known) == 2)
    pressed = ["/hand/open", "/hand/open_wide", "/hand/shared"]
    for service in pressed:
        panels.press("Open", service)
    assert until(lambda: set(pressed) <= set(caller.names()))
    ros_node.destroy_publisher(leaving)
    assert until(lambda: "/hand/open" not in caller.names())
    assert set(pressed[1:]) <= set(caller.names())
    ros_node.destroy_publisher(staying)
    assert until(lambda: not set(pressed) & set(caller.names()))


def test_a_watched_table_is_received(panels, until, ros_node):
    publisher = ros_node.create_publisher(String, "/hand/panel/feet", 10)
    panels.watch(["/hand/panel/feet"])
    assert until(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(String(data="no table"))
    publisher.publish(String(data='[["left", "3"]]'))
    assert until(lambda: panels.rows("/hand/panel/feet"))
    assert panels.rows("/hand/panel/feet") == [["left", "3"]]
    panels.watch([])
    assert until(lambda: publisher.get_subscription_count() == 0)
    assert panels.rows("/hand/panel/feet") == ()


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
