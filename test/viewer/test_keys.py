"""Keys, mouse buttons, and the window with them."""

import re
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from fake_clients import FakeClients
from mujoco.studio.dear_imgui import dear_imgui as imgui
from still_state import StillState

from mujoco_ros.viewer.clients import PAUSED, PLAYING
from mujoco_ros.viewer.keys import KEYS, KeyHelp, MousePerturbation, handle_keys


@pytest.fixture
def press(monkeypatch):
    """Press a key in a run state; return the calls of clients."""

    def pressed(key, *, paused=False, factor=1.0, typing=False):
        clients = FakeClients()
        clients.simulation.status = PLAYING if paused else PAUSED  # not up to date
        monkeypatch.setattr(imgui, "GetIO", lambda: SimpleNamespace(WantCaptureKeyboard=typing))
        monkeypatch.setattr(imgui, "IsKeyChordPressed", lambda other: other == key)
        handle_keys(None, clients.simulation, SimpleNamespace(paused=paused, factor=factor))
        return clients.calls

    return pressed


def test_space_and_the_arrow_depend_on_the_shared_state_not_on_the_services(press):
    assert press(imgui.Key.Space, paused=False) == [("pause",)]
    assert press(imgui.Key.Space, paused=True) == [("play",)]
    assert press(imgui.Key.RightArrow, paused=True) == [("step", 1)]
    assert press(imgui.Key.RightArrow, paused=False) == []


def test_the_speed_is_halved_and_doubled_if_it_is_limited(press):
    assert press(imgui.Key.Minus, factor=0.5) == [("set_speed", 0.25)]
    assert press(imgui.Key.Equal, factor=0.5) == [("set_speed", 1.0)]
    assert press(imgui.Key.Equal, factor=0.0) == []


def test_backspace_resets_unless_a_text_field_takes_it(press):
    assert press(imgui.Key.Backspace) == [("reset", "time", "state")]
    assert press(imgui.Key.Backspace, typing=True) == []


DOCS = Path(__file__).resolve().parents[2] / "docs/how-to/use_the_viewer.md"
QUESTION_MARK = int(imgui.Key.Slash) | int(imgui.Key.Shift)


@pytest.fixture
def press_in_window(monkeypatch):
    """Press a key."""

    def pressed(key_help: KeyHelp, key: int, *, typing: bool = False) -> bool:
        monkeypatch.setattr(imgui, "GetIO", lambda: SimpleNamespace(WantCaptureKeyboard=typing))
        for name in ("IsKeyChordPressed", "IsKeyPressed"):
            monkeypatch.setattr(imgui, name, lambda other: int(other) == int(key))
        handled = key_help.handle_keys()
        monkeypatch.undo()
        return handled

    return pressed


@pytest.mark.parametrize("key", [QUESTION_MARK, imgui.Key.F1])
def test_a_key_opens_and_closes_the_help_and_escape_closes_it(press_in_window, key):
    key_help = KeyHelp()
    assert press_in_window(key_help, key)
    assert key_help.is_open
    assert press_in_window(key_help, imgui.Key.Escape)
    assert not key_help.is_open
    assert not press_in_window(key_help, imgui.Key.Escape), (
        "Escape has its other meanings while it is closed"
    )
    assert press_in_window(key_help, key)
    assert press_in_window(key_help, key)
    assert not key_help.is_open


def test_a_text_field_takes_the_keys(press_in_window):
    key_help = KeyHelp()
    assert not press_in_window(key_help, QUESTION_MARK, typing=True)
    assert not key_help.is_open


def test_the_window_has_all_keys_while_it_is_open(context, monkeypatch):
    texts: list[str] = []
    monkeypatch.setattr(imgui, "TextUnformatted", texts.append)
    key_help = KeyHelp()
    for is_open in (False, True):
        key_help.is_open = is_open
        for _ in range(2):
            texts.clear()
            imgui.NewFrame()
            key_help.build()
            imgui.EndFrame()
        assert bool(texts) == is_open
    assert texts == [text for row in KEYS for text in row]
    assert key_help.is_open


def test_the_keys_are_those_of_the_documentation():
    section = DOCS.read_text().partition("## Mouse and keys")[2].partition("A pull is")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    documented = [tuple(re.sub("`", "", cell) for cell in row) for row in rows[2:]]
    shown = [(purpose, keys.replace("Right arrow", "→")) for purpose, keys in KEYS]
    assert documented == shown


SCENE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <body name="hand" mocap="true" pos="0 0 1"><geom size="0.05"/></body>
    <body name="cup" pos="0.5 0 1">
      <freejoint/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.05 0 0.1" euler="40 0 0"/>
      <body name="lid" pos="0 0 0.5"><joint name="lid"/><geom size="0.05" pos="0.1 0 0"/></body>
    </body>
    <body name="post" pos="-0.5 0 0"><geom type="box" size="0.1 0.1 0.3"/></body>
  </worldbody>
</mujoco>
"""
TRANSLATE = int(mujoco.mjtPertBit.mjPERT_TRANSLATE)
ROTATE = int(mujoco.mjtPertBit.mjPERT_ROTATE)
TURNED = (0.0, 0.6, 0.8, 0.0)
AWAY = np.array([0.1, -0.05, 0.2])


@pytest.fixture(scope="module")
def state(tmp_path_factory) -> StillState:
    path = tmp_path_factory.mktemp("scene") / "scene.xml"
    path.write_text(SCENE)
    state = StillState(str(path))
    state.data.qpos[3:7] = (0.8, 0.6, 0.0, 0.0)
    mujoco.mj_forward(state.model, state.data)
    return state


@pytest.fixture
def clients() -> FakeClients:
    return FakeClients()


@pytest.fixture
def perturbation(clients, state) -> MousePerturbation:
    perturbation = MousePerturbation(clients.commands)
    perturbation.attach(state.model, state.layout)
    return perturbation


def held(state: StillState, body: int | str, how: int) -> mujoco.MjvPerturb:
    """Return a body that is pulled 0.2 m away at a point of its surface, or turned."""
    perturb = mujoco.MjvPerturb()
    perturb.select = state.model.body(body).id
    perturb.active = how
    perturb.localpos = (0.02, -0.03, 0.1)
    perturb.localmass = 1.0
    perturb.scale = 1.0
    point = state.data.xpos[perturb.select] + state.data.xmat[perturb.select].reshape(
        3, 3
    ) @ np.array(perturb.localpos)
    perturb.refpos = state.data.xpos[perturb.select] + AWAY
    perturb.refselpos = point + AWAY
    perturb.refquat = TURNED
    return perturb


def test_the_selected_point_is_pulled_to_the_mouse(perturbation, clients, state):
    perturb = held(state, "cup", TRANSLATE)
    perturbation.apply(state.model, state.data, perturb)
    ((frame, pull),) = clients.called("pull")
    assert (frame, pull.turns) == ("cup", False)
    np.testing.assert_allclose(pull.point, perturb.localpos)
    np.testing.assert_allclose(pull.position, perturb.refselpos)


def test_a_body_is_turned_by_the_orientation_of_its_inertial_frame(perturbation, clients, state):
    model = state.model
    perturbation.apply(model, state.data, held(state, "cup", ROTATE))
    ((frame, pull),) = clients.called("pull")
    assert (frame, pull.turns) == ("cup", True)
    axes = np.zeros(4)
    mujoco.mju_mulQuat(axes, pull.quat_wxyz, model.body("cup").iquat)
    assert abs(model.body("cup").iquat[0]) < 0.99
    np.testing.assert_allclose(axes, TURNED, atol=1e-12)


def test_a_fixed_body_is_not_pulled(perturbation, clients, state):
    perturbation.apply(state.model, state.data, held(state, "post", TRANSLATE))
    assert clients.calls == []


def test_a_pull_ends_once_with_the_mouse_button(perturbation, clients, state):
    perturb = held(state, "cup", TRANSLATE)
    perturbation.apply(state.model, state.data, perturb)
    perturb.active = 0
    perturbation.apply(state.model, state.data, perturb)
    perturbation.apply(state.model, state.data, perturb)
    assert clients.called("release") == [()]


def test_a_pull_ends_when_the_model_changes(perturbation, clients, state):
    perturbation.apply(state.model, state.data, held(state, "cup", TRANSLATE))
    perturbation.attach(state.model, state.layout)
    assert clients.called("release") == [()]


def test_a_mocap_body_is_moved_and_not_pulled(perturbation, clients, state):
    before = state.data.mocap_pos[0].copy()
    perturbation.apply(state.model, state.data, held(state, "hand", TRANSLATE))
    ((namespace, name, position, quat),) = clients.called("move_mocap")
    assert (namespace, name) == ("", "hand")
    np.testing.assert_allclose(position - before, AWAY, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(quat), 1.0)
    assert clients.called("pull") == []


@pytest.mark.parametrize("body", ["cup", "lid"])
def test_a_paused_free_body_is_moved_to_the_mouse_with_all_that_is_on_it(
    perturbation, clients, state, body
):
    model, data = state.model, mujoco.MjData(state.model)
    data.qpos[:] = state.data.qpos
    mujoco.mj_forward(model, data)
    perturb = held(state, body, TRANSLATE)
    number = model.body(body).id
    perturb.refpos = data.xipos[number] + AWAY
    quat = np.zeros(4)
    mujoco.mju_mulQuat(quat, data.xquat[number], model.body_iquat[number])
    perturb.refquat = quat
    perturbation.apply(model, data, perturb, paused=True)
    ((frame, position, quat),) = clients.called("set_pose")
    assert frame == "cup"
    np.testing.assert_allclose(position - state.data.qpos[:3], AWAY, atol=1e-9)
    np.testing.assert_allclose(quat, state.data.qpos[3:7], atol=1e-9)
    assert clients.called("pull") == []


def test_a_mocap_body_moves_while_paused_too(perturbation, clients, state):
    perturbation.apply(state.model, state.data, held(state, "hand", TRANSLATE), paused=True)
    assert len(clients.called("move_mocap")) == 1


def test_a_pull_ends_when_the_simulation_is_paused(perturbation, clients, state):
    perturbation.apply(state.model, state.data, held(state, "cup", TRANSLATE))
    data = mujoco.MjData(state.model)
    mujoco.mj_forward(state.model, data)
    perturbation.apply(state.model, data, held(state, "cup", TRANSLATE), paused=True)
    assert clients.called("release") == [()]
