"""The page of a still simulation in a browser, with clients that record."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import mujoco
import numpy as np
import pytest
from fake_clients import FakeClients
from playwright.sync_api import expect
from still_state import StillState, no_past

from mujoco_ros.control.references import References
from mujoco_ros.viewer.page.server import PageServer
from mujoco_ros.viewer.page.session import Shared
from mujoco_ros.viewer.web.page_address import PageAddress

_LIMIT_MS = 30_000
expect.set_options(timeout=_LIMIT_MS)


@pytest.fixture(scope="session")
def arm() -> StillState:
    return StillState("arm")


@pytest.fixture
def state(arm) -> StillState:
    """The arm at its joint references."""
    mujoco.mj_resetData(arm.model, arm.data)
    joints = [robot.joints for robot in arm.layout.robots]
    arm.references = References.holding(np.concatenate([arm.data.qpos[j.qpos] for j in joints]))
    arm.time, arm.factor, arm.paused = 0.0, 1.0, False
    arm.past, arm.shown = no_past(), None
    return arm


@pytest.fixture
def clients() -> FakeClients:
    return FakeClients()


@pytest.fixture(scope="session")
def served(arm) -> Iterator[tuple[PageServer, PageAddress]]:
    """A server in a thread of its own: NiceGUI has one application in a process."""
    address, created, failures = PageAddress("127.0.0.1", 0), [], []
    started, loop = threading.Event(), asyncio.new_event_loop()

    async def run() -> None:
        shared = Shared(arm, FakeClients(), lambda _seconds: None)
        created.append(PageServer(shared, address, lambda: "arm"))
        started.set()
        await created[0].run()

    def serve() -> None:
        try:
            loop.run_until_complete(run())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert started.wait(30.0)
    yield created[0], address
    loop.call_soon_threadsafe(created[0].end)
    thread.join(10.0)
    assert not thread.is_alive(), "the server has not ended"
    assert not failures, failures


@pytest.fixture
def url(served, state, clients) -> str:
    """The address of the page that shows `state` and sends requests to `clients`."""
    server, address = served
    server.shared = Shared(state, clients, lambda _seconds: None)
    return address.url


@pytest.fixture
def page(tabs, url) -> Iterator[Any]:
    """The page, connected; a test fails if its console has an error."""
    yield from _opened(tabs, url)


@pytest.fixture
def read_only_page(tabs, url) -> Iterator[Any]:
    """The page without control, connected."""
    yield from _opened(tabs, f"{url}watch")


def _opened(tabs: Any, url: str) -> Iterator[Any]:
    page = tabs.new_page()
    page.set_default_timeout(_LIMIT_MS)
    page.set_viewport_size({"width": 1280, "height": 800})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.goto(url)
    page.wait_for_function("window.did_handshake && +document.documentElement.dataset.lagS >= 0")
    yield page
    page.close()
    assert errors == []


@pytest.fixture
def panel(page) -> Callable[[str], Any]:
    """Return the body of the panel with a title, selected first."""

    def selected(title: str) -> Any:
        page.get_by_role("tab", name=title, exact=True).click()
        return page.get_by_role("tabpanel", name=title, exact=True)

    return selected
