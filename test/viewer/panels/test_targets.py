"""The panel "Targets" and the handles of targets in the scene."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui
from panel_frames import Frames

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer import drag_handles
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.drag_handles import handles
from mujoco_ros.viewer.framing import ScreenProjection
from mujoco_ros.viewer.panels.targets import TargetsPanel


class BothHandlers(TargetsPanel):
    """Builds windows and handles in one frame, as a viewer does."""

    def on_build_gui(self, event: messages.BuildGuiEvent) -> None:
        self.on_build_handles(event)
        super().on_build_gui(event)


@pytest.fixture
def frames(context, state, clients, monkeypatch):
    camera = mujoco.MjvCamera()
    camera.lookat[:] = (0.1, 0.2, 0.3)
    panel = BothHandlers(state, clients.commands)
    panel.viewer = SimpleNamespace(
        model=state.model, data=state.data, camera=camera, perturb=SimpleNamespace(select=0)
    )
    frames = Frames(panel, monkeypatch)
    frames.build(2)
    return frames


def test_a_target_starts_at_the_centre_of_the_view_or_at_the_selected_body(frames, clients, state):
    assert "target/<name>/pose" in frames.text
    frames.use("Add target")
    frames.panel.viewer.perturb.select = 2
    frames.use("Add target")
    (first, where, _), (second, at_body, quat) = clients.called("publish_target")
    assert (first, second) == ("target", "target2")
    np.testing.assert_array_equal(where, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(at_body, state.data.xpos[2])
    np.testing.assert_array_equal(quat, state.data.xquat[2])


def test_a_name_is_used_once_and_is_not_empty(frames, clients):
    frames.use("##name", entered="grasp")
    frames.use("Add target")
    frames.use("##name", entered="grasp")
    frames.build()
    assert not frames.seen["Add target"]
    frames.use("##name", entered=" ")
    frames.build()
    assert not frames.seen["Add target"]


def test_two_targets_of_different_names_never_share_a_topic(frames, clients):
    frames.use("##name", entered="grasp 1")
    frames.use("Add target")
    frames.use("##name", entered="grasp_1")
    frames.build()
    assert not frames.seen["Add target"]
    assert "'grasp 1' has the topic of 'grasp_1', target/grasp_1/pose." in frames.texts


def test_a_removed_target_is_not_published(frames, clients):
    frames.use("Add target")
    frames.use("Remove")
    assert clients.called("remove_target") == [("target",)]
    assert frames.panel.targets == {}


def test_a_target_that_does_not_move_is_published_once(frames, clients):
    frames.use("Add target")
    frames.build(5)
    assert len(clients.called("publish_target")) == 1


def test_the_last_target_has_the_command_that_does_the_same(frames, clients, monkeypatch):
    request = Request("move target a", ok=True, message="published", command="ros2 topic pub")
    monkeypatch.setattr(clients.commands, "publish_target", lambda *_: request)
    frames.use("Add target")
    assert {"move target a: published", "ros2 topic pub"} <= set(frames.texts)
    assert frames.seen["Copy"]
    frames.use("Remove")
    assert "Copy" not in frames.seen


def test_a_dragged_handle_moves_the_target_from_its_start(frames, clients, monkeypatch):
    frames.use("Add target")
    before = frames.panel.targets["target"]
    viewer = frames.panel.viewer
    projection = ScreenProjection.of_camera(viewer.model, viewer.data, viewer.camera, 1280.0, 800.0)
    (held,) = (each for each in handles(before, projection) if each.name == "move z")
    goal = projection.project(held.point + 0.15 * held.direction)
    goal -= projection.project(held.point)
    mouse = imgui.Vec2(*goal)
    monkeypatch.setattr(
        drag_handles, "_build_handle", lambda _name, handle, _projection: handle.name == "move z"
    )
    monkeypatch.setattr(imgui, "GetMouseDragDelta", lambda *_: mouse)
    frames.build(5)  # for any number of frames
    after = frames.panel.targets["target"]
    np.testing.assert_allclose(after.position - before.position, [0.0, 0.0, 0.15], atol=1e-5)
    assert len(clients.called("publish_target")) == 2

    monkeypatch.setattr(drag_handles, "_build_handle", lambda *_: False)
    frames.build()
    assert frames.panel.targets["target"] is after


def test_handles_behind_the_camera_do_no_harm(frames):
    frames.use("Add target")
    frames.panel.put(
        "target", Pose(position=np.array([0.0, 0.0, 1e4]), quat_wxyz=np.array([1.0, 0, 0, 0]))
    )
    frames.build(2)
