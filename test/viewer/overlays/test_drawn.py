"""Shapes of messages in the frames of a scene."""

import mujoco
import numpy as np
import pytest
from overlay_scenes import OverlayState, initial_scene

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.colours import WHITE
from mujoco_ros.viewer.message_shapes import (
    Attachment,
    Carrier,
    Shape,
    ShapeKind,
    TfFrame,
    arrow,
    line,
)
from mujoco_ros.viewer.overlays import shapes as shapes_of_scene
from mujoco_ros.viewer.overlays.drawn import Frames, drawn, tf_frames
from mujoco_ros.viewer.overlays.shapes import Scale

ONES = np.ones(3)
QUARTER = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
"""About z."""


@pytest.fixture(scope="module")
def scene() -> OverlayState:
    return initial_scene("zoo")


def shape(frame: str, **values) -> Shape:
    values = {"kind": ShapeKind.SPHERE, "position": np.zeros(3), "size": np.full(3, 0.1)} | values
    return Shape(frame=frame, **values)


def test_frames_are_bodies_free_objects_and_static_frames_on_them(scene):
    on = TfFrame("humanoid/head", Pose(position=np.array([0.1, 0.0, 0.0]), quat_wxyz=QUARTER))
    further = TfFrame("humanoid/eye", Pose(position=np.array([0.0, 0.2, 0.0]), quat_wxyz=QUARTER))
    frames = Frames(scene, {"humanoid/eye": on, "humanoid/pupil": further})
    for frame, body in (
        ("humanoid/head", "humanoid/head"),
        ("left_box", "left_box/box"),
        ("/left_arm/wrist_3_link", "left_arm/wrist_3_link"),
    ):
        pose = frames.pose(frame)
        assert pose is not None, frame
        np.testing.assert_array_equal(pose.position, scene.data.body(body).xpos)
    head = scene.data.body("humanoid/head")
    pupil = frames.pose("humanoid/pupil")
    # The eye is turned to the left, so its y axis points backwards.
    expected = head.xpos + head.xmat.reshape(3, 3) @ (0.1 - 0.2, 0.0, 0.0)
    np.testing.assert_allclose(pupil.position, expected, atol=1e-12)
    world = frames.pose("world")
    assert not world.position.any()


def test_a_map_is_placed_by_the_robot_that_another_node_localizes_in_it(scene):
    """The base of the robot is below the map, and nothing is above it."""
    odometry = TfFrame("map", Pose(position=np.array([1.0, 2.0, 0.0]), quat_wxyz=QUARTER))
    base = TfFrame("odom", Pose(position=np.array([0.5, 0.0, 0.3]), quat_wxyz=QUARTER))
    goal = TfFrame("map", Pose(position=np.array([3.0, 0.0, 0.0])))
    chain = {"odom": odometry, "humanoid/head": base, "goal": goal}
    frames = Frames(scene, chain)
    placed = frames.pose("goal")
    head = scene.data.body("humanoid/head")
    # In the map, the head is at (1, 2.5, 0.3) and turned by half a turn about z; the goal at x = 3.
    half_turn = np.diag([-1.0, -1.0, 1.0])
    expected = head.xpos + head.xmat.reshape(3, 3) @ half_turn @ (3.0 - 1.0, 0.0 - 2.5, -0.3)
    np.testing.assert_allclose(placed.position, expected, atol=1e-12)
    assert frames.others == {"goal", "map", "odom"}, "to be received"
    missing = Frames(scene, {"odom": odometry, "goal": goal})
    assert missing.pose("goal") is None
    assert missing.others == {"goal", "map", "odom"}, "the frame below odom is needed as well"


def test_unknown_frames_and_circles_of_static_frames_have_no_pose(scene):
    circle = {
        "a": TfFrame("b", Pose(position=np.zeros(3), quat_wxyz=QUARTER)),
        "b": TfFrame("a", Pose(position=np.zeros(3), quat_wxyz=QUARTER)),
    }
    frames, unknown = Frames(scene, circle), set()
    assert drawn([shape("a"), shape("map"), shape("world")], frames, unknown, Scale(), most=9)
    assert unknown == {"a", "map"}


def test_shapes_have_the_sizes_of_their_messages(scene):
    frames = Frames(scene, {})
    size, (start, end) = np.array([0.1, 0.2, 0.3]), np.array([[0.0, 0.0, 1.0], [0.3, 0.0, 1.4]])
    shapes = [shape("world", kind=kind, size=size) for kind in (*ShapeKind,)[:3]]
    shapes += [*arrow("world", start, end - start, 0.02, WHITE)]
    shapes += [*line("world", start, end, 0.02, WHITE)]
    sphere, box, cylinder, *connections = drawn(shapes, frames, set(), Scale(), most=9)
    np.testing.assert_allclose(sphere.size, size)
    np.testing.assert_allclose(box.size, size)
    np.testing.assert_allclose(cylinder.size, [0.1, 0.1, 0.2])
    expected = (*shapes_of_scene.arrow(start, end - start, 0.01, WHITE),)
    expected += (*shapes_of_scene.line(start, end, 0.01, WHITE),)
    for geom, wanted in zip(connections, expected, strict=True):
        assert geom.type == wanted.type
        for name in ("pos", "mat", "size"):
            np.testing.assert_allclose(getattr(geom, name), getattr(wanted, name), atol=1e-6)
    assert len(drawn([shape("world")] * 5, frames, set(), Scale(), most=3)) == 3


def test_a_triangle_has_its_corners_in_the_frame(scene):
    axes = np.array([[2.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    at = np.array([0.1, 0.0, 0.0])
    triangle = shape("humanoid/head", kind=ShapeKind.TRIANGLE, position=at, axes=axes, size=ONES)
    (geom,) = drawn([triangle], Frames(scene, {}), set(), Scale(), most=9)
    head = scene.data.body("humanoid/head")
    turn = head.xmat.reshape(3, 3)
    assert int(geom.type) == int(mujoco.mjtGeom.mjGEOM_TRIANGLE)
    np.testing.assert_allclose(geom.pos, head.xpos + turn @ at, atol=1e-6)
    np.testing.assert_allclose(geom.mat.reshape(3, 3), turn @ axes, atol=1e-6)
    np.testing.assert_array_equal(geom.size, ONES)


def test_a_carried_shape_is_drawn_with_its_carrier(scene):
    attachment = Attachment(frame="world", pose=Pose())
    carrier = Carrier(attachment, "world", Pose(position=np.array([0.0, 0.0, 1.0])))
    (geom,) = drawn([shape("left_box", carrier=carrier)], Frames(scene, {}), set(), Scale(), most=9)
    lifted = geom.pos - scene.data.body("left_box/box").xpos
    np.testing.assert_allclose(lifted, [0.0, 0.0, 1.0], atol=1e-6)


def test_forces_and_torques_are_as_long_as_the_scale_specifies(scene):
    scale = Scale(force=0.01, torque=0.1)
    place, vector = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 20.0])
    loads = [arrow("world", place, vector, 0.02, WHITE, load) for load in ("force", "torque")]
    shapes = [shape for load in loads for shape in load]
    geoms = drawn(shapes, Frames(scene, {}), set(), scale, most=9)
    assert [float(geom.size[2]) for geom in geoms] == pytest.approx([0.2, 2.0])


def test_all_frames_have_names(scene):
    lens = TfFrame("left_arm/wrist_3_link", Pose(quat_wxyz=QUARTER))
    frames = Frames(scene, {"lens": lens})
    assert {"world", "left_box", "humanoid/head", "lens"} <= set(frames.names)
    geoms = tf_frames(scene, frames)
    texts = [geom for geom in geoms if geom.label]
    assert len(geoms) == 4 * len(texts)
    lens = next(it for it in texts if it.label == "lens")
    wrist = scene.data.body("left_arm/wrist_3_link").xpos
    np.testing.assert_allclose(lens.pos, wrist, rtol=1e-6)
