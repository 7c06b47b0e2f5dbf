"""What is drawn over the scene."""

import time
from dataclasses import replace
from math import inf

import mujoco
import numpy as np
import pytest
import trimesh
from fake_clients import FakeClients
from still_state import StillState

from mujoco_ros.control.references import References
from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.clients import ParameterInfo
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.message_shapes import JointPath, Shape, ShapeKind, TfFrame
from mujoco_ros.viewer.overlays.drawn_overlays import DrawnOverlays

FULL = "More than 1024 shapes are not drawn."


@pytest.fixture(scope="module")
def arm():
    return StillState("arm")


@pytest.fixture
def state(arm):
    mujoco.mj_resetData(arm.model, arm.data)
    joints = [robot.joints for robot in arm.layout.robots]
    arm.references = References.holding(np.concatenate([arm.data.qpos[j.qpos] for j in joints]))
    mujoco.mj_forward(arm.model, arm.data)
    return arm


@pytest.fixture
def clients():
    return FakeClients()


@pytest.fixture
def overlays(state, clients):
    created = DrawnOverlays(state, clients.parameters, clients.drawings, EntityDisplays(state))
    yield created
    created.close()


def sphere(frame: str) -> Shape:
    return Shape(kind=ShapeKind.SPHERE, frame=frame, position=np.zeros(3), size=np.full(3, 0.1))


def test_only_external_wrenches_are_drawn_by_default(overlays, state):
    assert [name for name, is_shown in overlays.shown.items() if is_shown] == ["External wrenches"]
    assert not overlays.entries().geoms
    state.data.xfrc_applied[2, 0] = 50.0
    assert len(overlays.entries().geoms) == 1
    overlays.set_shown("External wrenches", False)
    assert not overlays.entries().geoms


def test_sensed_wrenches_have_the_sign_that_the_simulator_publishes(overlays, clients):
    overlays.set_shown("Force-torque sensors", True)
    before = overlays.entries().geoms[0].mat.reshape(3, 3)[:, 2].copy()
    clients.parameters.known["wrench_sign"] = ParameterInfo(value="parent_on_child")
    after = overlays.entries().geoms[0].mat.reshape(3, 3)[:, 2]
    np.testing.assert_allclose(after, -before, atol=1e-6)


def test_an_overlay_that_fails_is_switched_off_and_the_others_continue(overlays, state, caplog):
    state.data.xfrc_applied[2, 0] = 50.0
    state.references = References(np.zeros((3, 1)))  # of another model
    overlays.set_shown("References", True)
    assert len(overlays.entries().geoms) == 1
    assert not overlays.shown["References"]
    assert overlays.problems[0].startswith("References cannot be drawn: ")
    assert caplog.text.count("References cannot be drawn") == 1
    overlays.set_shown("References", False)
    assert not overlays.problems


def test_messages_of_topics_are_drawn_in_their_frames(overlays, clients, state):
    clients.drawings.newest["/plan"] = [sphere("world"), sphere("wrist_3_link"), sphere("map")]
    geoms = overlays.entries().geoms
    assert len(geoms) == 2
    np.testing.assert_allclose(geoms[1].pos, state.data.body("arm/wrist_3_link").xpos, atol=1e-6)
    assert overlays.problems == ["Frame 'map' is not known."]
    assert clients.drawings.needed == {"map"}


def test_texts_are_placed_in_the_scene(overlays, clients):
    at = np.array([0.3, 0.2, 0.1])
    text = Shape(kind=ShapeKind.TEXT, frame="world", position=at, text="here")
    clients.drawings.newest["/texts"] = [text, replace(text, frame="moon", text="lost")]
    (placed,) = overlays.entries().geoms
    assert placed.label == "here"
    np.testing.assert_allclose(placed.pos, at, rtol=1e-6)


def test_settings_are_kept_and_what_is_not_valid_is_left_out(overlays, clients, state):
    overlays.choose("/scan", True)
    overlays.set_shown("Contact forces", True)
    overlays.scale.force = 0.01
    kept = overlays.settings()
    clients.drawings.chosen.clear()
    other = DrawnOverlays(state, clients.parameters, clients.drawings, EntityDisplays(state))
    other.restore(kept | {"torque": 1e9, "shown": {**kept["shown"], "Wings": True}})
    assert clients.drawings.chosen == {"/scan": True}
    assert other.shown == overlays.shown
    assert (other.scale.force, other.scale.torque) == (0.01, 0.02)
    other.close()


def test_more_shapes_than_are_drawn_are_left_out(overlays, clients):
    text = Shape(kind=ShapeKind.TEXT, frame="world", position=np.zeros(3), text="here")
    clients.drawings.newest["/names"] = [text] * 600
    clients.drawings.newest["/others"] = [text] * 400 + [sphere("world")] * 400
    clients.drawings.newest["/rest"] = [text] * 10
    geoms = overlays.entries().geoms
    assert len(geoms) == 1024
    assert sum(geom.label == "here" for geom in geoms) == 1000
    assert FULL in overlays.problems
    del clients.drawings.newest["/others"]
    overlays.entries()
    assert FULL not in overlays.problems


def test_meshes_are_drawn_from_the_folders_that_clients_may_name(
    overlays, clients, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "box.stl")
    mesh = Shape(
        kind=ShapeKind.MESH,
        frame="world",
        position=np.zeros(3),
        size=np.ones(3),
        mesh=f"file://{tmp_path}/box.stl",
    )
    clients.drawings.newest["/parts"] = [mesh, replace(mesh, mesh="file:///etc/hostname")]
    overlays.entries()
    assert not overlays.problems, "the folders are not known yet"
    clients.parameters.known["client_folders"] = ParameterInfo(value=(str(tmp_path),))
    deadline = time.monotonic() + 120.0
    while len(overlays.entries().geoms) < 12 or not overlays.problems:
        time.sleep(0.02)
        assert time.monotonic() < deadline
    (refused,) = overlays.problems
    assert "not in a folder of which clients may name files" in refused


def test_all_tf_frames_are_drawn_on_request_and_none_needed_without_a_page(overlays, clients):
    clients.drawings.frames["lens"] = TfFrame("wrist_3_link", Pose())
    overlays.entries()
    assert clients.drawings.needed == set()
    overlays.set_shown("TF frames", True)
    geoms = overlays.entries().geoms
    assert clients.drawings.needed is None
    names = {geom.label for geom in geoms if geom.label}
    assert {"lens", "wrist_3_link", "world"} <= names
    assert len(geoms) == 4 * len(names)
    overlays.pause()
    assert clients.drawings.needed == set()


def test_a_trajectory_is_drawn_until_it_ends(overlays, clients):
    path = JointPath(("elbow_joint",), np.array([[0.5], [1.0], [1.2]]), inf)
    clients.drawings.paths["/joint_trajectory"] = path
    assert len(overlays.entries().geoms) == 3
    clients.drawings.paths.clear()
    assert not overlays.entries().geoms


def test_marks_of_entities_are_drawn(state, clients):
    displays = EntityDisplays(state)
    overlays = DrawnOverlays(state, clients.parameters, clients.drawings, displays)
    displays.set("box", frames=True)
    assert len(overlays.entries().geoms) == 3
    overlays.close()
