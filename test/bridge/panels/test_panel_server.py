"""A declared panel, served to clients."""

import json
from concurrent.futures import Future
from typing import Any

import pytest
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

from mujoco_ros.bridge.panels.panel_server import PanelGroup, PanelServer
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.publishing.topics import LATCHED
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.panel_items import Button, DisplayedPlot, DisplayedTable, SettingField

ITEMS = (
    Button("Open the hand", "open"),
    SettingField("Speed", "speed"),
    SettingField("Gait", "gait"),
    SettingField("Goal", "goal"),
    DisplayedTable("Feet", "feet", ("foot", "load [N]")),
    DisplayedPlot("Error", "error", ("x", "y"), "m"),
)
SETTINGS = {
    "speed": ParameterSpec("WALK.speed", 0.5, "Speed [m/s]", low=0.0, high=1.0),
    "gait": ParameterSpec("WALK.gait", "walk", "Gait", choices=("walk", "trot")),
    "goal": ParameterSpec("WALK.goal", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), "Goal"),
}


class Owner:
    """Has the methods of the items."""

    is_active = True
    is_broken = False

    def __init__(self) -> None:
        self.pressed: list[str] = []

    def open(self) -> None:
        self.pressed.append("open")

    def feet(self) -> Any:
        return [("left", 1.0)] if self.is_broken is False else [("left",)]

    def error(self) -> Any:
        return (0.25, -0.5)

    def press(self, method: str) -> "Future[None]":
        done: Future[None] = Future()
        if self.is_active:
            getattr(self, method)()
            done.set_result(None)
        else:
            done.set_exception(UserInputError("state 'WALK' is not active"))
        return done


def group(owner: Owner, items: Any = ITEMS) -> PanelGroup:
    return PanelGroup(
        name="WALK",
        items=items,
        owner=owner,
        path=("WALK",),
        settings=SETTINGS,
        press=owner.press,
        evaluate=lambda method: getattr(owner, method)(),
        is_active=lambda: owner.is_active,
    )


@pytest.fixture
def owner() -> Owner:
    return Owner()


@pytest.fixture
def server(ros_node, owner):
    served = PanelServer(Endpoints(ros_node), "~", "walk", [group(owner)])
    yield served
    served.close()


def test_a_client_receives_the_description(server, ros_node, spin_until):
    received: list[String] = []
    name = ros_node.get_fully_qualified_name()
    ros_node.create_subscription(String, f"{name}/panel", received.append, LATCHED)
    assert spin_until(lambda: received)
    described = json.loads(received[0].data)
    assert (described["title"], described["node"]) == ("walk", name)
    (one,) = described["groups"]
    assert one["name"] == "WALK"
    kinds = [item["kind"] for item in one["items"]]
    assert kinds == ["button", "number", "choice", "pose", "table", "plot"]
    button, speed, gait, _, table, _ = one["items"]
    assert button["service"] == f"{name}/panel/WALK/open"
    assert speed == {
        "label": "Speed",
        "kind": "number",
        "parameter": "WALK.speed",
        "tip": "Speed [m/s]",
        "columns": [],
    }
    assert gait["columns"] == ["walk", "trot"]
    assert table["topic"] == f"{name}/panel/WALK/feet"


def test_a_button_calls_its_method_while_its_state_is_active(server, owner, ros_node, spin_until):
    name = f"{ros_node.get_fully_qualified_name()}/panel/WALK/open"
    client = ros_node.create_client(Trigger, name)
    assert spin_until(client.service_is_ready)

    def pressed() -> Trigger.Response:
        answer = client.call_async(Trigger.Request())
        assert spin_until(answer.done)
        return answer.result()

    assert pressed().success
    owner.is_active = False
    assert pressed().message == "state 'WALK' is not active"
    assert owner.pressed == ["open"]
    ros_node.destroy_client(client)


def receive(server, ros_node, spin_until, kind, method) -> tuple[list[Any], Any]:
    """Return the messages of an item, and a function that publishes until a condition holds."""
    received: list[Any] = []
    name = f"{ros_node.get_fully_qualified_name()}/panel/WALK/{method}"
    ros_node.create_subscription(kind, name, received.append, 10)
    time = [0.0]

    def until(condition: Any) -> bool:
        def ticked() -> bool:
            time[0] += 0.1
            server.publish(time[0])
            return bool(condition())

        return bool(spin_until(ticked))

    return received, until


def test_tables_and_plots_are_published_while_they_are_subscribed(
    server, owner, ros_node, spin_until
):
    rows, until = receive(server, ros_node, spin_until, String, "feet")
    numbers, _ = receive(server, ros_node, spin_until, Float64MultiArray, "error")
    assert until(lambda: rows and numbers)
    assert json.loads(rows[0].data) == [["left", "1"]]
    assert numbers[0].data.tolist() == [0.25, -0.5]


def test_a_display_that_fails_ends_alone(server, owner, ros_node, spin_until, caplog):
    owner.is_broken = True
    rows, until = receive(server, ros_node, spin_until, String, "feet")
    numbers, _ = receive(server, ros_node, spin_until, Float64MultiArray, "error")
    assert until(lambda: "'Feet' of the panel cannot be computed" in caplog.text and numbers)
    owner.is_broken, count = False, len(numbers)
    assert until(lambda: len(numbers) > count + 5)
    assert not rows


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (SettingField("Speed", "sped"), "the panel of WALK: setting 'sped' not found .*'speed'"),
        (Button("Open", "opn"), "the panel of WALK names the method 'opn', which Owner does not"),
    ],
)
def test_an_item_without_its_method_or_setting_is_rejected(ros_node, owner, item, message):
    with pytest.raises(UserInputError, match=message):
        PanelServer(Endpoints(ros_node), "~", "walk", [group(owner, (item,))])


def test_without_items_there_are_no_topics(ros_node):
    PanelServer(Endpoints(ros_node), "~", "walk", []).publish(1.0)
    names = [name for name, _ in ros_node.get_topic_names_and_types()]
    assert f"{ros_node.get_fully_qualified_name()}/panel" not in names
