"""Bodies that users drag in the scene: pulls, mocap bodies, and free bodies while paused."""

import mujoco
import numpy as np
import pytest
from fake_clients import FakeClients
from still_state import StillState

from mujoco_ros.viewer.clients import ParameterInfo
from mujoco_ros.viewer.dragged_bodies import DraggedBodies
from mujoco_ros.viewer.scene.inputs import DragPhase, Pulled

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
LOCAL = np.array([0.02, -0.03, 0.1])
AWAY = np.array([0.1, -0.05, 0.2])
TURNED = (0.0, 0.6, 0.8, 0.0)


@pytest.fixture(scope="module")
def scene(tmp_path_factory) -> StillState:
    path = tmp_path_factory.mktemp("scene") / "scene.xml"
    path.write_text(SCENE)
    state = StillState(str(path))
    state.data.qpos[3:8] = (0.8, 0.6, 0.0, 0.0, 0.7)
    mujoco.mj_forward(state.model, state.data)
    return state


@pytest.fixture
def state(scene) -> StillState:
    scene.paused = False
    return scene


@pytest.fixture
def clients() -> FakeClients:
    return FakeClients()


@pytest.fixture
def bodies(state, clients) -> DraggedBodies:
    return DraggedBodies(state, clients.commands, clients.parameters)


def dragged(state: StillState, name: str, quat=None) -> Pulled:
    """Return a drag by 0.2 m of a point at the surface of a body, or a rotation to `quat`."""
    data, body = state.data, state.model.body(name).id
    held = data.xpos[body] + data.xmat[body].reshape(3, 3) @ LOCAL
    return Pulled(
        body=body,
        phase=DragPhase.MOVE,
        rotates=quat is not None,
        local=tuple(LOCAL),
        position=tuple(held + (AWAY if quat is None else 0.0)),
        quat_wxyz=tuple(data.xquat[body] if quat is None else quat),
    )


@pytest.mark.parametrize("quat", [None, TURNED])
def test_a_body_is_pulled_at_the_selected_point_to_the_mouse_or_turned(
    bodies, clients, state, quat
):
    given = dragged(state, "cup", quat)
    bodies.drag(given)
    ((frame, pull),) = clients.called("pull")
    assert (frame, pull.turns) == ("cup", quat is not None)
    np.testing.assert_allclose(pull.point, LOCAL)
    np.testing.assert_allclose(pull.position, given.position)
    np.testing.assert_allclose(pull.quat_wxyz, given.quat_wxyz)


def test_a_pull_ends_once(bodies, clients, state):
    bodies.drag(dragged(state, "cup"))
    bodies.release()
    bodies.release()
    assert clients.called("release") == [()]


def test_a_fixed_body_is_left_alone_and_ends_the_pull_of_another_one(bodies, clients, state):
    bodies.drag(dragged(state, "post"))
    assert clients.calls == []
    bodies.drag(dragged(state, "cup"))
    bodies.drag(dragged(state, "post"))
    assert len(clients.called("pull")) == len(clients.called("release")) == 1


def test_a_body_that_the_model_lacks_is_left_alone(bodies, clients, state):
    given = dragged(state, "cup")
    bodies.drag(Pulled(**{name: getattr(given, name) for name in given.__slots__} | {"body": 99}))
    assert clients.calls == []


@pytest.mark.parametrize("paused", [False, True])
def test_a_mocap_body_is_moved_and_not_pulled(bodies, clients, state, paused):
    state.paused = paused
    bodies.drag(dragged(state, "hand"))
    ((namespace, name, position, quat),) = clients.called("move_mocap")
    assert (namespace, name) == ("", "hand")
    np.testing.assert_allclose(position - state.data.mocap_pos[0], AWAY, atol=1e-12)
    np.testing.assert_allclose(quat, state.data.mocap_quat[0], atol=1e-12)
    assert clients.called("pull") == []


@pytest.mark.parametrize("body", ["cup", "lid"])
def test_a_paused_free_body_is_moved_with_all_that_is_on_it(bodies, clients, state, body):
    state.paused = True
    bodies.drag(dragged(state, body))
    ((frame, position, quat),) = clients.called("set_pose")
    assert frame == "cup"
    np.testing.assert_allclose(position - state.data.qpos[:3], AWAY, atol=1e-9)
    np.testing.assert_allclose(quat, state.data.qpos[3:7], atol=1e-9)
    assert clients.called("pull") == []


@pytest.mark.parametrize("body", ["cup", "lid"])
def test_a_paused_free_body_turns_about_the_centre_of_mass_of_the_selected_link(
    bodies, clients, state, body
):
    state.paused = True
    bodies.drag(dragged(state, body, TURNED))
    ((_, position, quat),) = clients.called("set_pose")
    data = mujoco.MjData(state.model)
    data.qpos[:] = (*position, *quat, state.data.qpos[7])
    mujoco.mj_forward(state.model, data)
    number = state.model.body(body).id
    np.testing.assert_allclose(data.xipos[number], state.data.xipos[number], atol=1e-9)
    assert abs(data.xquat[number] @ TURNED) == pytest.approx(1.0)


def test_a_pull_ends_when_the_simulation_is_paused(bodies, clients, state):
    bodies.drag(dragged(state, "cup"))
    state.paused = True
    bodies.drag(dragged(state, "cup"))
    assert clients.called("release") == [()]


@pytest.mark.parametrize("axes", [None, "frame", "world"])
def test_a_push_acts_at_the_centre_of_mass_along_the_axes_of_the_world(
    bodies, clients, state, axes
):
    if axes is not None:
        clients.parameters.known["external_wrench_axes"] = ParameterInfo(value=axes)
    model, data, body = state.model, state.data, state.model.body("cup").id
    frame = bodies.frame_of(body)
    force, torque = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3])
    bodies.push(frame, tuple(force), tuple(torque))
    ((named, *sent),) = clients.called("push")
    assert named == frame == "cup"
    turn = np.eye(3) if axes == "world" else data.xmat[body].reshape(3, 3)
    at_origin = [turn @ vector for vector in sent]
    wanted, given = np.zeros((2, model.nv))
    mujoco.mj_applyFT(model, data, force, torque, data.xipos[body], body, wanted)
    mujoco.mj_applyFT(model, data, *at_origin, data.xpos[body], body, given)
    np.testing.assert_allclose(given, wanted, atol=1e-12)


def test_what_forces_cannot_move_is_not_pushed(bodies, clients, state):
    for name in ("hand", "post"):
        assert bodies.frame_of(state.model.body(name).id) == ""
    assert bodies.frame_of(0) == ""
    bodies.push("post", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    assert clients.calls == []
