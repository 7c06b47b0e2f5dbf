"""The panel "Targets", and the handles of targets in the scene."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from frames import Frames
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer import drag_handles as grips
from mujoco_ros.viewer.gizmo import GizmoFrame, handles
from mujoco_ros.viewer.panels.targets import Targets
from mujoco_ros.viewer.projection import ScreenProjection


class BothHandlers(Targets):
    """Builds windows and handles at once, as a viewer has it done."""

    def on_build_gui(self, event: messages.BuildGuiEvent) -> None:
        self.on_build_handles(event)
        super().on_build_gui(event)


@pytest.fixture
def frames(context, state, link, monkeypatch):
    camera = mujoco.MjvCamera()
    camera.lookat[:] = (0.1, 0.2, 0.3)
    panel = BothHandlers(state, link)
    panel.viewer = SimpleNamespace(
        model=state.model, data=state.data, camera=camera, perturb=SimpleNamespace(select=0)
    )
    frames = Frames(panel, monkeypatch)
    frames.build(2)
    return frames


def test_a_target_begins_where_the_camera_looks_or_at_the_selected_body(frames, link, state):
    assert "target/<name>/pose" in frames.text
    frames.use("Add target")
    frames.panel.viewer.perturb.select = 2
    frames.use("Add target")
    (first, where, _), (second, at_body, quat) = link.called("publish_target")
    assert (first, second) == ("target", "target2")
    np.testing.assert_array_equal(where, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(at_body, state.data.xpos[2])
    np.testing.assert_array_equal(quat, state.data.xquat[2])


def test_a_name_is_given_once_and_none_is_no_name(frames, link):
    frames.panel._name = "grasp"
    frames.use("Add target")
    frames.panel._name = "grasp"
    frames.build()
    assert not frames.seen["Add target"]
    frames.panel._name = " "
    frames.build()
    assert not frames.seen["Add target"]


def test_two_targets_of_different_names_never_share_a_topic(frames, link):
    frames.panel._name = "grasp 1"
    frames.use("Add target")
    frames.panel._name = "grasp_1"
    frames.build()
    assert not frames.seen["Add target"]
    assert "'grasp 1' has the topic of 'grasp_1', target/grasp_1/pose." in frames.texts


def test_a_target_is_removed_and_told_no_more(frames, link):
    frames.use("Add target")
    frames.use("Remove")
    assert link.called("remove_target") == [("target",)]
    assert frames.panel.targets == {}


def test_a_target_is_told_once_as_long_as_nobody_moves_it(frames, link):
    frames.use("Add target")
    frames.build(5)
    assert len(link.called("publish_target")) == 1


def test_a_dragged_handle_moves_the_target_from_where_it_began(frames, link, monkeypatch):
    frames.use("Add target")
    before = frames.panel.targets["target"]
    viewer = frames.panel.viewer
    lens = ScreenProjection.of(viewer.model, viewer.data, viewer.camera, 1280.0, 800.0)
    (held,) = (each for each in handles(before, lens) if each.name == "move z")
    goal = lens.project(held.point + 0.15 * held.way) - lens.project(held.point)
    mouse = imgui.Vec2(*goal)
    monkeypatch.setattr(grips, "_build_grip", lambda _name, handle, _lens: handle.name == "move z")
    monkeypatch.setattr(imgui, "GetMouseDragDelta", lambda *_: mouse)
    frames.build(5)  # however many frames that takes
    after = frames.panel.targets["target"]
    np.testing.assert_allclose(after.position - before.position, [0.0, 0.0, 0.15], atol=1e-5)
    assert len(link.called("publish_target")) == 2

    monkeypatch.setattr(grips, "_build_grip", lambda *_: False)
    frames.build()
    assert frames.panel.targets["target"] is after


def test_handles_are_where_nobody_sees_them_without_harm(frames):
    frames.use("Add target")
    frames.panel.put(
        "target", GizmoFrame(position=np.array([0.0, 0.0, 1e4]), quat_wxyz=np.array([1.0, 0, 0, 0]))
    )
    frames.build(2)
