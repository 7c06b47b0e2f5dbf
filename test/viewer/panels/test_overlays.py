"""The panel "Overlays"."""

import time
from dataclasses import replace
from math import inf
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
import trimesh
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui
from panel_frames import Frames

from mujoco_ros.control.references import References
from mujoco_ros.viewer.clients import ParameterInfo
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.message_shapes import JointPath, Shape, ShapeKind, TfFrame
from mujoco_ros.viewer.panels.overlays import OverlaysPanel
from mujoco_ros.viewer.web.page import PanelsHidden


class BothHandlers(OverlaysPanel):
    """The texts in the scene, then the window."""

    def on_build_gui(self, event):
        self.on_build_texts(event)
        super().on_build_gui(event)


@pytest.fixture
def frames(context, state, clients, monkeypatch):
    mujoco.mj_forward(state.model, state.data)
    panel = BothHandlers(state, clients.parameters, clients.drawings, EntityDisplays(state))
    panel.viewer = SimpleNamespace(model=state.model, data=state.data, extra_geoms=[])
    frames = Frames(panel, monkeypatch)
    frames.build(2)
    return frames


def test_only_external_wrenches_are_drawn_by_default(frames, state):
    assert [name for name, is_shown in frames.panel.shown.items() if is_shown] == [
        "External wrenches"
    ]
    assert frames.panel.viewer.extra_geoms == []
    state.data.xfrc_applied[2, 0] = 50.0
    frames.build(3)
    assert len(frames.panel.viewer.extra_geoms) == 1  # not more with each frame
    frames.use("External wrenches", entered=False)
    assert frames.panel.viewer.extra_geoms == []
    state.data.xfrc_applied[:] = 0.0


def test_the_ghost_is_drawn_of_shapes_that_the_page_can_draw(frames, state):
    state.references = References.holding(state.references.q + 0.3)
    frames.use("References", entered=True)
    kinds = {int(geom.type) for geom in frames.panel.viewer.extra_geoms}
    assert kinds
    assert kinds <= {2, 3, 4, 5, 6}  # spheres, capsules, ellipsoids, cylinders, boxes


def test_sensed_wrenches_have_the_sign_that_the_simulator_publishes(frames, clients, state):
    frames.use("Force-torque sensors", entered=True)
    (force, *_) = frames.panel.viewer.extra_geoms
    before = force.mat.reshape(3, 3)[:, 2].copy()
    clients.parameters.known["wrench_sign"] = ParameterInfo(value="parent_on_child")
    frames.build()
    (force, *_) = frames.panel.viewer.extra_geoms
    np.testing.assert_allclose(force.mat.reshape(3, 3)[:, 2], -before, atol=1e-6)


def test_an_overlay_that_fails_is_switched_off_and_the_others_continue(frames, state, caplog):
    state.data.xfrc_applied[2, 0] = 50.0
    state.references = References(np.zeros((3, 1)))  # of another model
    frames.use("References", entered=True)
    assert not frames.panel.shown["References"]
    assert "the overlay 'References' failed" in caplog.text
    assert len(frames.panel.viewer.extra_geoms) == 1
    state.data.xfrc_applied[:] = 0.0


def test_nothing_is_drawn_while_the_viewer_has_another_model(frames, state):
    state.data.xfrc_applied[2, 0] = 50.0
    other = mujoco.MjSpec().compile()
    frames.panel.viewer.model = other
    frames.build()
    assert frames.panel.viewer.extra_geoms == []
    state.data.xfrc_applied[:] = 0.0


def test_the_length_of_forces_is_set_in_millimetres(frames):
    frames.use("Force", entered=10.0)
    assert frames.panel.scale.force == pytest.approx(0.01)


def sphere(frame: str) -> Shape:
    return Shape(kind=ShapeKind.SPHERE, frame=frame, position=np.zeros(3), size=np.full(3, 0.1))


def test_messages_of_topics_are_drawn_in_their_frames(frames, clients):
    clients.drawings.newest["/plan"] = [sphere("world"), sphere("wrist_3_link"), sphere("map")]
    frames.build(2)
    geoms = frames.panel.viewer.extra_geoms
    assert len(geoms) == 2
    wrist = frames.panel.viewer.data.body("arm/wrist_3_link").xpos
    np.testing.assert_allclose(geoms[1].pos, wrist, atol=1e-6)
    assert "Frame 'map' is not known." in frames.texts
    assert clients.drawings.needed == {"map"}


def test_texts_of_markers_are_written_at_their_place(frames, clients, state, monkeypatch):
    written = []

    canvas = SimpleNamespace(
        AddText=lambda place, _colour, text: written.append((place.x, place.y, text))
    )
    monkeypatch.setattr(imgui, "GetBackgroundDrawList", lambda: canvas)
    camera = frames.panel.viewer.camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance = (0.3, 0.2, 0.1), 2.0
    camera.azimuth, camera.elevation = 45.0, 0.0  # the view goes along x and y
    at = np.array([0.3, 0.2, 0.1])
    text = Shape(kind=ShapeKind.TEXT, frame="world", position=at, text="here")
    behind = Shape(kind=ShapeKind.TEXT, frame="world", position=at + 100.0, text="behind")
    unknown = Shape(kind=ShapeKind.TEXT, frame="moon", position=at, text="lost")
    back = Shape(kind=ShapeKind.TEXT, frame="world", position=at - (9.0, 9.0, 0.0), text="back")
    clients.drawings.newest["/texts"] = [text, behind, unknown, back]
    frames.build()
    assert [it[2] for it in written] == ["here"] * 2 + ["behind"] * 2, "with a shadow each"
    assert not frames.panel.viewer.extra_geoms
    assert "Frame 'moon' is not known." in frames.texts
    size, extent = imgui.GetIO().DisplaySize, imgui.CalcTextSize("here")
    x, y, _ = written[1]
    middle = x + 0.5 * extent.x, y + 0.5 * extent.y
    assert middle == pytest.approx((0.5 * size.x, 0.5 * size.y), abs=0.5)


def test_a_topic_is_chosen_in_the_panel_and_kept(frames, clients):
    clients.drawings.topics["/scan"] = "sensor_msgs/msg/LaserScan"
    frames.build(2)
    frames.use("/scan", entered=True)
    assert clients.drawings.chosen == {"/scan": True}
    kept = frames.panel.settings()
    clients.drawings.chosen.clear()
    frames.panel.restore(kept)
    assert clients.drawings.chosen == {"/scan": True}


def test_more_shapes_than_the_page_can_draw_are_left_out(frames, clients):
    clients.drawings.newest["/cloud"] = [sphere("world")] * 2500
    frames.build(2)
    assert len(frames.panel.viewer.extra_geoms) == 1024
    assert "More than 1024 shapes are not drawn." in frames.texts


def test_meshes_of_markers_are_drawn_from_the_folders_that_clients_may_name(
    frames, clients, tmp_path, monkeypatch
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
    frames.build(2)
    assert not frames.panel._meshes.problems, "the folders are not known yet"
    clients.parameters.known["client_folders"] = ParameterInfo(value=(str(tmp_path),))
    deadline = time.monotonic() + 120.0
    while not frames.panel.viewer.extra_geoms or not frames.panel._meshes.problems:
        frames.build()
        assert time.monotonic() < deadline
    frames.build(2)
    assert len(frames.panel.viewer.extra_geoms) == 12
    (refused,) = (it for it in frames.texts if it.startswith("Mesh"))
    assert "not in a folder of which clients may name files" in refused
    assert refused.endswith("the parameter 'client_folders' adds others")
    frames.panel.on_exit(messages.ExitEvent())


def test_meshes_are_complete_when_another_topic_leaves_room(frames, clients, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "box.stl")
    ones = np.ones(3)
    mesh = Shape(
        kind=ShapeKind.MESH,
        frame="world",
        position=np.zeros(3),
        size=ones,
        mesh=f"file://{tmp_path}/box.stl",
    )
    clients.parameters.known["client_folders"] = ParameterInfo(value=(str(tmp_path),))
    clients.drawings.newest["/first"] = [sphere("world")] * 1000
    clients.drawings.newest["/parts"] = [mesh] * 10
    deadline = time.monotonic() + 120.0
    while len(frames.panel.viewer.extra_geoms) < 1024:
        frames.build()
        assert time.monotonic() < deadline
    frames.build()
    assert "More than 1024 shapes are not drawn." in frames.texts
    del clients.drawings.newest["/first"]
    frames.build()
    assert len(frames.panel.viewer.extra_geoms) == 120
    assert "More than 1024 shapes are not drawn." not in frames.texts
    frames.panel.on_exit(messages.ExitEvent())


def test_texts_count_among_the_shapes_that_the_page_can_draw(frames, clients, monkeypatch):
    text = Shape(kind=ShapeKind.TEXT, frame="world", position=np.zeros(3), text="here")
    monkeypatch.setattr(frames.panel, "on_build_texts", lambda _: None)
    clients.drawings.newest["/names"] = [text] * 600
    clients.drawings.newest["/others"] = [text] * 400 + [sphere("world")] * 400
    clients.drawings.newest["/rest"] = [text] * 10
    frames.build(2)
    assert len(frames.panel._texts) == 1000
    assert len(frames.panel.viewer.extra_geoms) == 24
    assert "More than 1024 shapes are not drawn." in frames.texts


def test_all_tf_frames_are_drawn_on_request(frames, clients, state, monkeypatch):
    written: list[str] = []
    canvas = SimpleNamespace(AddText=lambda _place, _colour, text: written.append(text))
    monkeypatch.setattr(imgui, "GetBackgroundDrawList", lambda: canvas)
    frames.panel.viewer.camera = mujoco.MjvCamera()
    frames.panel.viewer.camera.distance = 10.0
    rotation = np.array([1.0, 0.0, 0.0, 0.0])
    clients.drawings.frames["lens"] = TfFrame("wrist_3_link", np.zeros(3), rotation)
    frames.build()
    assert not frames.panel.viewer.extra_geoms
    assert clients.drawings.needed == set()
    frames.use("TF frames", entered=True)
    frames.build()
    assert clients.drawings.needed is None
    assert {"lens", "wrist_3_link", "world"} <= set(written)
    assert len(frames.panel.viewer.extra_geoms) == 3 * len(set(written))
    frames.panel.on_panels_hidden(PanelsHidden())
    assert clients.drawings.needed == set(), "no page is open"


def test_a_trajectory_is_drawn_until_it_ends(frames, clients):
    path = JointPath(("elbow_joint",), np.array([[0.5], [1.0], [1.2]]), inf)
    clients.drawings.paths["/joint_trajectory"] = path
    frames.build(2)
    assert len(frames.panel.viewer.extra_geoms) == 3
    clients.drawings.paths.clear()
    frames.build()
    assert not frames.panel.viewer.extra_geoms


def test_contacts_are_listed_with_their_forces(frames, state):
    assert not any(it.endswith(" N") for it in frames.texts)
    frames.use("Contacts", entered=True)
    for _ in range(200):
        mujoco.mj_step(state.model, state.data)
    frames.build(2)
    forces = [float(it.removesuffix(" N")) for it in frames.texts if it.endswith(" N")]
    assert forces == sorted(forces, reverse=True)
    box = state.data.body("box/box")
    weight = 9.81 * float(state.model.body_mass[box.id])
    listed = list(frames.texts)
    rows = [index for index, it in enumerate(listed) if it == "box/box"]
    assert len(rows) == 4, "the corners of the box"
    on_box = [float(next(it for it in listed[row:] if it.endswith(" N"))[:-2]) for row in rows]
    assert sum(on_box) == pytest.approx(weight, rel=0.2)
    state.data.ncon = 0
