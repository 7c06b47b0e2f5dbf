"""Keys that control the simulation."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from fake_clients import FakeClients
from mujoco.studio.dear_imgui import dear_imgui as imgui
from still_state import StillState

from mujoco_ros.viewer.clients import PAUSED, PLAYING
from mujoco_ros.viewer.keys import MousePerturbation, handle_keys


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
