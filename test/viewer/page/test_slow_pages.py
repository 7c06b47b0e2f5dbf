"""Pages with a slow link, and pages that sleep: what they show is not old, and nothing piles up."""

import math
import time
from collections.abc import Callable
from typing import Any

import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.sim.shared_memory.reader import Update
from mujoco_ros.viewer.clients import LogLine

SLOW = 20_000  # [bytes/s]
AGES = "[document.documentElement.dataset.lagS, document.documentElement.dataset.panelsLagS]"


@pytest.fixture
def moving(state, monkeypatch) -> None:
    """Let the arm move, in the time of the test."""
    begin = time.monotonic()

    def update() -> Update:
        state.time = time.monotonic() - begin
        state.data.qpos[:6] = 0.5 * math.sin(3.0 * state.time)
        return Update.STATE

    monkeypatch.setattr(state, "update", update)


@pytest.fixture
def browser_of(page) -> Callable[..., Any]:
    """Return what sends a command of the DevTools protocol to the browser of the page."""
    session = page.context.new_cdp_session(page)
    return session.send


def shown_time(page: Any) -> float:
    text = page.get_by_role("region", name="Bar").locator(".figure").inner_text()
    return float(text.removesuffix(" s"))


@pytest.mark.usefixtures("moving")
def test_a_link_of_20_kilobytes_a_second_shows_fewer_frames_but_no_old_ones(
    page, served, state, browser_of
):
    (link,) = served.server._scene.links.values()
    limits = {"offline": False, "latency": 50, "uploadThroughput": SLOW}
    browser_of("Network.enable")
    browser_of("Network.emulateNetworkConditions", {**limits, "downloadThroughput": SLOW})
    eventually(lambda: link.age(time.monotonic()) > 0.1, lambda: "the link is not slow")
    before = link._sequence
    for _ in range(10):
        page.wait_for_timeout(300)
        assert max(map(float, page.evaluate(AGES))) < 3.0
        assert state.time - shown_time(page) < 3.0
    assert link._sequence > before


@pytest.mark.usefixtures("moving")
def test_nothing_is_sent_to_a_page_that_sleeps_and_it_wakes_with_the_present_state(
    page, served, state, clients, browser_of
):
    (link,) = served.server._scene.links.values()
    browser_of("Debugger.enable")
    browser_of("Debugger.pause")  # a browser without a window freezes no page otherwise
    try:
        eventually(lambda: time.monotonic() - link.heard_at > 3.5, lambda: "it does not sleep")
        sent, waiting = link._sequence, len(link._outgoing)
        for n in range(1, 3001):
            line = LogLine(number=n, time=1.0, level=20, node="node", text=f"line {n}")
            clients.lines.append(line)
        time.sleep(1.5)
        assert (link._sequence, len(link._outgoing)) == (sent, waiting)
        ((session, _layout),) = served.server._layouts.values()
        appended = [len(each.get("append", ())) for each in session.feed._changes.values()]
        assert max(appended, default=0) <= 1000
    finally:
        browser_of("Debugger.resume")
        browser_of("Debugger.disable")
    eventually(lambda: link._sequence > sent, lambda: "no frame after sleep")
    eventually(lambda: state.time - shown_time(page) < 1.0)
    expect(page.get_by_text("line 3000")).to_be_visible()
