"""The panel "World"."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from mujoco.studio import ux
from mujoco.studio.dear_imgui import dear_imgui as imgui
from panel_frames import Frames

from mujoco_ros.viewer.client_set import OfferedModel
from mujoco_ros.viewer.clients import ParameterInfo
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.framing import CameraFollows, follow, followed
from mujoco_ros.viewer.panels.world import WorldPanel

BOX = OfferedModel(uri="package://models/box.xml", description="A wooden box")
ARM = OfferedModel(uri="package://models/arm.xml", description="A robot")
ZOO = OfferedModel(uri="package://scenes/zoo.yaml", description="Many robots")
ARM_NODE, BOX_NODE = "arm (robot)###arm", "box (object)###box"


@pytest.fixture
def world(context, state, clients, monkeypatch):
    mujoco.mj_forward(state.model, state.data)
    panel = WorldPanel(state, clients, EntityDisplays(state))
    sent = []
    panel.viewer = SimpleNamespace(
        perturb=mujoco.MjvPerturb(),
        camera=mujoco.MjvCamera(),
        sent=sent,
        dispatch=sent.append,
        data=state.data,
    )
    frames = Frames(panel, monkeypatch)
    frames.build(2)
    return frames


@pytest.fixture
def arm_node(world):
    world.use(ARM_NODE)
    return world


@pytest.fixture
def box_node(world):
    world.use(BOX_NODE)
    return world


def body(state, name):
    return mujoco.mj_name2id(state.model, mujoco.mjtObj.mjOBJ_BODY, name)


def test_the_services_are_discovered_when_the_simulator_responds(world, clients):
    world.build(3)
    assert clients.called("prepare") == [()]
    clients.simulation.status = ""
    world.build()
    clients.simulation.status = "playing"
    world.build()
    assert clients.called("prepare") == [(), ()]


def test_a_link_is_selected_by_a_click(arm_node, state):
    forearm = body(state, "arm/forearm_link")
    arm_node.use("Links##arm")
    (label,) = [label for label in arm_node.seen if label.endswith(f"##{forearm}")]
    assert label.strip().startswith("forearm_link")
    assert label.startswith("  "), "its parents are above it"
    arm_node.use(label)
    assert arm_node.panel.viewer.perturb.select == forearm


def test_a_sensor_selects_its_link(arm_node, state):
    arm_node.use("Sensors##arm")
    (label,) = [label for label in arm_node.seen if label.startswith("wrist_camera (camera)")]
    arm_node.use(label)
    selected = arm_node.panel.viewer.perturb.select
    assert selected == state.model.camera("arm/wrist_camera").bodyid


def test_the_camera_follows_an_entity(box_node, state):
    world, root = box_node, body(state, "box/box")
    sent = world.panel.viewer.sent
    world.use("Follow##box", entered=True)
    assert sent.pop() == CameraFollows(body=root)
    camera = world.panel.viewer.camera
    assert follow(state.model, state.data, camera, root) == ux.TRACKING_CAMERA_IDX
    assert followed(camera) == root
    world.use("Follow##box", entered=False)
    assert sent.pop() == CameraFollows(body=0)
    distance = camera.distance
    assert follow(state.model, state.data, camera, 0) == ux.TUMBLE_CAMERA_IDX
    assert followed(camera) == 0
    assert camera.distance == distance
    np.testing.assert_allclose(camera.lookat, state.data.body("box/box").xipos, atol=1e-9)
    assert follow(state.model, state.data, camera, 10_000) == ux.TUMBLE_CAMERA_IDX


def test_switches_of_an_entity_are_kept(arm_node, state):
    panel = arm_node.panel
    for switch in ("Visual", "Collision", "Frames", "References", "Trail"):
        arm_node.use(f"{switch}##arm", entered=True)
    switches = panel.settings()["entities"]["arm"]
    deepest = switches.pop("trail")
    assert switches == {
        **dict.fromkeys(("collision", "frames", "references"), True),
        "visual": False,
    }
    assert body(state, deepest) in panel._displays.entities["arm"].bodies
    other = EntityDisplays(state)
    other.restore(panel.settings())
    assert other.display_of("arm") == panel._displays.display_of("arm")
    arm_node.use("Trail##arm", entered=False)
    assert panel._displays.display_of("arm").trail == ""


def test_an_entity_is_deleted_after_a_question(arm_node, clients):
    arm_node.use("Delete##arm")
    assert not clients.called("delete")
    arm_node.use("Delete arm")
    assert clients.called("delete") == [("arm",)]
    assert "delete: …" in arm_node.text


def test_an_entity_is_placed_by_numbers(box_node, clients, state):
    before = state.data.body("box/box").xpos.copy()
    assert not box_node.seen["Place##box"]
    box_node.use("##box.x", entered=1.25)
    box_node.use("##box.yaw", entered=90.0)
    box_node.use("Place##box")
    ((name, position, quat),) = clients.called("place")
    assert name == "box"
    np.testing.assert_allclose(position, [1.25, *before[1:]])
    np.testing.assert_allclose(quat, [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)], atol=1e-12)
    box_node.use("##box.x", entered=2.0)
    box_node.use("Present##box")
    assert not box_node.seen["Place##box"], "it shows the present pose"


def test_a_fixed_robot_cannot_be_placed(arm_node):
    assert "Place##arm" not in arm_node.seen


def test_a_robot_is_reset_to_its_initial_state_alone(arm_node, clients, state):
    state.data.qpos[:] += 0.1
    arm_node.use("Reset##arm")
    ((name, values),) = clients.called("reset_entity")
    assert name == "arm"
    joints = state.layout.robots[0].joints
    assert set(values) == {
        f"{it}.{kind}" for it in joints.names for kind in ("position", "velocity")
    }
    assert {values[f"{it}.velocity"] for it in joints.names} == {0.0}
    home = state.model.key("arm/home").qpos[joints.qpos]
    np.testing.assert_allclose([values[f"{it}.position"] for it in joints.names], home)


def test_an_object_is_reset_to_its_initial_pose(box_node, clients, state):
    box_node.use("Reset##box")
    ((_, values),) = clients.called("reset_entity")
    assert set(values) == {"box.pose", "box.twist"}
    assert values["box.twist"] == [0.0] * 6
    start = mujoco.MjData(state.model)
    mujoco.mj_kinematics(state.model, start)
    np.testing.assert_allclose(values["box.pose"][:3], start.body("box/box").xpos)


def test_a_model_is_listed_found_and_spawned(world, clients):
    world.use("List models")
    assert clients.called("list_spawnables") == [()]
    assert not world.seen["List models"], "one request is enough"
    clients.requests[-1].complete(True)
    clients.entities.spawnables = (ARM, BOX)
    world.build()
    assert not world.seen["Spawn"]
    world.use("##search model", entered="wooden")
    assert f"arm.xml##{ARM.uri}" not in world.seen
    world.use(f"box.xml##{BOX.uri}")
    world.use("##x", entered=1.5)
    world.use("##entity", entered=" crate ")
    world.use("Spawn")
    assert clients.called("spawn") == [("crate", BOX.uri, (1.5, 0.0, 0.5))]


def test_images_of_models_are_shown_when_they_are_there_and_uploaded_once(
    world, clients, monkeypatch
):
    uploads, shown = [], []
    panel = world.panel
    panel.viewer.upload_image = lambda *image: uploads.append(image) or 7
    monkeypatch.setattr(imgui, "Image", lambda texture, _size: shown.append(texture))
    clients.entities.spawnables = (ARM, BOX)
    world.build()
    assert not shown
    panel._spawn._images.found = {BOX.uri: np.zeros((72, 96, 3), np.uint8)}
    world.build(3)
    assert [it[0] for it in uploads] == [0]
    assert uploads[0][2:] == (96, 72, 3)
    assert shown == [7] * 3
    panel._spawn._images.found = {BOX.uri: np.ones((72, 96, 3), np.uint8)}
    world.build(2)
    assert [it[0] for it in uploads] == [0, 7], "a changed image has the same texture"
    world.use(f"box.xml##{BOX.uri}")
    assert panel._spawn.chosen == BOX.uri


def test_images_are_requested_once_for_each_list(world, clients, monkeypatch):
    requested = []
    monkeypatch.setattr(world.panel._images, "request", requested.append)
    clients.entities.spawnables = (ARM, BOX)
    world.build(2)
    assert not requested, "the folders of files are not known yet"
    clients.parameters.known["scene"] = ParameterInfo(value="")
    world.build(3)
    assert requested == [[ARM.uri, BOX.uri]]
    clients.entities.spawnables = (BOX,)
    world.build(3)
    assert requested[1:] == [[BOX.uri]]


def test_a_world_is_loaded_after_a_question(world, clients):
    clients.entities.worlds = (ZOO,)
    world.build()
    assert not world.seen["Load"]
    world.use(f"zoo.yaml##{ZOO.uri}")
    world.use("Load")
    assert not clients.called("load_world")
    assert "All robots, objects and past states are replaced." in world.texts
    world.use("Load zoo")
    assert clients.called("load_world") == [(ZOO.uri,)]


def test_a_replay_has_the_tree_alone(box_node, clients):
    clients.parameters.known["at_end"] = ParameterInfo(value="pause")
    box_node.build()
    assert "Visual##box" in box_node.seen
    assert not {"Delete##box", "Reset##box", "Place##box", "List models"} & set(box_node.seen)
