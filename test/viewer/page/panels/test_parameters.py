"""The panel "Parameters" in a browser."""

import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.viewer.clients import ParameterInfo

HOSTILE = "<b>loud</b>"


@pytest.fixture
def known(clients):
    """The parameters of the simulator."""
    mode = ("off", "on")
    gravity = (0.0, 0.0, -9.81)
    clients.parameters.known |= {
        "watchdog": ParameterInfo(value=True, initial=True, description=HOSTILE),
        "mode": ParameterInfo(value="off", initial="off", choices=mode),
        "note": ParameterInfo(value="a", initial="a"),
        "rate": ParameterInfo(value=5, initial=5, low=1, high=9),
        "gravity": ParameterInfo(value=gravity, initial=gravity),
        "seed": ParameterInfo(value=7, initial=7, read_only=True),
        "robots": ParameterInfo(value=("arm", "hand"), initial=("arm", "hand")),
    }
    return clients.parameters.known


@pytest.fixture
def shown(page, panel):
    """The panel, which is closed at first."""
    page.get_by_text("Panels", exact=True).click()
    page.get_by_role("button", name="Parameters", exact=True).click()
    return panel("Parameters")


def test_parameters_are_found_by_name_and_description(known, shown):
    gain = ParameterInfo(value=5.0, initial=5.0, low=0.0, high=100.0)
    known |= {f"gains.joint_{number}.kp": gain for number in range(60)}
    expect(shown.get_by_text("67 of 67 parameters, the first 40 are listed")).to_be_visible()
    rows = (
        shown.get_by_role("table", name="Parameters")
        .get_by_role("rowgroup")
        .last.get_by_role("row")
    )
    expect(rows).to_have_count(40)
    search = shown.get_by_role("textbox", name="Search")
    search.press_sequentially("LOUD")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(f"watchdog{HOSTILE}")
    expect(search).to_be_focused()
    search.fill("joint_5 kp")
    expect(rows).to_have_count(11)
    expect(rows.first).to_contain_text("0 to 100")
    known.clear()
    expect(shown.get_by_text("/mujoco does not respond")).to_be_visible()


def test_each_type_has_its_field(known, shown, clients):
    shown.get_by_role("checkbox", name="watchdog").uncheck()
    shown.get_by_role("combobox", name="mode").select_option("on")
    for role, name, entered in (
        ("textbox", "note", "b"),
        ("spinbutton", "rate", "20"),
        ("spinbutton", "gravity[2]", "-1.62"),
    ):
        shown.get_by_role(role, name=name).fill(entered)
        shown.get_by_role(role, name=name).press("Enter")
    values = {"watchdog": False, "mode": "on", "note": "b", "rate": 9, "gravity": (0.0, 0.0, -1.62)}
    expected = [({name: value},) for name, value in values.items()]
    eventually(lambda: clients.called("set_parameters") == expected, lambda: clients.calls)
    clients.requests[-1].command = "ros2 param set /mujoco gravity '[0.0, 0.0, -1.62]'"
    expect(shown.get_by_text("ros2 param set /mujoco gravity")).to_be_visible()
    expect(shown.get_by_role("spinbutton", name="seed")).to_be_disabled()
    expect(shown.get_by_role("row", name="robots")).to_contain_text("[arm, hand]")


def test_a_value_that_is_refused_is_shown_no_longer(known, shown, clients):
    rate = shown.get_by_role("spinbutton", name="rate")
    rate.fill("8")
    rate.press("Enter")
    watchdog = shown.get_by_role("checkbox", name="watchdog")
    watchdog.uncheck()
    eventually(lambda: len(clients.called("set_parameters")) == 2, lambda: clients.calls)
    expect(rate).to_have_value("5")
    expect(watchdog).to_be_checked()


def test_changed_parameters_are_listed_and_restored(known, shown, clients):
    def change(name, value):
        known[name] = ParameterInfo(value=value, initial=known[name].value)

    change("rate", 8)
    change("note", "c")
    expect(shown.get_by_text("2 changed")).to_be_visible()
    shown.get_by_role("checkbox", name="changed only").check()
    rows = (
        shown.get_by_role("table", name="Parameters")
        .get_by_role("rowgroup")
        .last.get_by_role("row")
    )
    expect(rows).to_have_count(2)
    rows.filter(has_text="rate").get_by_role("button", name="Restore 5").click()
    shown.get_by_role("button", name="Restore all").click()
    expected = [({"rate": 5},), ({"note": "a", "rate": 5},)]
    eventually(lambda: clients.called("set_parameters") == expected, lambda: clients.calls)
    shown.get_by_text("Changes as a parameter file").click()
    file = "/mujoco:\n  ros__parameters:\n    note: c\n    rate: 8\n"
    expect(shown.get_by_text(file)).to_be_visible()


def test_physics_has_the_options_of_the_engine_alone(known, page, panel, clients):
    known["physics.flag.contact"] = ParameterInfo(value=True, initial=True, description="contacts")
    page.get_by_text("Panels", exact=True).click()
    page.get_by_role("button", name="Physics", exact=True).click()
    physics = panel("Physics")
    expect(physics.get_by_text("1 of 1 parameters; 0 changed")).to_be_visible()
    physics.get_by_role("checkbox", name="physics.flag.contact").uncheck()
    expected = [({"physics.flag.contact": False},)]
    eventually(lambda: clients.called("set_parameters") == expected, lambda: clients.calls)
