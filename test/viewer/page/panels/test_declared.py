"""Declared panels in a browser."""

from dataclasses import replace

import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.viewer.clients import ControllerInfo, FieldKey, FieldSample, ParameterInfo
from mujoco_ros.viewer.panel_descriptions import FieldInfo, GroupInfo, ItemInfo, PanelInfo

TOPIC, NODE = "/walk/panel", "/walk"
HOSTILE = "<img src=x onerror=alert(1)>"
BUTTON = ItemInfo(kind="button", label="Open", service="/walk/panel/WALK/open")
TABLE = ItemInfo(kind="table", label="Feet", topic="/walk/panel/WALK/feet", columns=("foot", "N"))
PLOT = ItemInfo(kind="plot", label="Error", topic="/walk/panel/WALK/error", columns=("x", "y"))
VALUE = ItemInfo(kind="value", label="Force", topic="/walk/panel/WALK/force", unit="N")
POSE = (0.0,) * 6 + (1.0,)


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
            high = {"high": 1.0} if isinstance(value, float) else {}
            info = ParameterInfo(value=value, low=0.0 if high else None, **high)
            clients.panels.settings[NODE, f"WALK.{name}"] = info

    return declared


def enter(field, text: str) -> None:
    field.fill(text)
    field.press("Enter")


def test_a_panel_comes_and_goes_and_keeps_nothing_of_others(panel, page, clients, declare):
    declare(BUTTON)
    expect(panel("walk").get_by_role("button", name="Open")).to_be_visible()
    page.get_by_text("Panels", exact=True).click()
    expect(page.get_by_role("button", name="walk", exact=True)).to_be_visible()
    page.get_by_role("region", name="Right panels").get_by_text("⋯").click()
    page.get_by_role("button", name="Move below").click()
    bottom = page.get_by_role("region", name="Bottom panels")
    expect(bottom.get_by_role("tab", name="walk")).to_be_visible()
    clients.panels.known.clear()
    expect(page.get_by_role("tab", name="walk")).to_have_count(0)
    expect(page.get_by_role("button", name="walk", exact=True)).to_have_count(0)
    expect(page.get_by_role("tabpanel", name="Robots")).to_be_visible()
    declare(BUTTON)  # as after a restart of its node
    expect(bottom.get_by_role("tab", name="walk")).to_be_visible()


def test_two_panels_of_one_title_have_names_and_places_of_their_own(page, clients, declare):
    declare(BUTTON)
    other = PanelInfo(title="walk", node="/left/walk", groups=())
    clients.panels.known["/left/walk/panel"] = other
    first, second = (
        page.get_by_role("tab", name=f"walk ({node})", exact=True) for node in (NODE, other.node)
    )
    first.click()
    page.get_by_role("region", name="Right panels").get_by_text("⋯").click()
    page.get_by_role("button", name="Move below").click()
    clients.panels.known = {}
    expect(first).to_have_count(0)
    declare(BUTTON)
    clients.panels.known["/left/walk/panel"] = other
    bottom, right = (page.get_by_role("region", name=f"{it} panels") for it in ("Bottom", "Right"))
    expect(bottom.get_by_role("tab", name=f"walk ({NODE})")).to_be_visible()
    expect(right.get_by_role("tab", name=f"walk ({other.node})")).to_be_visible()
    del clients.panels.known["/left/walk/panel"]
    expect(bottom.get_by_role("tab", name="walk", exact=True)).to_be_visible()
    expect(second).to_have_count(0)


def test_a_button_is_enabled_while_its_state_is_active(panel, clients, declare):
    declare(BUTTON, state="STAND")
    shown = panel("walk")
    button = shown.get_by_role("button", name="Open")
    expect(button).to_be_disabled()
    expect(button).to_have_attribute("title", "WALK is not active")
    declare(BUTTON)
    button.click()
    expected = [("Open", "/walk/panel/WALK/open")]
    eventually(lambda: clients.called("press") == expected, lambda: clients.calls)
    clients.requests[-1].fail(HOSTILE)
    expect(shown.get_by_text(HOSTILE)).to_be_visible()


def test_settings_are_parameters(panel, clients, declare):
    kinds = {"check_box": False, "integer": 3, "number": 0.25, "text": "a", "vector": (1.0, 2.0)}
    items = [setting(kind) for kind in (*kinds, "pose", "dial", "unknown")]
    choice = setting("choice", columns=("walk", "trot"))
    declare(*items, choice, pose=POSE, dial=0.5, choice="walk", **kinds)
    shown = panel("walk")
    shown.get_by_role("checkbox", name="check_box").check()
    enter(shown.get_by_role("spinbutton", name="integer"), "5")
    enter(shown.get_by_role("spinbutton", name="number, number"), "7")
    enter(shown.get_by_role("textbox", name="text"), "b")
    enter(shown.get_by_role("spinbutton", name="vector[1]"), "4")
    enter(shown.get_by_role("spinbutton", name="pose z"), "0.5")
    enter(shown.get_by_role("spinbutton", name="pose roll"), "180")
    shown.get_by_role("combobox", name="choice").select_option("trot")
    set_values = [True, 5, 1.0, "b", (1.0, 4.0), (0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0)]
    eventually(lambda: len(clients.called("set_setting")) == 8, lambda: clients.calls)
    calls = clients.called("set_setting")
    assert [value for _, _, value in calls[:6]] == set_values
    assert calls[6][2] == pytest.approx((0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0), abs=1e-15)
    assert calls[7] == (NODE, "WALK.choice", "trot")
    expect(shown.get_by_text("unknown: /walk does not respond")).to_be_visible()
    expect(shown.get_by_text("'dial' cannot be shown")).to_be_visible()


def test_a_slider_sets_the_number_at_the_end_of_its_motion(panel, page, clients, declare):
    declare(setting("number"), number=0.25)
    shown = panel("walk")
    slider = shown.get_by_role("slider", name="number")
    slider.hover()  # as soon as it stands still
    box = slider.bounding_box()
    x, y = box["x"] + 0.25 * box["width"], box["y"] + 0.5 * box["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 6):
        page.mouse.move(x + step * 0.1 * box["width"], y)
    expect(shown.get_by_role("spinbutton")).not_to_have_value("0.250")
    assert not clients.called("set_setting")
    page.mouse.up()
    eventually(lambda: clients.called("set_setting"), lambda: clients.calls)
    ((_, _, value),) = clients.called("set_setting")
    assert value == pytest.approx(0.75, abs=0.1)


FORM = ItemInfo(
    kind="form",
    label="Walk",
    button="Go",
    service="/walk/panel/WALK/go",
    fields=(
        FieldInfo(kind="number", label="v", parameter="WALK.number"),
        FieldInfo(kind="choice", label="to", parameter="WALK.text", topic="/walk/objects"),
    ),
)


def test_a_form_sets_all_its_settings_by_its_button_alone(panel, clients, declare):
    declare(FORM, number=0.25, text="box")
    shown = panel("walk")
    eventually(lambda: clients.panels.watched == ("/walk/objects",), lambda: clients.panels)
    clients.panels.tables["/walk/objects"] = [["box"], ["ball"], []]
    enter(shown.get_by_role("spinbutton", name="v, number"), "0.75")
    shown.get_by_role("combobox", name="to").select_option("ball")
    go = shown.get_by_role("button", name="Walk: Go")
    go.click()
    values = {"WALK.number": 0.75, "WALK.text": "ball"}
    expected = [("Walk: Go", NODE, values, FORM.service)]
    eventually(lambda: clients.called("send_form") == expected, lambda: clients.calls)
    assert not clients.called("set_setting")
    declare(FORM, state="STAND", number=0.75, text="ball")
    expect(go).to_be_disabled()
    declare(replace(FORM, service=""), state="STAND", number=0.75, text="cup")
    go.click()
    values = {"WALK.number": 0.75, "WALK.text": "cup"}
    eventually(lambda: clients.called("send_form")[1:] == [("Walk: Go", NODE, values, "")])


def test_values_tables_and_plots_are_received_while_they_are_visible(
    panel, clients, declare, state
):
    named = replace(VALUE, label="Pose", topic="/walk/pose", columns=("x", "y"))
    declare(VALUE, named, TABLE, PLOT)
    shown = panel("walk")
    topics = (VALUE.topic, named.topic, TABLE.topic)
    eventually(lambda: clients.panels.watched == topics, lambda: clients.panels)
    keys = tuple(FieldKey(PLOT.topic, f"data[{index}]") for index in range(2))
    eventually(lambda: clients.panel_fields.watched == keys, lambda: clients.panel_fields)
    expect(shown.get_by_text("… N").first).to_be_visible()
    clients.panels.tables[VALUE.topic] = [["2.5"], ["3"]]
    clients.panels.tables[named.topic] = [["1", "2"]]
    clients.panels.tables[TABLE.topic] = [["left", "12"], ["right", HOSTILE, "more"]]
    clients.panel_fields.samples = [
        FieldSample(PLOT.topic, 0.1 * it, {"data[0]": 0.1 * it, "data[1]": -1.0}) for it in range(9)
    ]
    state.time = 0.9
    expect(shown.get_by_text("2.5 N")).to_be_visible()
    expect(shown.get_by_text("x 1, y 2 N")).to_be_visible()
    cells = shown.get_by_role("table", name="Feet").get_by_role("cell")
    expect(cells).to_have_text(["left", "12", "right", HOSTILE])
    expect(shown.get_by_role("group", name="Error")).to_contain_text("0.8")
    panel("Robots")
    eventually(lambda: clients.panels.watched == (), lambda: clients.panels)
    eventually(lambda: clients.panel_fields.watched == (), lambda: clients.panel_fields)
