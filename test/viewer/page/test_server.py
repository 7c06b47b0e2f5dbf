"""The server of the page goes on after a failure; if it must end, it says why."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.sim.shared_memory.reader import Update
from mujoco_ros.viewer.page import server as page_server
from mujoco_ros.viewer.page.page_address import PageAddress
from mujoco_ros.viewer.page.server import PageServer
from mujoco_ros.viewer.page.session import Shared
from mujoco_ros.viewer.settings_file import SettingsFile


def steps(served) -> dict[str, tuple[Any, str]]:
    """Return the steps of the server by what its log calls them."""
    server = served.server
    ((_session, layout),) = server._layouts.values()
    return {
        "an update of the state": (server.shared.state, "update"),
        "a drag": (server._actions, "tick"),
        "a motion of a frame": (server.shared.motion, "tick"),
        "an update of the scene": (server._scene, "update"),
        "an overlay": (server.shared.overlays, "entries"),
        "the handles of frames": (server.shared.handles, "entries"),
        "an update of declared panels": (server.shared.declared, "update"),
        "an update of a page": (layout, "tick"),
        "keeping the settings of a page": (layout, "settings"),
    }


def test_a_failure_is_logged_once_and_the_page_goes_on(
    page, served, state, failures, monkeypatch, tmp_path
):
    monkeypatch.setattr(served.server, "settings", SettingsFile(tmp_path))
    eventually(lambda: len(served.server._scene.links) == 1)
    calls: list[str] = []
    for number, (action, (part, method)) in enumerate(steps(served).items(), 1):

        def fail(*_: object, action: str = action) -> None:
            calls.append(action)
            raise ValueError(f"injected into {action}")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(part, method, fail)
            eventually(lambda action=action: calls.count(action) >= 2, lambda: calls)
        (text,) = failures
        assert text.startswith(f"{action} failed")
        assert f"injected into {action}" in text
        failures.clear()
        state.time = float(number)
        expect(page.get_by_role("region", name="Bar").get_by_text(f"{number}.00 s")).to_be_visible()


def test_a_state_is_computed_once(page, served, state, monkeypatch):
    eventually(lambda: len(served.server._scene.links) == 1)
    computed: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_server.mujoco, "mj_forward", lambda *_: computed.append(state.time))
        frames = state.beats
        eventually(lambda: state.beats > frames + 10)
        assert computed == [], "nothing moves"
        patch.setattr(state, "update_is", Update.STATE)
        eventually(lambda: len(computed) > 2)


def test_a_hidden_page_costs_little(page, served, state, monkeypatch):
    eventually(lambda: len(served.server._scene.links) == 1)
    updates: list[float] = []
    monkeypatch.setattr(state, "update_is", Update.STATE)
    monkeypatch.setattr(served.server._scene, "update", lambda: updates.append(state.time))
    eventually(lambda: updates)
    served.session.is_hidden = True
    frames = state.beats
    eventually(lambda: state.beats > frames + 1)
    updates.clear()
    eventually(lambda: state.beats > frames + 5)
    assert updates == []
    served.session.is_hidden = False
    eventually(lambda: updates)


def test_a_request_names_the_age_of_the_picture_or_of_the_panels(page, served, state, clients):
    ages: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(served.server._scene, "age", lambda _page: 3.5)
        served.server.shared = Shared(state, clients, ages.append)
        eventually(lambda: 3.5 in ages, lambda: ages)
        patch.setattr(served.server._scene, "age", lambda _page: 0.0)
        eventually(lambda: ages[-1] < 1.0, lambda: ages)


@pytest.mark.parametrize("error", [None, OSError("no socket")])
def test_a_server_that_ends_by_itself_says_so(error, state, clients, monkeypatch):
    async def serve(*_: object, **__: object) -> None:
        if error is not None:
            raise error

    monkeypatch.setattr(page_server, "_configure", lambda *_: None)
    monkeypatch.setattr(page_server._Server, "serve", serve)
    address = PageAddress("127.0.0.1", 0)
    server = PageServer(Shared(state, clients, lambda _seconds: None), address, lambda: "arm")
    # In a thread: playwright has a running loop in this one.
    with ThreadPoolExecutor(1) as thread, pytest.raises(RuntimeError, match="has ended") as raised:
        thread.submit(asyncio.run, server.run()).result()
    assert raised.value.__cause__ is error
    address.socket.close()
