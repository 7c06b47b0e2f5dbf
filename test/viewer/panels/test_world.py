"""The panel "World"."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from mujoco.studio import ux
from panel_frames import Frames

from mujoco_ros.viewer.clients import ParameterInfo, SpawnableInfo
from mujoco_ros.viewer.following import CameraFollows, follow, followed
from mujoco_ros.viewer.panels.world import WorldPanel

BOX = SpawnableInfo(uri="package://models/box.xml", description="A wooden box")
ARM = SpawnableInfo(uri="package://models/arm.xml", description="A robot")


@pytest.fixture
def world(context, state, clients, monkeypatch):
    clients.entities.names = ("arm", "box")
    panel = WorldPanel(state, clients)
    sent = []
    panel.viewer = SimpleNamespace(
        perturb=mujoco.MjvPerturb(), camera=mujoco.MjvCamera(), sent=sent, dispatch=sent.append
    )
    frames = Frames(panel, monkeypatch)
    frames.build(2)
    return frames


def test_names_are_requested_once_for_each_model_when_the_simulator_responds(world, clients):
    assert clients.called("refresh") == [()]
    world.build(3)
    assert clients.called("refresh") == [()]
    world.panel._model = None  # the present one is another then
    clients.simulation.status = ""
    world.build()
    assert clients.called("refresh") == [()]
    clients.simulation.status = "playing"
    world.build()
    assert clients.called("refresh") == [(), ()]


def test_a_link_is_selected_by_a_click(world, state):
    body = mujoco.mj_name2id(state.model, mujoco.mjtObj.mjOBJ_BODY, "arm/forearm_link")
    world.use("arm")
    labels = [label for label in world.seen if label.endswith(f"##{body}")]
    (label,) = labels
    assert label.strip().startswith("forearm_link")
    assert label.startswith("  "), "its parents are above it"
    world.use(label)
    assert world.panel.viewer.perturb.select == body


def test_the_camera_follows_an_entity(world, state):
    root = mujoco.mj_name2id(state.model, mujoco.mjtObj.mjOBJ_BODY, "box/box")
    sent = world.panel.viewer.sent
    world.use("Follow##box", entered=True)
    assert sent.pop() == CameraFollows(body=root)
    camera = world.panel.viewer.camera
    assert follow(state.model, state.data, camera, root) == ux.TRACKING_CAMERA_IDX
    assert followed(camera) == root
    world.use("Follow##box", entered=False)
    assert sent.pop() == CameraFollows(body=0)
    mujoco.mj_forward(state.model, state.data)
    distance = camera.distance
    assert follow(state.model, state.data, camera, 0) == ux.TUMBLE_CAMERA_IDX
    assert followed(camera) == 0
    assert camera.distance == distance
    np.testing.assert_allclose(camera.lookat, state.data.body("box/box").xipos, atol=1e-9)
    assert follow(state.model, state.data, camera, 10_000) == ux.TUMBLE_CAMERA_IDX


def test_an_entity_is_deleted_after_a_question(world, clients):
    world.use("Delete##arm")
    assert not clients.called("delete")
    world.use("Delete arm")
    assert clients.called("delete") == [("arm",)]


def test_a_model_is_listed_found_and_spawned(world, clients):
    world.use("List models")
    assert clients.called("list_spawnables") == [()]
    assert not world.seen["List models"], "one request is enough"
    clients.requests[-1].complete(True)
    clients.entities.spawnables = (ARM, BOX)
    world.build()
    assert not world.seen["Spawn"]
    world.use("##search", entered="wooden")
    assert f"arm.xml##{ARM.uri}" not in world.seen
    world.use(f"box.xml##{BOX.uri}")
    world.use("##x", entered=1.5)
    world.use("##entity", entered=" crate ")
    world.use("Spawn")
    assert clients.called("spawn") == [("crate", BOX.uri, (1.5, 0.0, 0.5))]


def test_a_replay_has_no_such_window(world, clients):
    clients.parameters.known["at_end"] = ParameterInfo(value="pause")
    assert not list(world.panel.windows())
