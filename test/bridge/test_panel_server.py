"""A declared panel, served to clients."""

import json
import threading
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

from mujoco_ros.bridge.panel_server import PanelGroup, PanelServer, _message
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.panel_items import (
    Button,
    ChoiceField,
    DisplayedPlot,
    DisplayedTable,
    DisplayedValue,
    Form,
    PoseField,
    SettingField,
)
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.panel_descriptions import panel_info
from mujoco_ros.wire.parameter_spec import ParameterSpec
from mujoco_ros.wire.qos import LATCHED

ITEMS = (
    Button("Open the hand", "open"),
    SettingField("Speed", "speed"),
    SettingField("Gait", "gait"),
    PoseField("Goal", "goal"),
    SettingField("Seven numbers", "goal"),
    DisplayedTable("Feet", "feet", ("foot", "load [N]")),
    DisplayedPlot("Error", "error", ("x", "y"), "m"),
    DisplayedValue("Force", "force", "N", ("left", "right")),
    ChoiceField("Object", "object", "objects"),
    Form("Walk", (SettingField("Speed", "speed"), SettingField("Gait", "gait")), "Go", "go"),
    Form("Twice", (SettingField("Speed", "speed"),)),
)
SETTINGS = {
    "speed": ParameterSpec("WALK.speed", 0.5, "Speed [m/s]", low=0.0, high=1.0),
    "gait": ParameterSpec("WALK.gait", "walk", "Gait", choices=("walk", "trot")),
    "goal": ParameterSpec("WALK.goal", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), "Goal"),
    "object": ParameterSpec("WALK.object", "", "Object to grasp"),
}


class Owner:
    """Has the methods of the items."""

    is_active = True
    is_broken = False
    calls = 0

    def __init__(self) -> None:
        self.pressed: list[str] = []

    def open(self) -> None:
        self.pressed.append("open")

    def feet(self) -> Any:
        return [("left", 1.0)] if self.is_broken is False else [("left",)]

    def go(self) -> None:
        self.pressed.append("go")

    def force(self) -> Any:
        return np.array([1.0, 2.0])

    def objects(self) -> Any:
        return ["box", "ball"]

    def error(self) -> Any:
        self.calls += 1
        return (0.25, -0.5)

    def ends(self) -> Any:
        raise SystemExit(3)

    def interrupts(self) -> Any:
        yield 0.25
        raise KeyboardInterrupt

    def nothing(self) -> Any:
        self.calls += 1

    def press(self, method: str) -> "Future[None]":
        done: Future[None] = Future()
        if self.is_active:
            getattr(self, method)()
            done.set_result(None)
        else:
            done.set_exception(UserInputError("state 'WALK' is not active"))
        return done


def group(owner: Owner, items: Any = ITEMS, plot_period_s: float = 0.0) -> PanelGroup:
    return PanelGroup(
        name="WALK",
        items=items,
        owner=owner,
        path=("WALK",),
        settings=SETTINGS,
        press=owner.press,
        evaluate=lambda method: getattr(owner, method)(),
        is_active=lambda: owner.is_active,
        plot_period_s=plot_period_s,
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
    assert kinds == [
        *("button", "number", "choice", "pose", "vector", "table", "plot"),
        *("value", "choice", "form", "form"),
    ]
    button, speed, gait, _, _, table, _, value, choice, form, other = one["items"]
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
    assert value == {
        "label": "Force",
        "kind": "value",
        "topic": f"{name}/panel/WALK/force",
        "columns": ["left", "right"],
        "unit": "N",
    }
    assert choice["topic"] == f"{name}/panel/WALK/objects"
    assert (choice["parameter"], choice["columns"]) == ("WALK.object", [])
    assert form == {
        "label": "Walk",
        "kind": "form",
        "button": "Go",
        "fields": [speed, gait],
        "service": f"{name}/panel/WALK/go",
    }
    assert (other["button"], other["fields"], "service" in other) == ("Set", [speed], False)


def test_the_page_reads_the_description(server, ros_node, spin_until):
    received: list[String] = []
    name = ros_node.get_fully_qualified_name()
    ros_node.create_subscription(String, f"{name}/panel", received.append, LATCHED)
    assert spin_until(lambda: received)
    (one,) = panel_info(received[0].data).groups
    *_, value, choice, form, _ = one.items
    assert (value.topic, value.unit) == (f"{name}/panel/WALK/force", "N")
    assert choice.topic == f"{name}/panel/WALK/objects"
    assert [field.parameter for field in form.fields] == ["WALK.speed", "WALK.gait"]
    assert (form.button, form.service) == ("Go", f"{name}/panel/WALK/go")


@pytest.mark.parametrize("method", ["open", "go"])
def test_a_button_calls_its_method_while_its_state_is_active(
    server, owner, ros_node, spin_until, method
):
    name = f"{ros_node.get_fully_qualified_name()}/panel/WALK/{method}"
    client = ros_node.create_client(Trigger, name)
    assert spin_until(client.service_is_ready)

    def pressed() -> Trigger.Response:
        answer = client.call_async(Trigger.Request())
        assert spin_until(answer.done)
        return answer.result()

    assert pressed().success
    owner.is_active = False
    assert pressed().message == "state 'WALK' is not active"
    assert owner.pressed == [method]
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


def test_values_and_alternatives_are_rows(server, owner, ros_node, spin_until):
    values, until = receive(server, ros_node, spin_until, String, "force")
    alternatives, _ = receive(server, ros_node, spin_until, String, "objects")
    assert until(lambda: values and alternatives)
    assert json.loads(values[0].data) == [["1", "2"]]
    assert json.loads(alternatives[0].data) == [["box"], ["ball"]]


@pytest.mark.parametrize(
    ("item", "value", "wanted"),
    [
        (DisplayedValue("V", "m"), "idle", [["idle"]]),
        (DisplayedValue("V", "m"), 0.123456789, [["0.123457"]]),
        (DisplayedValue("V", "m"), np.float32(0.5), [["0.5"]]),
        (DisplayedValue("V", "m"), (-0.0, -4.94726e-06, -2e-05), [["0", "0", "-2e-05"]]),
        (DisplayedValue("V", "m"), np.array(0.5), [["0.5"]]),
        (DisplayedValue("V", "m"), (1, 2.5, "x"), [["1", "2.5", "x"]]),
        (DisplayedValue("V", "m", "", ("x", "y")), np.array([1.0, 2.0]), [["1", "2"]]),
        (ChoiceField("C", "object", "m"), (), []),
    ],
)
def test_a_value_is_one_row_and_each_alternative_another(item, value, wanted):
    assert json.loads(_message(item, value).data) == wanted


@pytest.mark.parametrize(
    ("item", "value", "message"),
    [
        (DisplayedValue("V", "m", "", ("x", "y")), 1.0, "1 value for: x, y"),
        (DisplayedValue("V", "m"), [0.0] * 33, "33 values; limit 32"),
        (ChoiceField("C", "object", "m"), "box", "alternatives are 'box', not a list of texts"),
        (ChoiceField("C", "object", "m"), [1], r"alternatives are \[1\], not a list of texts"),
    ],
)
def test_another_result_than_declared_is_an_error(item, value, message):
    with pytest.raises(UserInputError, match=message):
        _message(item, value)


def test_a_display_that_fails_ends_alone(server, owner, ros_node, spin_until, caplog):
    owner.is_broken = True
    rows, until = receive(server, ros_node, spin_until, String, "feet")
    numbers, _ = receive(server, ros_node, spin_until, Float64MultiArray, "error")
    assert until(lambda: "'Feet' of the panel cannot be computed" in caplog.text and numbers)
    owner.is_broken, count = False, len(numbers)
    assert until(lambda: len(numbers) > count + 5)
    assert not rows


def test_a_display_that_failed_begins_again_with_its_state(
    server, owner, ros_node, spin_until, caplog
):
    owner.is_broken = True
    rows, until = receive(server, ros_node, spin_until, String, "feet")
    assert until(lambda: "'Feet' of the panel cannot be computed" in caplog.text)
    owner.is_broken = owner.is_active = False
    server.publish(100.0)
    owner.is_active = True
    assert until(lambda: rows)


def shown(ros_node, owner, item, times, spin_until, **options) -> None:
    """Publish an item at some times, in another thread, while it is subscribed."""
    served = PanelServer(Endpoints(ros_node), "~", "walk", [group(owner, (item,), **options)])
    _, until = receive(served, ros_node, spin_until, Float64MultiArray, item.method)
    (publisher,) = (it for it in ros_node.publishers if it.topic.endswith(item.method))
    owner.is_active = False
    assert until(lambda: publisher.get_subscription_count() == 1)
    served._displays[0].count(1)
    owner.is_active, errors = True, []

    def publish() -> None:
        try:
            for time in times:
                served.publish(time)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=publish)
    thread.start()
    thread.join()
    served.close()
    assert not errors


@pytest.mark.parametrize("method", ["ends", "interrupts"])
def test_a_display_that_would_end_the_thread_ends_alone(
    ros_node, owner, spin_until, caplog, method
):
    plot = DisplayedPlot("Plot", method, ("x",))
    shown(ros_node, owner, plot, (1.0, 2.0), spin_until)
    assert caplog.text.count("WALK: 'Plot' of the panel cannot be computed") == 1


def test_nothing_is_published_for_none(ros_node, owner, spin_until, caplog):
    shown(ros_node, owner, DisplayedPlot("Plot", "nothing", ("x",)), (1.0, 2.0), spin_until)
    assert owner.calls == 2
    assert "cannot be computed" not in caplog.text


def test_a_plot_is_published_with_its_period(ros_node, owner, spin_until):
    plot = DisplayedPlot("Plot", "error", ("x", "y"))
    times = [1.0 + 0.002 * step for step in range(50)]
    shown(ros_node, owner, plot, times, spin_until, plot_period_s=0.01)
    assert owner.calls == 10


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (SettingField("Speed", "sped"), "the panel of WALK: setting 'sped' not found .*'speed'"),
        (
            PoseField("Speed", "speed"),
            "the panel of WALK shows 'speed' as a pose, .* is 0.5; a pose",
        ),
        (
            ChoiceField("Speed", "speed", "objects"),
            "the panel of WALK shows 'speed' as a choice, .* is 0.5; its alternatives need a text",
        ),
        (
            Form("Walk", (ChoiceField("Gait", "gait", "objects"),)),
            "the panel of WALK shows 'gait' as a choice, .* need a text without fixed choices",
        ),
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
