"""The handles of the selected interactive marker."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from fake_clients import FakeClients
from still_state import StillState

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.marker_descriptions import (
    ControlOrientation,
    InteractionMode,
    InteractiveMarkerInfo,
    MarkerControl,
    MarkerKey,
    MarkerServerInfo,
)
from mujoco_ros.viewer.marker_handles import MarkerHandles, marker_controls

GOAL = MarkerKey("/planner", "goal")
HALF = np.sqrt(0.5)
ABOUT_Z = np.array([HALF, 0.0, 0.0, HALF])  # a quarter turn
START = Pose(position=np.array([0.1, 0.2, 0.3]), quat_wxyz=ABOUT_Z)


def goal(*controls: MarkerControl, frame: str = "world") -> InteractiveMarkerInfo:
    return InteractiveMarkerInfo(
        name="goal",
        description="",
        frame=frame,
        pose=START,
        initial_quat=np.array([1.0, 0.0, 0.0, 0.0]),
        controls=controls,
    )


def control(mode: InteractionMode, **given) -> MarkerControl:
    return MarkerControl(name=mode.name, mode=mode, **given)


@pytest.fixture(scope="module")
def arm() -> StillState:
    state = StillState("arm")
    state.references = SimpleNamespace(q=state.data.qpos)
    return state


@pytest.fixture
def clients() -> FakeClients:
    return FakeClients()


@pytest.fixture
def handles(arm, clients) -> MarkerHandles:
    arm.shown = None
    handles = MarkerHandles(arm, clients.markers, clients.drawings)
    handles.select(GOAL)
    return handles


def serve(clients, *controls: MarkerControl, frame: str = "world") -> None:
    marker = goal(*controls, frame=frame)
    clients.markers.known = {"/planner": MarkerServerInfo(markers={"goal": marker})}


@pytest.mark.parametrize(
    ("mode", "kinds"),
    [
        (InteractionMode.MOVE_AXIS, ["move"]),
        (InteractionMode.MOVE_PLANE, ["plane"]),
        (InteractionMode.ROTATE_AXIS, ["turn"]),
        (InteractionMode.MOVE_ROTATE, ["plane", "turn"]),
        (InteractionMode.MOVE_3D, ["view", "move", "move", "move"]),
        (InteractionMode.ROTATE_3D, ["turn"] * 3),
        (InteractionMode.MOVE_ROTATE_3D, ["view", *["move"] * 3, *["turn"] * 3]),
        (InteractionMode.BUTTON, []),
    ],
)
def test_a_control_has_the_handles_of_its_mode(mode, kinds):
    assert [it.kind for it in marker_controls(goal(control(mode)), Pose())] == kinds


def test_the_axes_turn_with_the_marker_or_stay_or_face_the_camera():
    move = InteractionMode.MOVE_AXIS
    orientations = ControlOrientation
    turning, fixed, facing = marker_controls(
        goal(*(control(move, orientation=orientation) for orientation in orientations)), Pose()
    )
    np.testing.assert_allclose(turning.axis, [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(START.matrix @ fixed.axis, [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(facing.axis, [1.0, 0.0, 0.0], atol=1e-12)
    assert [it.faces_camera for it in (turning, fixed, facing)] == [False, False, True]


def test_a_plane_that_faces_the_camera_is_gripped_at_the_middle_if_that_is_free():
    plane = control(InteractionMode.MOVE_PLANE, orientation=ControlOrientation.VIEW_FACING)
    (alone,) = marker_controls(goal(plane), Pose())
    beside, *_ = marker_controls(goal(plane, control(InteractionMode.MOVE_3D)), Pose())
    assert (alone.is_central, beside.is_central) == (True, False)


def test_a_dragged_handle_moves_the_marker_in_its_frame_until_the_release(handles, clients, arm):
    serve(
        clients, control(InteractionMode.BUTTON), control(InteractionMode.MOVE_AXIS), frame="tool0"
    )
    (entry,) = handles.entries()
    assert [it.name for it in entry.controls] == ["move x 1"]
    handles.drag(entry.name, "move x 1", entry.pose)
    ((key, name, pose),) = clients.called("drag_marker")
    assert (key, name) == (GOAL, "MOVE_AXIS")
    np.testing.assert_allclose(pose.position, START.position, atol=1e-9)
    assert clients.called("release_marker") == []
    handles.release()
    handles.release()
    assert len(clients.called("release_marker")) == 1


def test_handles_of_controls_that_are_gone_do_nothing(handles, clients):
    serve(clients, control(InteractionMode.MOVE_AXIS))
    for handle in ("move x 7", "move x", ""):
        handles.drag("marker", handle, START)
    assert clients.called("drag_marker") == []


def lose_frame(clients, arm):
    serve(clients, control(InteractionMode.MOVE_AXIS), frame="moon")


def lose_server(clients, arm):
    clients.markers.known = {}


def show_past(clients, arm):
    arm.shown = SimpleNamespace()


@pytest.mark.parametrize("happens", [lose_frame, lose_server, show_past])
def test_a_motion_ends_when_the_marker_cannot_be_placed(handles, clients, arm, happens):
    serve(clients, control(InteractionMode.MOVE_AXIS))
    (entry,) = handles.entries()
    handles.drag(entry.name, "move x 0", entry.pose)
    happens(clients, arm)
    assert list(handles.entries()) == []
    assert len(clients.called("release_marker")) == 1
    assert handles.is_unplaced == (happens is lose_frame)


def test_the_handles_are_limited_in_number(handles, clients):
    free = control(InteractionMode.MOVE_ROTATE_3D)
    for count, most in ((5, 35), (6, 40)):
        serve(clients, *(replace(free, name=str(number)) for number in range(count)))
        (entry,) = handles.entries()
        assert len({it.name for it in entry.controls}) == most
        assert handles.has_more == (count == 6)
