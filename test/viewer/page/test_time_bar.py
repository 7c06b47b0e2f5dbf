"""The bar below the scene in a browser."""

import re
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from eventually import eventually
from past_times import past_states
from playwright.sync_api import expect

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.shared_memory.past_states import HistorySettings
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.sim.shared_memory.writer import SharedStateWriter
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.writer import describe_robots
from mujoco_ros.viewer.clients import ParameterInfo
from mujoco_ros.viewer.page.scene_view import linked_camera
from mujoco_ros.viewer.page.session import Shared


@pytest.fixture
def past(state):
    """The time is 2 s, and states of the last second are known."""
    state.past, state.time = past_states(*np.linspace(1.0, 2.0, 11)), 2.0
    return state


def bar(page):
    return page.get_by_role("group", name="Time", exact=True)


@pytest.fixture
def slider(past, page):
    found = page.get_by_role("slider", name="Past states")
    expect(found).to_have_attribute("aria-valuetext", "live")
    return found


def test_there_is_no_bar_without_past_states(page):
    expect(page.get_by_role("slider", name="Past states")).not_to_be_visible()


def test_keys_step_through_the_states_and_return_to_the_present(page, slider, state):
    live = page.get_by_role("button", name="Live")
    expect(live).to_be_disabled()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    eventually(lambda: state.shown is not None and abs(state.shown.time - 2.0) < 1e-6)
    page.keyboard.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "0.10 s ago")
    expect(page.get_by_text("0.10 s ago: the state of 1.900 s")).to_be_visible()
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "1.00 s ago")
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "0.90 s ago")
    page.keyboard.press("Escape")
    expect(slider).to_have_attribute("aria-valuetext", "live")
    assert state.shown is None
    expect(page.get_by_text("the state of")).not_to_be_visible()
    page.keyboard.press("PageDown")
    expect(slider).to_have_attribute("aria-valuetext", "1.00 s ago")
    live.click()
    eventually(lambda: state.shown is None)


def test_dragging_shows_past_states(page, slider, state):
    slider.hover()  # as soon as it stands still
    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] - 6, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, y)
    eventually(lambda: state.shown is not None and abs(state.shown.time - 1.5) < 0.11)
    page.mouse.move(box["x"] + box["width"] + 20, y)
    eventually(lambda: state.shown is None)
    page.mouse.up()


def test_the_simulation_continues_from_a_state_after_a_question(page, slider, state, clients):
    ask = page.get_by_role("button", name="Continue from here")
    save = bar(page).get_by_role("button", name="Save", exact=True)
    expect(ask).to_be_disabled()
    expect(ask).to_have_attribute("title", "Show a past state first")
    before = save.bounding_box()
    state.show(1.5)
    expect(ask).to_be_enabled()
    assert save.bounding_box() == before, "nothing moves under the mouse"
    ask.click()
    question = page.get_by_role("dialog", name="Continue from here?")
    expect(question).to_contain_text("returns to 1.500 s and pauses there")
    expect(question).to_contain_text("0.50 s since then is lost")
    question.get_by_role("button", name="Stay").click()
    expect(question).not_to_be_visible()
    assert not clients.called("load_past")
    ask.click()
    question.get_by_role("button", name="Continue", exact=True).click()
    eventually(lambda: clients.called("save_keyframe"))
    clients.requests[-1].complete(True)
    eventually(lambda: clients.called("load_past") == [(pytest.approx(1.5),)])
    clients.requests[-1].complete(True)
    expect(slider).to_have_attribute("aria-valuetext", "live")
    state.time = 1.5
    bar(page).get_by_role("button", name="Undo").click()
    eventually(lambda: clients.called("load_keyframe"))


def test_a_read_only_page_cannot_change_the_time(past, read_only_page):
    past.show(1.5)
    for name in ("Live", "Continue from here"):
        expect(read_only_page.get_by_role("button", name=name)).to_be_disabled()
    expect(read_only_page.get_by_role("slider", name="Past states")).to_be_disabled()
    expect(read_only_page.get_by_text("the state of 1.500 s")).to_be_visible()
    read_only_page.keyboard.press("Escape")
    read_only_page.keyboard.press("Space")  # what the page says to it comes later
    expect(read_only_page.get_by_text("This page is read-only")).to_be_visible()
    assert past.shown is not None


def test_a_link_names_the_time(past, page, url, tabs):
    past.show(1.5)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=url.rstrip("/"))

    def copied() -> str:
        page.get_by_role("button", name="Copy a link to this view and state").click()
        return page.evaluate("navigator.clipboard.readText()")

    eventually(lambda: "view=" in copied())
    expect(page.get_by_text("Copied")).to_be_visible()
    link = copied()
    view = dict(parse_qsl(urlsplit(link).query))
    assert (link.partition("?")[0], view.pop("t")) == (url, "1.5")
    assert set(linked_camera(view["view"])["pose"]) == {
        *("lookat", "distance", "azimuth", "elevation")
    }
    past.show(None)
    page.goto(link)
    expect(page.get_by_text("the state of 1.500 s")).to_be_visible()
    page.goto(f"{url}?t=0.5")
    expect(
        page.get_by_text("The state of 0.500 s is not kept; those of 1.000 s to")
    ).to_be_visible()
    page.goto(f"{url}?t=<b>soon")
    expect(page.get_by_text("The time '<b>soon' of the link is no number")).to_be_visible()


@pytest.fixture
def run(url, served, state, clients, tmp_path):
    """The shared state of a simulation of two seconds, which pages show."""
    clients.parameters.known["output_folder"] = ParameterInfo(value=str(tmp_path / "out"))
    simulation = Simulation(load_scene("arm"))
    history = HistorySettings(length=1.0, rate=100.0)
    writer = SharedStateWriter(simulation, describe_robots, history=history)
    for _ in range(2000):
        simulation.step()
        writer.write()
    run = SharedState(writer.name)
    served.server.shared = Shared(run, clients, lambda _seconds: None)
    yield run
    served.show(state, clients)  # the server ends with the simulation
    writer.close()


def test_past_states_are_saved_as_files_that_the_browser_gets(run, page, tmp_path, failures):
    run.show(1.5)
    bar(page).get_by_role("button", name="Save", exact=True).click()
    saving = page.get_by_role("dialog", name="Save past states")
    saving.get_by_role("button", name="from here").click()
    saving.get_by_role("textbox", name="to [s]").fill("1.8")
    saving.get_by_role("textbox", name="to [s]").press("Enter")
    with page.expect_download() as saved:
        saving.get_by_role("button", name="Save Joints as CSV").click()
    (path,) = (tmp_path / "out").iterdir()
    assert saved.value.suggested_filename == path.name
    lines = saved.value.path().read_text().splitlines()
    assert lines == path.read_text().splitlines()
    times = [float(line.partition(",")[0]) for line in lines[1:]]
    assert (times[0], times[-1]) == (pytest.approx(1.5, abs=0.01), pytest.approx(1.8, abs=0.01))
    expect(saving.get_by_text(re.compile("arm_.*csv: saved"))).to_be_visible()
    with page.expect_download() as saved:
        saving.get_by_role("button", name="Download").click()
    assert saved.value.suggested_filename == path.name
    saving.get_by_role("textbox", name="to [s]").fill("soon")
    saving.get_by_role("textbox", name="to [s]").press("Enter")
    expect(page.get_by_text("'soon' is no time in seconds")).to_be_attached()
    assert "'soon' is no time in seconds" in failures.pop()
