"""Pulls and selections of the mouse."""

from types import SimpleNamespace

import mujoco
import pytest
from fake_clients import FakeClients
from mujoco.studio import messages, ux
from mujoco.studio.dear_imgui import dear_imgui as imgui
from still_state import StillState

from mujoco_ros.sim.shared_memory.past_states import PastState
from mujoco_ros.viewer.app import Application, build_menu_bar
from mujoco_ros.viewer.clients import ControllerInfo, ParameterInfo
from mujoco_ros.viewer.framing import CameraFollows, followed
from mujoco_ros.viewer.keys import KeyHelp
from mujoco_ros.viewer.panels.widgets import popup
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


def test_one_press_of_escape_closes_the_first_of_what_is_open(app, state, monkeypatch):
    panel = SimpleNamespace(is_open=True)
    app._panels = [SimpleNamespace(handle_escape=lambda: False), panel]
    handled: list[str] = []
    monkeypatch.setattr("mujoco_ros.viewer.app.handle_keys", lambda *_: handled.append("camera"))

    def close() -> bool:
        was_open, panel.is_open = panel.is_open, False
        return was_open

    panel.handle_escape = close
    app._help.is_open = True
    state.shown = PastState(0, 0.0)

    def frame(*, is_opened: bool = False) -> tuple[bool, ...]:
        """Return whether popup, panel, help and past state are open after a frame."""
        imgui.NewFrame()
        app.update()
        imgui.Begin("window")
        if is_opened:
            imgui.OpenPopup("popup")
        with popup("popup") as is_open:
            pass
        is_open = is_open and imgui.IsPopupOpen("popup")
        imgui.End()
        imgui.EndFrame()
        return is_open, panel.is_open, app._help.is_open, state.shown is not None

    assert frame(is_opened=True) == (True, True, True, True)
    handled.clear()
    monkeypatch.setattr(imgui, "IsKeyChordPressed", lambda key: key == imgui.Key.Escape)
    for still_open in range(3, -1, -1):
        assert frame() == tuple(at >= 4 - still_open for at in range(4))
        assert not handled
    frame()
    assert handled == ["camera"]


def change_model(app, state, xml: str, scene: str) -> None:
    """Show another model of a scene."""
    state.model = app.viewer.model = mujoco.MjModel.from_xml_string(xml)
    state.data = app.viewer.data = mujoco.MjData(state.model)
    mujoco.mj_forward(state.model, state.data)
    state.metadata, state.layout = {"scene": scene}, SimpleNamespace(robots=())
    app._perturbation.attach = lambda *_: None
    event = messages.PostModelEvent(model=state.model, data=state.data, path="")
    app._on_post_model(event)


def model_of(*names: str) -> str:
    """Return a model with a body and a camera on it for each name, one metre apart."""
    bodies = "".join(
        f'<body name="{name}" pos="{at} 0 0"><geom size="0.1"/><camera name="{name}"/></body>'
        for at, name in enumerate(names)
    )
    return f"<mujoco><worldbody>{bodies}</worldbody></mujoco>"


def test_the_camera_follows_the_same_body_in_another_model_and_stays_without_it(app, state):
    camera = app.viewer.camera
    change_model(app, state, model_of("a", "b", "c"), "arm")
    app._on_follow(CameraFollows(body=state.model.body("c").id))
    change_model(app, state, model_of("b", "c"), "arm")
    assert followed(camera) == state.model.body("c").id
    change_model(app, state, model_of("a", "b"), "arm")
    assert followed(camera) == 0
    assert app.ux_state.camera_index == ux.TUMBLE_CAMERA_IDX
    assert camera.lookat.tolist() == [1.0, 0.0, 0.0], "where the body was"


def test_the_camera_of_the_model_is_the_same_in_another_model(app, state):
    camera = app.viewer.camera
    change_model(app, state, model_of("a", "b"), "arm")
    app.ux_state.camera_index = ux.set_camera(state.model, camera, state.model.camera("b").id)
    change_model(app, state, model_of("b", "c"), "arm")
    assert app.ux_state.camera_index == camera.fixedcamid == state.model.camera("b").id
    change_model(app, state, model_of("a", "c"), "arm")
    assert app.ux_state.camera_index == ux.TUMBLE_CAMERA_IDX


def test_the_camera_keeps_its_pose_at_a_spawn_and_shows_all_of_another_world(app, state):
    camera = app.viewer.camera
    app.restore({"camera": [7.0, 0.0, 0.0, 3.0, 0.0, 0.0]})
    camera.lookat[:] = (7.0, 0.0, 0.0)
    change_model(app, state, model_of("a", "b"), "arm")
    assert camera.lookat[0] == 7.0
    app._on_follow(CameraFollows(body=1))
    change_model(app, state, model_of("a", "b", "c"), "other")
    assert followed(camera) == 0
    assert camera.lookat.tolist() == pytest.approx([1.0, 0.0, 0.0])
    assert app.settings()["camera"] is None


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
