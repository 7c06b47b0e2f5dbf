"""What the mouse holds and has selected, whatever else is in the window."""

from types import SimpleNamespace

import mujoco
import pytest
from fake_link import FakeLink
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui
from still_state import StillState

from mujoco_ros.viewer.app import Application
from mujoco_ros.viewer.link import ParameterInfo
from mujoco_ros.viewer.web.page import Unseen

FOREARM = "forearm_link"


@pytest.fixture
def state() -> StillState:
    return StillState("arm")


@pytest.fixture
def app(context, state, monkeypatch):
    """The application around a still simulation; no mouse but what a test says."""
    app = Application(state, FakeLink())
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


def hold(app, monkeypatch, *, button_is_down=True):
    """Hold a link of the arm with the mouse, in one frame."""
    perturb = app.viewer.perturb
    perturb.select = mujoco.mj_name2id(app.model, mujoco.mjtObj.mjOBJ_BODY, f"arm/{FOREARM}")
    perturb.active = int(mujoco.mjtPertBit.mjPERT_TRANSLATE)
    monkeypatch.setattr(imgui, "IsMouseDown", lambda _: button_is_down)
    app.update()


def test_what_is_held_is_pulled_until_the_button_is_let_go_wherever_that_is(app, monkeypatch):
    hold(app, monkeypatch)
    hold(app, monkeypatch)
    assert [frame for frame, _ in app._link.called("pull")] == [FOREARM, FOREARM]
    assert not app._link.called("let_go")
    hold(app, monkeypatch, button_is_down=False)  # over a window, where Studio looks away
    assert app.viewer.perturb.active == 0
    assert app._link.called("let_go") == [()]


@pytest.mark.parametrize("event", [Unseen(), messages.ExitEvent()])
def test_what_is_held_is_let_go_when_nobody_looks_and_at_the_end(app, monkeypatch, event):
    hold(app, monkeypatch)
    {Unseen: app._on_unseen, messages.ExitEvent: app._on_exit}[type(event)](event)
    assert app._link.called("let_go") == [()]


def test_a_replay_cannot_be_pulled(app, monkeypatch):
    app._link.parameters["at_end"] = ParameterInfo(value="pause")
    hold(app, monkeypatch)
    assert not app._link.called("pull")


def test_what_is_selected_survives_new_colours_but_not_another_model(app, state):
    app.viewer.perturb.select = 3
    event = messages.PostModelEvent(model=state.model, data=state.data, path="")
    app._on_post_model(event)
    assert app.viewer.perturb.select == 3
    state.load("arm")
    app._on_post_model(event)
    assert app.viewer.perturb.select == 0
