"""Windows of declared panels."""

import pytest

from mujoco_ros.viewer.clients import ControllerInfo, ParameterInfo
from mujoco_ros.viewer.message_fields import FieldKey, FieldSample
from mujoco_ros.viewer.panel_descriptions import GroupInfo, ItemInfo, PanelInfo
from mujoco_ros.viewer.panels.declared import DeclaredWindows

TOPIC, NODE = "/walk/panel", "/walk"
BUTTON = ItemInfo(kind="button", label="Open", service="/walk/panel/WALK/open")
TABLE = ItemInfo(kind="table", label="Feet", topic="/walk/panel/WALK/feet", columns=("foot", "N"))
PLOT = ItemInfo(kind="plot", label="Error", topic="/walk/panel/WALK/error", columns=("x", "y"))


def setting(kind: str, **fields: object) -> ItemInfo:
    return ItemInfo(kind=kind, label=kind, parameter=f"WALK.{kind}", **fields)


@pytest.fixture
def declare(clients):
    """Declare a panel with items; values are those of its settings."""

    def declared(*items: ItemInfo, state: str = "WALK", **values: object) -> None:
        group = GroupInfo(name="WALK", items=items)
        clients.panels.known[TOPIC] = PanelInfo(title="walk", node=NODE, groups=(group,))
        clients.controllers.known[NODE] = ControllerInfo(name=NODE, state=state)
        for name, value in values.items():
            info = ParameterInfo(value=value, low=0.0, high=1.0)
            clients.panels.settings[NODE, f"WALK.{name}"] = (
                info if isinstance(value, float) else ParameterInfo(value=value)
            )

    return declared


def test_each_panel_has_a_window(show, clients, declare):
    assert show(DeclaredWindows).seen == {}
    declare(BUTTON)
    frames = show(DeclaredWindows)
    assert list(frames.seen) == ["Open##/walk/panel/WALK/open"]


def test_a_button_is_enabled_while_its_state_is_active(show, clients, declare):
    declare(BUTTON, state="STAND")
    frames = show(DeclaredWindows)
    label = "Open##/walk/panel/WALK/open"
    assert frames.seen[label] is False
    declare(BUTTON)
    frames.build()
    frames.use(label)
    assert clients.called("press") == [("Open", "/walk/panel/WALK/open")]
    clients.requests[-1].fail("busy")
    frames.build()
    assert "busy" in frames.text


@pytest.mark.parametrize(
    ("kind", "value", "label", "entered", "wanted"),
    [
        ("check_box", False, "check_box##WALK.check_box", True, True),
        ("integer", 3, "integer##WALK.integer", 5, 5),
        ("number", 0.25, "number##WALK.number", 0.75, 0.75),
        ("text", "a", "text##WALK.text", "b", "b"),
        ("vector", (1.0, 2.0), "##WALK.vector[1]", 4.0, (1.0, 4.0)),
        ("pose", (0.0,) * 6 + (1.0,), "##WALK.pose.z", 0.5, (0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0)),
        ("pose", (0.0,) * 6 + (1.0,), "##WALK.pose.roll", 180.0, (0.0, 0.0, 0.0, 1.0, 0, 0, 0)),
        ("pose", (1.0, 2.0), "##WALK.pose[1]", 4.0, (1.0, 4.0)),
    ],
)
def test_a_setting_is_a_parameter(show, clients, declare, kind, value, label, entered, wanted):
    declare(setting(kind), **{kind: value})
    frames = show(DeclaredWindows)
    assert not clients.called("set_setting")
    frames.use(label, entered=entered)
    ((node, parameter, value),) = clients.called("set_setting")
    assert (node, parameter) == (NODE, f"WALK.{kind}")
    assert value == pytest.approx(wanted, abs=1e-15)


def test_a_choice_is_a_list(show, clients, declare):
    declare(setting("choice", columns=("walk", "trot")), choice="walk")
    frames = show(DeclaredWindows)
    frames.use("choice##WALK.choice", entered=1)
    assert clients.called("set_setting") == [(NODE, "WALK.choice", "trot")]


def test_a_setting_whose_node_does_not_respond_and_an_unknown_kind_are_named(
    show, clients, declare
):
    declare(setting("number"), setting("dial"), dial=0.5)
    frames = show(DeclaredWindows)
    assert "number: /walk does not respond" in frames.texts
    assert "dial: 'dial' cannot be shown" in frames.texts


def test_a_visible_table_is_received_and_shown(show, clients, declare):
    declare(TABLE)
    frames = show(DeclaredWindows)
    clients.panels.tables[TABLE.topic] = [["left", "12"], ["right", "34", "more"]]
    frames.build(2)
    assert clients.panels.watched == (TABLE.topic,)
    assert [text for text in frames.texts if text in ("left", "12", "right", "34", "more")] == [
        *("left", "12", "right", "34")
    ]
    clients.panels.known.clear()
    frames.build(2)
    assert clients.panels.watched == ()


def test_a_visible_plot_has_every_message(show, clients, declare, state):
    declare(PLOT)
    frames = show(DeclaredWindows)
    keys = tuple(FieldKey(PLOT.topic, f"data[{index}]") for index in range(2))
    frames.build(2)
    assert clients.panel_fields.watched == keys
    clients.panel_fields.samples = [
        FieldSample(PLOT.topic, 0.001 * it, {"data[0]": float(it), "data[1]": -1.0})
        for it in range(100)
    ]
    state.time = 0.1
    frames.build(2)
    assert len(frames.curves["x"][0]) == 100
    assert frames.curves["y"][1] == [-1.0] * 100
