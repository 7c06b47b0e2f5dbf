"""The element of the scene, without a browser."""

from types import SimpleNamespace

import mujoco
import pytest
from nicegui import ui
from nicegui.client import Client

from mujoco_ros.viewer.page.scene_view import SceneView

ROBOT = '<body name="robot"><geom size="1"/><camera name="eye"/></body>'
BOX = '<body name="box"><geom size="1"/><camera name="other"/></body>'
POSE = {"lookat": [1.0, 2.0, 3.0], "distance": 4.0, "azimuth": 90.0, "elevation": -30.0}


def model(*bodies: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>"
    )


@pytest.fixture
def state():
    return SimpleNamespace(model=model(BOX, ROBOT), metadata={"scene": "a"})


@pytest.fixture
def view(state):
    client = Client(ui.page("/scene_view"))
    with client:
        created = SceneView(client.id, state)
        report(created, "model")
        yield created
    client.delete()


def report(view, kind, value=None):
    """Let the page report something."""
    view._note(SimpleNamespace(args={"kind": kind, "value": value}))


def look(view, **what):
    report(view, "camera", {**POSE, "followed": 0, "fixed": -1, **what})


def test_the_followed_body_and_the_camera_keep_their_names_in_another_model(view, state):
    look(view, followed=2, fixed=1)
    state.model = model(ROBOT)
    report(view, "model")
    assert (view.followed, view.fixed) == (1, 0)
    state.model = model(BOX)
    report(view, "model")
    assert (view.followed, view.fixed) == (0, -1), "neither is there any more"


def test_another_scene_begins_without_a_followed_body(view, state):
    look(view, followed=2, fixed=1)
    state.model, state.metadata = model(BOX, ROBOT), {"scene": "b"}
    report(view, "model")
    assert (view.followed, view.fixed) == (0, -1)


def test_films_have_the_camera_of_the_page(view, state):
    assert view.camera() is None
    look(view, followed=2)
    camera = view.camera()
    assert (camera.type, camera.trackbodyid) == (mujoco.mjtCamera.mjCAMERA_TRACKING, 2)
    look(view, followed=2, fixed=1)
    camera = view.camera()
    assert (camera.type, camera.fixedcamid) == (mujoco.mjtCamera.mjCAMERA_FIXED, 1)
    state.model = model()
    assert view.camera().type == mujoco.mjtCamera.mjCAMERA_FREE


def test_settings_stay_while_a_followed_body_moves(view):
    look(view, distance=9.0)
    look(view, followed=2)
    before = view.settings()
    look(view, followed=2, lookat=[1.1, 2.0, 3.0])
    assert view.settings() == before
    assert before["followed"] == "robot"
