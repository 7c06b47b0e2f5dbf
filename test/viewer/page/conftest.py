"""The page of a still simulation in a browser, with clients that record."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from fake_clients import FakeClients
from page_thread import PageThread
from playwright.sync_api import expect
from still_state import StillState, no_past

from mujoco_ros.control.references import References
from mujoco_ros.viewer.scene import scene
from mujoco_ros.viewer.scene.assets import Asset
from mujoco_ros.viewer.scene.scene import script

_LIMIT_MS = 30_000
_UNDRAWN_VIEW = Path(__file__).with_name("undrawn_view.js")
expect.set_options(timeout=_LIMIT_MS)


@pytest.fixture(scope="session")
def browser(launch: Callable[..., Any]) -> Any:
    """A browser that puts pages together without OpenGL: without scenes it costs a third less."""
    return launch("--disable-gpu-compositing")


@pytest.fixture(scope="session")
def tabs(browser: Any) -> Iterator[Any]:
    """A context of the browser, whose pages share what the browser keeps."""
    context = browser.new_context()
    context.set_default_timeout(120_000)
    yield context
    context.close()


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
def served(arm) -> Iterator[PageThread]:
    found = PageThread(arm)
    yield found
    found.close()


@pytest.fixture
def failures() -> Iterator[list[str]]:
    """What is logged as an error, which lets a test fail."""
    found: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(logging.Formatter().format(record))

    handler = Handler(logging.ERROR)
    loggers = [logging.getLogger(name) for name in ("mujoco_ros", "nicegui", "uvicorn")]
    for logger in loggers:
        logger.addHandler(handler)
    yield found
    for logger in loggers:
        logger.removeHandler(handler)
    assert found == [], "\n".join(found)


@pytest.fixture(scope="session")
def kept_tab(tabs, served) -> Any:
    """A tab that stays open: it keeps the process of pages, with its compiled scripts."""
    page = tabs.new_page()
    page.goto(f"{served.address.url}page/page.css")
    return page


@pytest.fixture
def url(served, tabs, kept_tab, state, clients, failures, monkeypatch) -> Iterator[str]:
    """The address of the page that shows `state` and sends requests to `clients`."""
    monkeypatch.setattr(scene, "script", _script)
    served.show(state, clients)
    yield served.address.url
    for page in tabs.pages:
        if page is not kept_tab:
            page.close()
    served.wait_for_the_end_of_pages()
    served.server.shared.close()


def _script(name: str) -> Asset | None:
    """Return a script of the scene, which draws nothing: that takes most time of a page."""
    if name == "view.js":
        return Asset(_UNDRAWN_VIEW.read_bytes(), "text/javascript", None)
    return script(name)


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
