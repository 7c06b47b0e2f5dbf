"""A page outlives its viewer; a viewer ends in time."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from simulated_page import START_MS, opened_page, simulator_with_page, viewer_of
from simulators import Simulator

pytestmark = pytest.mark.timeout(400)
LONGEST_END_S = 2.0
# What takes time on a busy machine is the end of the process, not of the server.
MARGIN_S = 8.0


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    with simulator_with_page(tmp_path_factory.mktemp("page"), viewer_port=18180) as simulator:
        yield simulator


@pytest.fixture
def page(browser: Any, running: Simulator) -> Iterator[Any]:
    with opened_page(browser, running) as page:
        yield page


def test_a_page_connects_to_the_next_viewer_and_has_control(page, running):
    killed = viewer_of(running)
    os.kill(killed, signal.SIGKILL)
    expect(page.get_by_text("reconnecting…")).to_be_visible()
    page.wait_for_event("load", timeout=START_MS)
    page.wait_for_function("window.did_handshake")
    assert viewer_of(running) != killed
    expect(page.get_by_text("reconnecting…")).to_be_hidden()
    reset = page.get_by_role("button", name="Reset all")
    expect(reset).to_be_enabled(timeout=START_MS)
    page.get_by_role("region", name="Bar").get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play").first).to_be_visible(timeout=START_MS)


def test_a_viewer_with_a_page_ends_in_time(page, running):
    ended = viewer_of(running)
    begin = time.monotonic()
    os.kill(ended, signal.SIGTERM)
    while Path(f"/proc/{ended}").exists():
        time.sleep(0.01)
    assert time.monotonic() - begin < LONGEST_END_S + MARGIN_S
