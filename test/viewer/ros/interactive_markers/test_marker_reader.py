"""Descriptions of interactive markers, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from geometry_msgs.msg import Point, Pose, Quaternion
from marker_server_node import HALF, control, marker
from shape_ends import ends
from std_msgs.msg import Header
from visualization_msgs.msg import InteractiveMarkerControl, Marker, MenuEntry

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose as RelativePose
from mujoco_ros.viewer.message_shapes import Shape, ShapeKind
from mujoco_ros.viewer.ros.interactive_markers.marker_reader import marker_info

NAN = float("nan")
AXIS, ROTATE = InteractiveMarkerControl.MOVE_AXIS, InteractiveMarkerControl.ROTATE_AXIS
LEFT = Pose(position=Point(x=1.0), orientation=Quaternion(z=HALF, w=HALF))
"""A quarter turn to the left."""


def boxes(made: object) -> list[Shape]:
    shapes = marker_info(made).shapes
    return [it for it in shapes if it.kind is ShapeKind.BOX]


def entries(*pairs: tuple[int, int]) -> list[MenuEntry]:
    return [MenuEntry(id=it, parent_id=parent, title=str(it)) for it, parent in pairs]


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (marker(""), "a marker needs a name"),
        (marker("x" * 300), "a marker needs a name"),
        (marker("m", pose=Pose(position=Point(x=NAN))), "marker 'm' needs a valid pose"),
        (marker("m", pose=Pose(orientation=Quaternion(x=NAN))), "marker 'm' needs a valid pose"),
        (marker("m", pose=Pose(position=Point(x=1e9))), "farther than"),
        (marker("m", header=Header(frame_id="f" * 300)), "needs a frame of"),
        (marker("m", control("c", 77)), "control 'c' of marker 'm' has an unknown mode"),
        (marker("m", control("c", AXIS, orientation_mode=9)), "has an unknown mode"),
        (marker("m", control("c", AXIS, (NAN, 0.0, 0.0, 1.0))), "control 'c' of marker 'm'"),
        (marker("m", *[control("c", AXIS)] * 60), "has 61 controls; at most 50"),
        (marker("m", menu_entries=entries((1, 2), (2, 1))), "whose parents are unknown"),
        (marker("m", menu_entries=entries((1, 9))), "whose parents are unknown"),
        (marker("m", menu_entries=entries((1, 0), (1, 0))), "the same id"),
        (marker("m", menu_entries=entries((0, 0))), "id 0"),
        (
            marker("m", menu_entries=entries(*((it + 1, it) for it in range(30)))),
            "deeper than 10",
        ),
        (
            marker("m", menu_entries=entries(*((it + 1, 0) for it in range(300)))),
            "has 300 entries in its menu; at most 200",
        ),
        (
            marker("m", control("c", AXIS, markers=[Marker(type=Marker.CUBE)] * 600)),
            "more than 500 shapes",
        ),
        (marker("m", *[control("c", ROTATE)] * 40), "has 641 shapes; at most 500"),
    ],
)
def test_an_invalid_marker_is_refused_with_its_reason(made, problem):
    with pytest.raises(UserInputError, match=problem):
        marker_info(made)


@pytest.mark.parametrize("scale", [NAN, -1.0, float("inf")])
def test_an_invalid_scale_is_refused(scale):
    made = marker("m")
    made.scale = scale
    with pytest.raises(UserInputError, match="marker 'm' needs a scale"):
        marker_info(made)


def test_unprintable_characters_are_not_shown():
    made = marker(
        "m", description="a\x00b\x1b[31m\nc", menu_entries=[MenuEntry(id=1, title="\x07")]
    )
    info = marker_info(made)
    assert info.description == "a\ufffdb\ufffd[31m\nc"
    assert info.menu[0].title == "\ufffd"


def test_shapes_move_with_the_marker_or_keep_their_first_orientation():
    made = marker("m", pose=LEFT)
    made.controls[0].markers[0].pose.position.x = 0.5
    (shape,) = boxes(made)
    np.testing.assert_allclose(shape.position, [1.0, 0.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(shape.axes[:, 0], [0.0, 1.0, 0.0], atol=1e-12)


def pose_at(x: float, quarters: int = 0) -> RelativePose:
    """Return a pose at a place on the x axis, turned about z."""
    turn = 0.25 * np.pi * quarters
    quat = np.array([np.cos(turn), 0.0, 0.0, np.sin(turn)])
    return RelativePose(position=np.array([x, 0.0, 0.0]), quat_wxyz=quat)


def test_shapes_of_other_frames_are_attached_where_they_were_described_and_move_with_the_marker():
    made = marker("m", pose=LEFT)
    other = Marker(type=Marker.CUBE, header=Header(frame_id="hand"))
    same = Marker(type=Marker.CUBE, header=Header(frame_id="world"))
    made.controls[0].markers = [same, other]
    info = marker_info(made)
    np.testing.assert_allclose(info.controls[0].shapes[0].position, [0.0, 1.0, 0.0], atol=1e-12)
    first, second = (it for it in info.shapes if it.kind is ShapeKind.BOX)
    np.testing.assert_allclose(first.position, [0.0, 0.0, 0.0], atol=1e-12)
    assert (first.frame, second.frame) == ("world", "hand")
    frames = {"world": RelativePose()}
    assert second.pose(frames.get) is None, "the frame is not known yet"
    frames["hand"] = pose_at(3.0)
    np.testing.assert_allclose(second.pose(frames.get).position, [3.0, 0.0, 0.0], atol=1e-12)
    frames["hand"] = pose_at(9.0)  # it moves on, without the shape
    moved = replace(info, pose=pose_at(5.0, quarters=2))  # before, it was at 1, to the left
    _, shape = (it for it in moved.shapes if it.kind is ShapeKind.BOX)
    found = shape.pose(frames.get)
    np.testing.assert_allclose(found.position, [5.0, 2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.matrix[:, 0], [0.0, 1.0, 0.0], atol=1e-12)
    again = replace(info, frame="tool", pose=pose_at(0.0))
    frames["tool"] = pose_at(7.0, quarters=1)
    _, shape = (it for it in again.shapes if it.kind is ShapeKind.BOX)
    np.testing.assert_allclose(shape.pose(frames.get).position, [9.0, 0.0, 0.0], atol=1e-12)


def test_controls_without_shapes_have_arrows_and_circles():
    made = marker(
        "m",
        control("y", AXIS, (0.0, 0.0, HALF, HALF)),
        control("turn", ROTATE),
        control("all", InteractiveMarkerControl.MOVE_ROTATE_3D),
        pose=LEFT,
    )
    made.scale = 2.0
    info = marker_info(made)
    assert not any(it.shapes for it in info.controls[1:]), "made only when they are drawn"
    described = info.shapes
    assert [it.kind for it in described] == [ShapeKind.BOX, ShapeKind.TEXT]
    shapes = info.default_shapes
    first, second = (it for it in shapes if it.kind is ShapeKind.ARROW)
    np.testing.assert_allclose(ends(first)[1], [-0.8, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(ends(second)[1], [2.8, 0.0, 0.0], atol=1e-12)
    lines = [it for it in shapes if it.kind is ShapeKind.LINE]
    assert len(lines) == 16
    for it in lines:
        _, end = ends(it)
        assert np.linalg.norm(end - [1.0, 0.0, 0.0]) == pytest.approx(1.5)
        assert end[1] == pytest.approx(0.0, abs=1e-12)
