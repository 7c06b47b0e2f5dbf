"""Windows of declared panels."""

from dataclasses import replace

import pytest
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.client_set import FieldKey, FieldSample
from mujoco_ros.viewer.clients import ControllerInfo, ParameterInfo
from mujoco_ros.viewer.panel_descriptions import FieldInfo, GroupInfo, ItemInfo, PanelInfo
from mujoco_ros.viewer.panels.declared import DeclaredWindows

TOPIC, NODE = "/walk/panel", "/walk"
BUTTON = ItemInfo(kind="button", label="Open", service="/walk/panel/WALK/open")
TABLE = ItemInfo(kind="table", label="Feet", topic="/walk/panel/WALK/feet", columns=("foot", "N"))
PLOT = ItemInfo(kind="plot", label="Error", topic="/walk/panel/WALK/error", columns=("x", "y"))


VALUE = ItemInfo(kind="value", label="Force", topic="/walk/panel/WALK/force", unit="N")


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


def test_the_alternatives_of_a_choice_are_received_while_it_is_visible(show, clients, declare):
    topic = "/walk/panel/WALK/objects"
    declare(setting("choice", topic=topic), choice="box")
    frames = show(DeclaredWindows)
    assert clients.panels.watched == (topic,)
    frames.use("choice##WALK.choice", entered=0)
    assert not clients.called("set_setting"), "without alternatives there is the present value"
    clients.panels.tables[topic] = [["ball"], ["box"], []]
    frames.use("choice##WALK.choice", entered=0)
    assert clients.called("set_setting") == [(NODE, "WALK.choice", "ball")]
    clients.panels.known.clear()
    frames.build(2)
    assert clients.panels.watched == ()


@pytest.mark.parametrize(
    ("low", "high", "entered", "wanted"),
    [
        (0, 10, 7, 7),
        (0, 10, 20, 10),
        (0, None, -5, 0),
        (None, 10, 20, 10),
        (0, (1 << 63) - 1, -5, 0),
        (None, None, -5, -5),
    ],
)
def test_an_integer_stays_within_its_limits(
    show, clients, declare, monkeypatch, low, high, entered, wanted
):
    declare(setting("integer"))
    info = ParameterInfo(value=3, low=low, high=high)
    clients.panels.settings[NODE, "WALK.integer"] = info
    frames = show(DeclaredWindows)
    frames.use("integer##WALK.integer", entered=entered)
    assert clients.called("set_setting") == [(NODE, "WALK.integer", wanted)]
    built = []
    for name in ("SliderInt", "InputInt"):
        widget = getattr(imgui, name)
        monkeypatch.setattr(
            imgui,
            name,
            lambda *args, name=name, widget=widget: (built.append(name), widget(*args))[1],
        )
    frames.build()
    assert built == ["SliderInt" if high == 10 and low == 0 else "InputInt"]


FORM = ItemInfo(
    kind="form",
    label="Walk",
    button="Go",
    service="/walk/panel/WALK/go",
    fields=(
        FieldInfo(kind="number", label="v", parameter="WALK.number"),
        FieldInfo(kind="text", label="name", parameter="WALK.text"),
    ),
)
GO = "Go##Walk"


def test_a_form_sets_all_its_settings_by_its_button_alone(show, clients, declare):
    declare(FORM, number=0.25, text="a")
    frames = show(DeclaredWindows)
    frames.use("v##WALK.number", entered=0.75)
    frames.use("name##WALK.text", entered="b")
    assert not clients.requests
    frames.use(GO)
    values = {"WALK.number": 0.75, "WALK.text": "b"}
    assert clients.called("send_form") == [("Walk: Go", NODE, values, FORM.service)]
    clients.requests[-1].fail("too fast")
    frames.build()
    assert "too fast" in frames.text
    frames.use(GO)
    assert clients.called("send_form")[-1][2] == values, "edits stay until they are set"
    for name, value in (("number", 0.75), ("text", "b")):
        clients.panels.settings[NODE, f"WALK.{name}"] = ParameterInfo(value=value)
    frames.build()
    clients.panels.settings[NODE, "WALK.text"] = ParameterInfo(value="c")
    frames.use(GO)
    assert clients.called("send_form")[-1][2] == values | {"WALK.text": "c"}


def test_a_setting_beside_a_form_does_not_show_its_edits(show, clients, declare):
    declare(FORM, setting("number"), number=0.25, text="a")
    frames = show(DeclaredWindows)
    frames.use("v##WALK.number", entered=0.75)
    frames.use("number##WALK.number", entered=0.5)
    assert clients.called("set_setting") == [(NODE, "WALK.number", 0.5)]
    frames.use(GO)
    assert clients.called("send_form")[0][2]["WALK.number"] == 0.75


def test_the_edit_of_a_parameter_that_gets_another_type_is_dropped(show, clients, declare):
    declare(FORM, number=0.25, text="a")
    frames = show(DeclaredWindows)
    frames.use("name##WALK.text", entered="b")
    clients.panels.settings[NODE, "WALK.text"] = ParameterInfo(value=5)
    frames.build()
    declare(replace(FORM, fields=(replace(FORM.fields[1], kind="integer"),)), text=5)
    frames.use(GO)
    assert clients.called("send_form")[0][2] == {"WALK.text": 5}


def test_a_form_is_sent_if_its_settings_are_known_and_its_method_can_be_called(
    show, clients, declare
):
    declare(FORM, number=0.25)
    frames = show(DeclaredWindows)
    assert "name: /walk does not respond" in frames.texts
    assert frames.seen[GO] is False
    declare(FORM, state="STAND", number=0.25, text="a")
    frames.build()
    assert frames.seen[GO] is False
    declare(replace(FORM, service=""), state="STAND", number=0.25, text="a")
    frames.use(GO)
    assert clients.called("send_form")[0][3] == ""


def test_the_alternatives_of_a_choice_in_a_form_are_received(show, clients, declare):
    topic = "/walk/panel/WALK/objects"
    choice = FieldInfo(kind="choice", label="object", parameter="WALK.text", topic=topic)
    declare(replace(FORM, fields=(choice,)), text="box")
    frames = show(DeclaredWindows)
    assert clients.panels.watched == (topic,)
    clients.panels.tables[topic] = [["box"], ["ball"]]
    frames.use("object##WALK.text", entered=1)
    frames.use(GO)
    assert clients.called("send_form")[0][2] == {"WALK.text": "ball"}


@pytest.mark.parametrize(
    ("columns", "rows", "wanted"),
    [
        ((), [], "Force: … N"),
        ((), [["2.5"]], "Force: 2.5 N"),
        ((), [["1", "2"], ["3"]], "Force: 1, 2 N"),
        (("x", "y"), [["1", "2"]], "Force: x 1, y 2 N"),
        (("x", "y"), [["1"]], "Force: 1 N"),
    ],
)
def test_a_visible_value_is_received_and_shown(show, clients, declare, columns, rows, wanted):
    declare(replace(VALUE, columns=columns))
    frames = show(DeclaredWindows)
    clients.panels.tables[VALUE.topic] = rows
    frames.build(2)
    assert clients.panels.watched == (VALUE.topic,)
    assert wanted in frames.texts
    clients.panels.known.clear()
    frames.build(2)
    assert clients.panels.watched == ()


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
