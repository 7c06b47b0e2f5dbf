"""Pulls and selections of the mouse."""

from types import SimpleNamespace

import mujoco
import pytest
from fake_clients import FakeClients
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui
from still_state import StillState

from mujoco_ros.viewer.app import Application
from mujoco_ros.viewer.clients import ControllerInfo, ParameterInfo
from mujoco_ros.viewer.key_help import KeyHelp
from mujoco_ros.viewer.studio_windows import build_menu_bar
from mujoco_ros.viewer.web.page import PanelsHidden

FOREARM = "forearm_link"


@pytest.fixture
def state() -> StillState:
    return StillState("arm")


@pytest.fixture
def clients() -> FakeClients:
    return FakeClients()


@pytest.fixture
def app(context, state, clients, monkeypatch):
    """The application around a still simulation; tests set the mouse."""
    app = Application(state, clients)
    app.viewer = SimpleNamespace(
        model=state.model,
        data=state.data,
        model_path="simulation",
        camera=mujoco.MjvCamera(),
        perturb=mujoco.MjvPerturb(),
        vis_options=mujoco.MjvOption(),
    )
    monkeypatch.setattr(app, "handle_mouse_events", lambda: None)
    monkeypatch.setattr("mujoco_ros.viewer.app.handle_keys", lambda *_: None)
    app._on_post_model(messages.PostModelEvent(model=state.model, data=state.data, path=""))
    return app


def drag(app, monkeypatch, *, button_is_down=True):
    """Drag a link of the arm with the mouse, in one frame."""
    perturb = app.viewer.perturb
    perturb.select = mujoco.mj_name2id(app.model, mujoco.mjtObj.mjOBJ_BODY, f"arm/{FOREARM}")
    perturb.active = int(mujoco.mjtPertBit.mjPERT_TRANSLATE)
    monkeypatch.setattr(imgui, "IsMouseDown", lambda _: button_is_down)
    app.update()


def test_a_body_is_pulled_until_the_button_is_released_anywhere(app, clients, monkeypatch):
    drag(app, monkeypatch)
    drag(app, monkeypatch)
    assert [frame for frame, _ in clients.called("pull")] == [FOREARM, FOREARM]
    assert not clients.called("release")
    drag(app, monkeypatch, button_is_down=False)  # over a window, where Studio misses it
    assert app.viewer.perturb.active == 0
    assert clients.called("release") == [()]


@pytest.mark.parametrize("event", [PanelsHidden(), messages.ExitEvent()])
def test_a_pull_ends_when_the_panels_are_hidden_and_at_the_exit(app, clients, monkeypatch, event):
    drag(app, monkeypatch)
    {PanelsHidden: app._on_panels_hidden, messages.ExitEvent: app._on_exit}[type(event)](event)
    assert clients.called("release") == [()]


def test_a_replay_cannot_be_pulled(app, clients, monkeypatch):
    clients.parameters.known["at_end"] = ParameterInfo(value="pause")
    drag(app, monkeypatch)
    assert not clients.called("pull")


def test_the_selection_survives_new_colours_but_not_another_model(app, state):
    app.viewer.perturb.select = 3
    event = messages.PostModelEvent(model=state.model, data=state.data, path="")
    app._on_post_model(event)
    assert app.viewer.perturb.select == 3
    state.load("arm")
    app._on_post_model(event)
    assert app.viewer.perturb.select == 0


def test_the_menu_bar_has_the_states_of_controllers(app, clients, monkeypatch):
    known = clients.controllers.known
    known["/walk"] = ControllerInfo(name="/walk", state="STAND")
    known["/new"] = ControllerInfo(name="/new")
    texts: list[str] = []
    monkeypatch.setattr(imgui, "TextUnformatted", texts.append)
    imgui.NewFrame()
    build_menu_bar(app, KeyHelp(), known.values())
    imgui.EndFrame()
    assert texts == ["/walk is STAND"]
