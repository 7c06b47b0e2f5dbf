"""What the mouse does to a body reaches the simulator."""

import mujoco
import numpy as np
import pytest
from fake_link import FakeLink
from still_state import StillState

from mujoco_ros.viewer.perturbation import Perturbation

SCENE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <body name="hand" mocap="true" pos="0 0 1"><geom size="0.05"/></body>
    <body name="cup" pos="0.5 0 1">
      <freejoint/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.05 0 0.1" euler="40 0 0"/>
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
def link() -> FakeLink:
    return FakeLink()


@pytest.fixture
def perturbation(link, state) -> Perturbation:
    perturbation = Perturbation(link)
    perturbation.attach(state.model, state.layout)
    return perturbation


def held(state: StillState, body: int | str, how: int) -> mujoco.MjvPerturb:
    """Return a body taken at a point of its surface and pulled 0.2 m away, or turned."""
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


def test_the_point_below_the_mouse_is_pulled_to_where_the_mouse_is(perturbation, link, state):
    perturb = held(state, "cup", TRANSLATE)
    perturbation.apply(state.model, state.data, perturb)
    ((frame, pull),) = link.called("pull")
    assert (frame, pull.turns) == ("cup", False)
    np.testing.assert_allclose(pull.point, perturb.localpos)
    np.testing.assert_allclose(pull.position, perturb.refselpos)


def test_a_body_is_turned_so_that_its_axes_of_inertia_are_as_the_mouse_has_them(
    perturbation, link, state
):
    model = state.model
    perturbation.apply(model, state.data, held(state, "cup", ROTATE))
    ((frame, pull),) = link.called("pull")
    assert (frame, pull.turns) == ("cup", True)
    axes = np.zeros(4)
    mujoco.mju_mulQuat(axes, pull.quat_wxyz, model.body("cup").iquat)
    assert abs(model.body("cup").iquat[0]) < 0.99
    np.testing.assert_allclose(axes, TURNED, atol=1e-12)


def test_what_cannot_move_is_not_pulled(perturbation, link, state):
    perturbation.apply(state.model, state.data, held(state, "post", TRANSLATE))
    assert link.calls == []


def test_a_pull_ends_once_with_the_mouse_button(perturbation, link, state):
    perturb = held(state, "cup", TRANSLATE)
    perturbation.apply(state.model, state.data, perturb)
    perturb.active = 0
    perturbation.apply(state.model, state.data, perturb)
    perturbation.apply(state.model, state.data, perturb)
    assert link.called("let_go") == [()]


def test_a_pull_ends_when_the_model_changes(perturbation, link, state):
    perturbation.apply(state.model, state.data, held(state, "cup", TRANSLATE))
    perturbation.attach(state.model, state.layout)
    assert link.called("let_go") == [()]


def test_a_mocap_body_goes_where_it_is_dragged_and_nothing_is_pulled(perturbation, link, state):
    before = state.data.mocap_pos[0].copy()
    perturbation.apply(state.model, state.data, held(state, "hand", TRANSLATE))
    ((namespace, name, position, quat),) = link.called("move_mocap")
    assert (namespace, name) == ("", "hand")
    np.testing.assert_allclose(position - before, AWAY, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(quat), 1.0)
    assert link.called("pull") == []
