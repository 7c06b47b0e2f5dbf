"""The panel "Interactive markers" and the handles of a marker in the scene."""

from dataclasses import replace
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui
from panel_frames import Frames

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer import drag_handles
from mujoco_ros.viewer.marker_descriptions import (
    InteractionMode,
    InteractiveMarkerInfo,
    MarkerControl,
    MarkerKey,
    MarkerMenuEntry,
    MarkerServerInfo,
)
from mujoco_ros.viewer.panels.interactive_markers import InteractiveMarkersPanel
from mujoco_ros.viewer.web.page import PageHalted

GOAL = MarkerKey("/planner", "goal")
ROW = "##/planner: goal"
START = Pose(position=np.array([0.1, 0.2, 0.3]))


class BothHandlers(InteractiveMarkersPanel):
    """Builds windows and handles in one frame, as a viewer does."""

    def on_build_gui(self, event: messages.BuildGuiEvent) -> None:
        self.on_build_handles(event)
        super().on_build_gui(event)


def goal(frame: str = "world", *, moves: bool = True, pose: Pose = START) -> MarkerServerInfo:
    slow = MarkerMenuEntry(number=2, title="Slow")
    controls = (
        MarkerControl(name="along", mode=InteractionMode.MOVE_AXIS),
        MarkerControl(name="go", description="Plan and go", mode=InteractionMode.BUTTON),
        MarkerControl(name="menu", mode=InteractionMode.MENU),
    )
    marker = InteractiveMarkerInfo(
        name="goal",
        description="Goal of the gripper",
        frame=frame,
        pose=pose,
        initial_quat=Pose().quat_wxyz,
        controls=controls if moves else controls[1:],
        menu=(
            MarkerMenuEntry(number=1, title="Speed", entries=(slow,)),
            MarkerMenuEntry(number=3, title="Run", is_selectable=False),
        ),
    )
    return MarkerServerInfo(markers={"goal": marker}, problems=("2 markers are refused",))


@pytest.fixture
def frames(context, state, clients, monkeypatch):
    mujoco.mj_forward(state.model, state.data)
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance = (0.1, 0.2, 0.3), 2.0
    camera.azimuth, camera.elevation = 120.0, -30.0
    clients.markers.known["/planner"] = goal()
    panel = BothHandlers(state, clients.markers, clients.drawings)
    panel.viewer = SimpleNamespace(model=state.model, data=state.data, camera=camera)
    frames = Frames(panel, monkeypatch)
    frames.build(2)
    return frames


def drag_along(frames: Frames, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        drag_handles, "_build_handle", lambda _name, handle, _projection: "move" in handle.name
    )
    monkeypatch.setattr(imgui, "GetMouseDragDelta", lambda *_: imgui.Vec2(30.0, 10.0))
    frames.build()


def test_there_is_no_window_without_a_server(frames, clients):
    clients.markers.known.clear()
    frames.build()
    assert frames.texts == []


def test_markers_are_listed_with_what_their_server_refused(frames):
    assert ROW in frames.seen
    assert "/planner: goal" in frames.texts
    assert "/planner: 2 markers are refused" in frames.texts
    assert "Plan and go" not in frames.seen


def test_servers_that_are_not_shown_are_counted(frames, clients):
    assert "more servers" not in frames.text
    clients.markers.left_out = 3
    frames.build()
    assert "3 more servers are not shown." in frames.texts


def test_a_button_and_entries_of_the_menu_are_sent(frames, clients):
    frames.use(ROW)
    assert "Goal of the gripper" in frames.texts
    frames.use("Plan and go")
    frames.use("Speed", "Slow")
    assert clients.called("click_marker") == [(GOAL, "go")]
    assert clients.called("select_entry") == [(GOAL, "menu", 2)]
    assert not frames.seen["Run"], "the viewer runs no commands"


def test_a_pose_in_numbers_keeps_to_the_controls(frames, clients):
    frames.use(ROW)
    frames.use("##pose.x", entered=0.7)
    frames.use("##pose.z", entered=5.0)
    frames.use("##pose.x", entered=float("nan"))
    first, second = clients.called("place_marker")
    assert first[:2] == (GOAL, "along")
    np.testing.assert_allclose(first[2].position, [0.7, 0.2, 0.3])
    np.testing.assert_allclose(second[2].position, [0.1, 0.2, 0.3])
    assert "The marker needs a valid pose" in frames.text


def test_the_pose_of_a_marker_that_nothing_moves_is_only_shown(frames, clients):
    clients.markers.known["/planner"] = goal(moves=False)
    frames.use(ROW)
    assert not frames.seen["##pose.x"]


def test_a_dragged_handle_moves_the_marker_until_the_release(frames, clients, monkeypatch):
    clients.markers.known["/planner"] = goal("wrist_3_link")
    frames.use(ROW)
    drag_along(frames, monkeypatch)
    ((key, control, pose),) = clients.called("drag_marker")
    assert (key, control) == (GOAL, "along")
    offset = pose.position - [0.1, 0.2, 0.3]
    assert abs(offset[0]) > 1e-3
    np.testing.assert_allclose(offset[1:], 0.0, atol=1e-6)
    assert not clients.called("release_marker")
    monkeypatch.setattr(drag_handles, "_build_handle", lambda *_: False)
    frames.build()
    assert len(clients.called("release_marker")) == 1


def test_a_motion_ends_when_the_page_draws_no_more_and_continues_from_its_start(
    frames, clients, monkeypatch
):
    frames.use(ROW)
    drag_along(frames, monkeypatch)
    moved = clients.called("drag_marker")[0][2]
    clients.markers.known["/planner"] = goal(pose=moved)
    frames.panel.on_page_halted(PageHalted())
    assert len(clients.called("release_marker")) == 1
    frames.build()  # the button is down still
    first, second = (call[2] for call in clients.called("drag_marker"))
    np.testing.assert_array_equal(first.position, second.position)


def test_no_marker_is_dragged_in_a_past_state(frames, clients, state, monkeypatch):
    frames.use(ROW)
    monkeypatch.setattr(state, "shown", object())
    drag_along(frames, monkeypatch)
    assert not clients.called("drag_marker")


def test_texts_of_a_server_have_no_effect_on_the_widgets(frames, clients):
    entries = tuple(
        MarkerMenuEntry(number=it, title=title, entries=below)
        for it, (title, below) in enumerate(
            (("", ()), ("##", ()), ("%s%n", ()), ("", (MarkerMenuEntry(number=9, title="x"),)))
        )
    )
    press = MarkerControl(name="##", description="##", mode=InteractionMode.BUTTON)
    unnamed = MarkerControl(name="", mode=InteractionMode.BUTTON)
    marker = InteractiveMarkerInfo(
        name="##%n",
        description="%s%n",
        frame="world",
        pose=START,
        initial_quat=START.quat_wxyz,
        controls=(press, unnamed, press),
        menu=entries,
    )
    clients.markers.known["/planner"] = MarkerServerInfo(markers={"##%n": marker})
    frames.use("##/planner: ##%n")
    frames.use("Press")
    frames.use("%s%n")
    assert clients.called("click_marker") == [(MarkerKey("/planner", "##%n"), "")]
    assert clients.called("select_entry") == [(MarkerKey("/planner", "##%n"), "##", 2)]


def test_names_of_markers_are_shown_whole_and_in_one_line(frames, clients):
    names = ("goal##1", "goal##2", "a\nb")
    marker = goal().markers["goal"]
    clients.markers.known["/planner"] = MarkerServerInfo(
        markers={it: replace(marker, name=it, frame="c\nd") for it in names}
    )
    frames.use("##/planner: a\nb")
    broken = "a\N{REPLACEMENT CHARACTER}b"
    rows = [f"/planner: {it}" for it in (broken, "goal##1", "goal##2")]
    assert [it for it in frames.texts if it.startswith("/planner")] == rows
    assert broken in frames.texts
    assert "Pose in 'c\N{REPLACEMENT CHARACTER}d'" in frames.texts


def test_the_handles_of_a_marker_are_limited_in_number(frames, clients, monkeypatch):
    marker = goal().markers["goal"]
    free = MarkerControl(name="free", mode=InteractionMode.MOVE_ROTATE_3D)
    built = []
    monkeypatch.setattr(
        drag_handles, "_build_handle", lambda name, handle, _: built.append((name, handle.name))
    )
    for count, most in ((5, 35), (6, 40), (5, 35)):
        many = replace(marker, controls=(free,) * count)
        clients.markers.known["/planner"] = MarkerServerInfo(markers={"goal": many})
        frames.use(ROW)
        built.clear()
        frames.build()
        assert len(set(built)) == len(built) == most
        assert ("Only the first 40 handles are shown." in frames.texts) == (count == 6)


def test_a_marker_in_an_unknown_frame_and_one_that_is_gone_have_no_handles(
    frames, clients, monkeypatch
):
    frames.use(ROW)
    drag_along(frames, monkeypatch)
    clients.markers.known["/planner"] = goal("moon")
    frames.build()
    assert len(clients.called("release_marker")) == 1
    assert "Frame 'moon' is not known." in frames.texts
    clients.markers.known["/planner"] = MarkerServerInfo(markers={})
    frames.build()
    assert "The servers have no markers." in frames.texts
    assert len(clients.called("drag_marker")) == 1
