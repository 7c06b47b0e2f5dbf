"""The panel "Simulation" in a browser."""

from typing import Any

from eventually import eventually
from fake_clients import FakeClients
from playwright.sync_api import expect

from mujoco_ros.viewer.clients import ParameterInfo


def requested(clients: FakeClients) -> list[tuple[Any, ...]]:
    """Return the calls but those of the panel World, which discovers services."""
    return [call for call in clients.calls if call != ("prepare",)]


def test_a_running_simulation_can_be_paused_and_reset_but_not_stepped(panel, clients):
    shown = panel("Simulation")
    for name in ("Pause", "Reset", "Reset all"):
        shown.get_by_role("button", name=name, exact=True).click()
    expected = [("pause",), ("reset", "time", "state"), ("reset",)]
    eventually(lambda: requested(clients) == expected, lambda: clients.calls)
    expect(shown.get_by_role("button", name="Step")).to_be_disabled()


def test_a_paused_simulation_can_be_played_and_stepped(panel, state, clients):
    state.paused = True
    shown = panel("Simulation")
    shown.get_by_role("spinbutton", name="Steps").fill("7")
    shown.get_by_role("spinbutton", name="Steps").press("Enter")
    shown.get_by_role("button", name="Step").click()
    shown.get_by_role("button", name="Play").click()
    eventually(lambda: requested(clients) == [("step", 7), ("play",)], lambda: clients.calls)
    expect(shown.get_by_text("paused")).to_be_visible()


def test_a_replay_has_no_keyframes(panel, clients):
    clients.parameters.known["at_end"] = ParameterInfo(value="pause")
    shown = panel("Simulation")
    expect(shown.get_by_text("A replay has no keyframes.")).to_be_visible()
    expect(shown.get_by_role("button", name="Save", exact=True)).to_have_count(0)


def test_a_speed_is_chosen_from_a_list(panel, clients):
    speed = panel("Simulation").get_by_role("combobox", name="Speed")
    for label in ("0.01×", "as fast as possible"):
        speed.select_option(label)
    expected = [(0.01,), (0.0,)]
    eventually(lambda: clients.called("set_speed") == expected, lambda: clients.calls)


def test_a_keyframe_needs_a_name(panel, clients):
    shown = panel("Simulation")
    save = shown.get_by_role("button", name="Save", exact=True)
    expect(save).to_be_disabled()
    shown.get_by_role("textbox", name="Keyframe").fill("up")
    save.click()
    eventually(lambda: clients.called("save_keyframe") == [("up",)], lambda: clients.calls)


def test_a_saved_keyframe_is_deleted_and_the_model_is_saved(panel, clients):
    shown = panel("Simulation")
    shown.get_by_role("textbox", name="Keyframe").fill("up")
    delete = shown.get_by_role("button", name="Delete")
    expect(delete).to_be_disabled()
    shown.get_by_role("button", name="Save", exact=True).click()
    eventually(lambda: clients.called("save_keyframe"), lambda: clients.calls)
    clients.requests[-1].complete(True, "")
    delete.click()
    eventually(lambda: clients.called("delete_keyframe") == [("up",)], lambda: clients.calls)
    expect(delete).to_be_disabled()
    shown.get_by_role("textbox", name="Model file").fill("now.mjb")
    shown.get_by_role("button", name="Save model").click()
    eventually(lambda: clients.called("save_model") == [("now.mjb",)], lambda: clients.calls)


def test_the_result_of_a_request_has_its_command(panel, clients):
    shown = panel("Simulation")
    shown.get_by_role("button", name="Pause").click()
    eventually(lambda: clients.called("pause"))
    request = clients.requests[-1]
    request.command = "ros2 service call /pause"
    request.complete(False, "<b>no</b>")
    expect(shown.get_by_text("pause: <b>no</b>")).to_be_visible()
    expect(shown.get_by_text("ros2 service call /pause")).to_be_visible()
    expect(shown.get_by_role("button", name="Copy the command")).to_be_visible()


def test_a_page_without_control_shows_the_state_and_requests_nothing(read_only_page, clients):
    shown = read_only_page.get_by_role("tabpanel", name="Simulation")
    expect(shown.get_by_text("playing")).to_be_visible()
    pause = shown.get_by_role("button", name="Pause")
    expect(pause).to_be_disabled()
    pause.evaluate("element => { element.disabled = false; element.click(); }")
    read_only_page.get_by_role("combobox", name="Lowest level").select_option("error")
    expect(read_only_page.get_by_role("combobox", name="Lowest level")).to_have_value("error")
    assert requested(clients) == []
