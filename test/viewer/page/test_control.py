"""Control of pages: one at a time has it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from eventually import eventually
from nicegui import ui
from nicegui.client import Client
from playwright.sync_api import expect

from mujoco_ros.viewer.control_slot import ControlSlot
from mujoco_ros.viewer.page import session as sessions
from mujoco_ros.viewer.page.access import Role
from mujoco_ros.viewer.page.session import Session, Shared

_HIDE = """() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def short_absence(monkeypatch):
    """Let pages lose control after a short absence."""
    monkeypatch.setattr(sessions, "_ABSENT_S", 0.4)


@pytest.fixture
def another_page(tabs, url) -> Callable[[], Any]:
    @contextmanager
    def opened() -> Iterator[Any]:
        page = tabs.new_page()
        page.goto(url)
        page.wait_for_function("window.did_handshake")
        yield page
        page.close()

    return opened


def bar(page: Any) -> Any:
    return page.get_by_role("region", name="Bar", exact=True)


def button(page: Any, name: str) -> Any:
    return bar(page).get_by_role("button", name=name, exact=True)


def simulation(page: Any) -> Any:
    return page.get_by_role("tabpanel", name="Simulation")


def test_a_page_that_waits_gets_control_next():
    slot = ControlSlot()
    for page in "abc":
        slot.request(page)
    assert (slot.owner, slot.waiting) == ("a", ["b", "c"])
    slot.seize("c")
    assert (slot.owner, slot.waiting) == ("c", ["b"])
    slot.release("c")
    assert (slot.owner, slot.waiting) == ("b", [])


def test_the_first_page_has_control_and_hands_it_over(page, another_page, clients):
    reset = simulation(page).get_by_role("button", name="Reset", exact=True)
    expect(reset).to_be_enabled()
    expect(button(page, "Hand over")).to_be_hidden()
    with another_page() as other:
        other_reset = simulation(other).get_by_role("button", name="Reset", exact=True)
        expect(other_reset).to_be_disabled()
        expect(bar(other).get_by_text("another page has control")).to_be_visible()

        button(other, "Request control").click()
        expect(bar(page).get_by_text("another page requests control")).to_be_visible()
        button(page, "Keep control").click()
        expect(button(other, "Request control")).to_be_visible()
        expect(other_reset).to_be_disabled()

        button(other, "Request control").click()
        button(page, "Hand over").click()
        expect(other_reset).to_be_enabled()
        expect(reset).to_be_disabled()
        button(page, "Seize control").click()
        expect(reset).to_be_enabled()
        expect(other_reset).to_be_disabled()
    assert clients.called("reset") == []


def test_every_page_may_pause_but_only_the_one_in_control_plays(page, another_page, state, clients):
    with another_page() as other:
        button(other, "Pause").click()
        eventually(lambda: clients.called("pause") == [()], lambda: clients.calls)
        state.paused = True
        clients.simulation.status = "paused"
        expect(button(other, "Play")).to_be_disabled()
        button(page, "Play").click()
        eventually(lambda: clients.called("play") == [()], lambda: clients.calls)


def test_a_page_loses_control_while_it_is_hidden(short_absence, page, another_page):
    with another_page() as other:
        page.evaluate(_HIDE)
        button(other, "Take control").click()
        expect(simulation(other).get_by_role("button", name="Reset all")).to_be_enabled()
        expect(button(page, "Seize control")).to_be_visible()


def test_a_page_that_is_loaded_again_keeps_control(page):
    page.reload()
    expect(simulation(page).get_by_role("button", name="Reset all")).to_be_enabled()


def test_a_page_that_takes_long_to_load_takes_control_from_the_page_that_it_replaces(
    state, clients, monkeypatch
):
    shared = Shared(state, clients, lambda _seconds: None)
    monkeypatch.setattr(sessions, "_ABSENT_S", 0.0)  # it loads for longer
    before, after = (Session(shared, Client(ui.page("/")), Role.CONTROL) for _ in range(2))
    before.has_connected = True
    assert shared.control.owner is before
    monkeypatch.setattr(sessions, "_ABSENT_S", 600.0)
    after.client.tab_id = "tab"  # NiceGUI's mark of a connection
    for connected in after.client.connect_handlers:
        after.client.safe_invoke(connected)
    after.follow_control(time.monotonic())
    assert shared.control.owner is after
    for each in (before, after):
        each.client.delete()


def test_a_closed_page_releases_control(short_absence, tabs, url, another_page):
    with another_page() as first, another_page() as second:
        time.sleep(sessions._ABSENT_S)  # a newer page would replace the first one
        first.close()
        expect(button(second, "Take control")).to_be_visible()


def test_a_read_only_page_never_has_control(read_only_page):
    expect(bar(read_only_page).get_by_text("read-only")).to_be_visible()
    for name in ("Pause", "Reset all"):
        expect(
            simulation(read_only_page).get_by_role("button", name=name, exact=True)
        ).to_be_disabled()
    for name in ("Take control", "Request control", "Seize control"):
        expect(button(read_only_page, name)).to_have_count(0)
