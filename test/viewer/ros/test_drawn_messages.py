"""Shapes of messages."""

import struct
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion, Vector3, WrenchStamped
from nav_msgs.msg import Path
from sensor_msgs.msg import LaserScan, PointCloud2, PointField
from shape_ends import ends
from std_msgs.msg import ColorRGBA
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import Marker, MarkerArray

from mujoco_ros.viewer.message_shapes import Shape, ShapeKind
from mujoco_ros.viewer.ros.drawn_messages import (
    MOST_SHAPES,
    joint_path,
    marker_shapes,
    markers_of,
    shapes_of,
)

RED = ColorRGBA(r=1.0, a=1.0)
LEFT = Quaternion(z=float(np.sqrt(0.5)), w=float(np.sqrt(0.5)))
"""A quarter turn to the left."""


def marker(kind: int, *points: tuple[float, float, float], **fields: Any) -> Marker:
    scale = fields.pop("scale", (0.1, 0.2, 0.3))
    made = Marker(type=kind, color=RED, scale=Vector3(x=scale[0], y=scale[1], z=scale[2]), **fields)
    made.header.frame_id = "base"
    made.points = [Point(x=x, y=y, z=z) for x, y, z in points]
    return made


def shapes(message: Marker) -> tuple[Shape, ...]:
    (marker,) = markers_of(message)
    return marker_shapes(marker)


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (Marker.CUBE, ShapeKind.BOX),
        (Marker.SPHERE, ShapeKind.SPHERE),
        (Marker.CYLINDER, ShapeKind.CYLINDER),
    ],
)
def test_a_solid_has_pose_size_and_colour(kind, shape):
    pose = Pose(position=Point(x=1.0, y=2.0, z=3.0), orientation=LEFT)
    (found,) = shapes(marker(kind, pose=pose))
    assert (found.kind, found.frame, found.colour) == (shape, "base", (1.0, 0.0, 0.0, 1.0))
    np.testing.assert_array_equal(found.position, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(found.axes[:, 0], [0.0, 1.0, 0.0], atol=1e-12)
    half = {ShapeKind.CYLINDER: [0.05, 0.15, 0.15]}.get(shape, [0.05, 0.1, 0.15])
    np.testing.assert_allclose(found.size, half)


def test_lines_connect_points_in_the_frame_of_the_pose():
    corners = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.0))
    pose = Pose(position=Point(z=0.5), orientation=LEFT)
    strip = shapes(marker(Marker.LINE_STRIP, *corners, pose=pose))
    assert [it.kind for it in strip] == 3 * [ShapeKind.LINE]
    np.testing.assert_allclose(ends(strip[0])[1], [0.0, 1.0, 0.5], atol=1e-12)
    assert strip[0].size[0] == pytest.approx(0.05)
    pairs = shapes(marker(Marker.LINE_LIST, *corners))
    expected = [corners[:2], corners[2:]]
    np.testing.assert_allclose([ends(it) for it in pairs], expected, atol=1e-12)


def corners_of(triangle: Shape) -> np.ndarray:
    first, second = triangle.axes[:, 0], triangle.axes[:, 1]
    return np.array([triangle.position + it for it in (np.zeros(3), first, second)])


def test_triangles_have_the_pose_and_the_scale_of_their_marker():
    corners = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.0))
    pose = Pose(position=Point(z=0.5), orientation=LEFT)
    made = marker(Marker.TRIANGLE_LIST, *corners, *corners[:2], pose=pose, scale=(2.0, 1.0, 1.0))
    (found,) = shapes(made)
    assert (found.kind, found.frame) == (ShapeKind.TRIANGLE, "base")
    expected = [[0.0, 0.0, 0.5], [0.0, 2.0, 0.5], [-2.0, 0.0, 0.5]]
    np.testing.assert_allclose(corners_of(found), expected, atol=1e-12)
    np.testing.assert_allclose(found.axes[:, 2], [0.0, 0.0, 1.0], atol=1e-12)


def test_triangles_have_a_colour_each_or_the_mean_of_their_corners():
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)] * 2
    blue = ColorRGBA(b=0.75, a=1.0)
    each = shapes(marker(Marker.TRIANGLE_LIST, *corners, scale=(1.0, 1.0, 1.0), colors=[RED, blue]))
    assert [it.colour for it in each] == [(1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.75, 1.0)]
    colours = [RED, blue, blue, blue, blue, blue]
    mixed = shapes(marker(Marker.TRIANGLE_LIST, *corners, scale=(1.0, 1.0, 1.0), colors=colours))
    np.testing.assert_allclose(mixed[0].colour, (1.0 / 3.0, 0.0, 0.5, 1.0))
    np.testing.assert_allclose(mixed[1].colour, (0.0, 0.0, 0.75, 1.0))


def test_too_many_triangles_are_drawn_as_fewer_and_logged_once_per_namespace(caplog):
    side = 40  # squares of two triangles
    corners = [
        (float(x + dx), float(y + dy), 0.0)
        for x in range(side)
        for y in range(side)
        for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 0), (1, 1), (0, 1))
    ]
    made = marker(Marker.TRIANGLE_LIST, *corners, ns="floor", id=7, scale=(1.0, 1.0, 1.0))
    found = shapes(made)
    assert MOST_SHAPES / 2 < len(found) <= MOST_SHAPES
    area = sum(0.5 * np.linalg.norm(np.cross(*it.axes.T[:2])) for it in found)
    assert area == pytest.approx(side * side, rel=0.15)
    for number in range(3):
        made.ns, made.id = "floor\n\x1b[2J" + "a" * 1000, number
        shapes(made)
    shapes(marker(Marker.TRIANGLE_LIST, *corners[:9], ns="few"))
    assert caplog.records[0].getMessage().startswith("marker 7 of 'floor' has more than 500 tri")
    _, record = caplog.records
    assert "marker 0 of 'floor" in record.getMessage()
    assert record.getMessage().isprintable()
    assert len(record.getMessage()) < 500


def test_a_mesh_has_its_file_its_scale_and_a_colour():
    uri = "package://robot/part.dae"
    pose = Pose(position=Point(z=0.5), orientation=LEFT)
    made = marker(Marker.MESH_RESOURCE, pose=pose, mesh_resource=uri)
    made.mesh_use_embedded_materials = True
    (found,) = shapes(made)
    assert (found.kind, found.frame, found.mesh) == (ShapeKind.MESH, "base", uri)
    assert found.has_file_colour
    np.testing.assert_allclose(found.size, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(found.axes[:, 0], [0.0, 1.0, 0.0], atol=1e-12)


def test_an_arrow_has_a_pose_or_two_points():
    (by_pose,) = shapes(marker(Marker.ARROW, scale=(0.5, 0.05, 0.1)))
    np.testing.assert_allclose(ends(by_pose)[1], [0.5, 0.0, 0.0], atol=1e-12)
    assert by_pose.size[0] == pytest.approx(0.025)
    (by_points,) = shapes(marker(Marker.ARROW, (0.0, 0.0, 1.0), (0.0, 0.0, 2.0)))
    np.testing.assert_allclose(ends(by_points)[1], [0.0, 0.0, 2.0])
    assert by_points.size[0] == pytest.approx(0.05)


def test_lists_have_a_colour_each_and_are_thinned():
    points = [(float(x), 0.0, 0.0) for x in range(2)]
    blue = ColorRGBA(b=1.0, a=0.5)
    found = shapes(marker(Marker.SPHERE_LIST, *points, colors=[RED, blue]))
    assert [it.colour for it in found] == [(1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.5)]
    many = shapes(marker(Marker.POINTS, *(points * MOST_SHAPES)))
    assert 0 < len(many) <= MOST_SHAPES
    np.testing.assert_allclose(many[0].size, 0.05)


def test_messages_of_any_size_are_drawn_in_part():
    many = MarkerArray(markers=[marker(Marker.CUBE, id=number) for number in range(2000)])
    assert len(markers_of(many)) == MOST_SHAPES
    path = Path(poses=[PoseStamped(pose=Pose(position=Point(x=float(x)))) for x in range(3000)])
    shown = shapes_of("nav_msgs/msg/Path", path)
    assert MOST_SHAPES / 2 < len(shown) <= MOST_SHAPES
    assert ends(shown[-1])[1, 0] > 2900.0
    corners = [(float(x), 0.0, 0.0) for x in range(4000)]
    strip = shapes(marker(Marker.LINE_STRIP, *corners))
    assert MOST_SHAPES / 2 < len(strip) <= MOST_SHAPES
    assert ends(strip[-1])[1, 0] > 3900.0
    gaps = [ends(a)[1] - ends(b)[0] for a, b in pairwise(strip)]
    np.testing.assert_allclose(gaps, 0.0, atol=1e-9)
    pairs = shapes(marker(Marker.LINE_LIST, *corners))
    assert MOST_SHAPES / 2 < len(pairs) <= MOST_SHAPES
    assert {it.size[1] for it in pairs} == {0.5}
    scan = LaserScan(angle_increment=0.001, range_max=9.0, ranges=[1.0] * 5000)
    points = shapes_of("sensor_msgs/msg/LaserScan", scan)
    assert len(points) == MOST_SHAPES
    assert np.arctan2(points[1].position[1], points[1].position[0]) == pytest.approx(0.01)


def test_what_cannot_be_drawn_is_left_out():
    assert shapes(marker(Marker.TEXT_VIEW_FACING)) == (), "without a text"
    assert shapes(marker(Marker.MESH_RESOURCE)) == (), "it names no file"
    assert shapes(marker(Marker.MESH_RESOURCE, mesh_resource="file:///\x1b[31m")) == ()
    assert shapes(marker(Marker.MESH_RESOURCE, mesh_resource="file:///" + 5000 * "a")) == ()
    assert shapes(marker(Marker.TRIANGLE_LIST, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))) == ()
    assert shapes(marker(Marker.TRIANGLE_LIST, *[(float("nan"), 0.0, 0.0)] * 3)) == ()
    assert shapes(marker(Marker.TRIANGLE_LIST, *[(1.0, 0.0, 0.0)] * 3)) == (), "without area"
    assert shapes(marker(Marker.LINE_STRIP, (0.0, 0.0, 0.0))) == ()
    assert shapes(marker(Marker.CUBE, pose=Pose(position=Point(x=float("nan"))))) == ()
    assert shapes(marker(Marker.CUBE, scale=(float("inf"), 1.0, 1.0))) == ()
    scan = LaserScan(angle_min=float("inf"), range_max=9.0, ranges=[1.0])
    assert shapes_of("sensor_msgs/msg/LaserScan", scan) == ()


def test_a_path_is_a_line_and_a_pose_has_three_axes():
    path = Path(poses=[PoseStamped(pose=Pose(position=Point(x=float(x)))) for x in range(4)])
    path.header.frame_id = "world"
    lines = shapes_of("nav_msgs/msg/Path", path)
    np.testing.assert_allclose([ends(it)[1, 0] for it in lines], [1.0, 2.0, 3.0])
    turned = PoseStamped(pose=Pose(orientation=LEFT))
    ahead, left, up = shapes_of("geometry_msgs/msg/PoseStamped", turned)
    assert ahead.kind is ShapeKind.ARROW
    np.testing.assert_allclose(ends(ahead)[1], [0.0, 0.15, 0.0], atol=1e-12)
    np.testing.assert_allclose(ends(up)[1], [0.0, 0.0, 0.15], atol=1e-12)
    assert len({it.colour for it in (ahead, left, up)}) == 3


def test_a_scan_has_the_points_within_its_range():
    scan = LaserScan(angle_min=0.0, angle_increment=float(np.pi / 2), range_min=0.1, range_max=9.0)
    scan.ranges = [1.0, 2.0, float("inf"), 0.05, float("nan")]
    found = shapes_of("sensor_msgs/msg/LaserScan", scan)
    np.testing.assert_allclose([it.position for it in found], [(1, 0, 0), (0, 2, 0)], atol=1e-6)


@pytest.mark.parametrize(("order", "is_big"), [("<", False), (">", True)])
def test_a_cloud_has_points_at_its_offsets(order, is_big):
    rows = [(1.0, 2.0, 3.0), (float("nan"), 0.0, 0.0), (4.0, 5.0, 6.0)]
    cloud = PointCloud2(height=1, width=3, point_step=20, row_step=64, is_bigendian=is_big)
    cloud.data = b"".join(struct.pack(f"{order}ffff4x", 9.0, *row) for row in rows).ljust(64, b"\0")
    cloud.fields = [
        PointField(name=name, offset=4 * number, datatype=PointField.FLOAT32, count=1)
        for number, name in enumerate(("intensity", "x", "y", "z"))
    ]
    found = shapes_of("sensor_msgs/msg/PointCloud2", cloud)
    np.testing.assert_allclose([it.position for it in found], [rows[0], rows[2]])
    whole = cloud.data
    cloud.data = whole[:40]
    assert shapes_of("sensor_msgs/msg/PointCloud2", cloud) == ()
    cloud.data, cloud.point_step = whole, 14
    assert shapes_of("sensor_msgs/msg/PointCloud2", cloud) == ()
    cloud.point_step = 20
    cloud.fields = cloud.fields[:2]
    assert shapes_of("sensor_msgs/msg/PointCloud2", cloud) == ()


def test_a_text_has_its_place_and_a_limited_length():
    pose = Pose(position=Point(x=1.0, y=2.0, z=3.0))
    (text,) = shapes(marker(Marker.TEXT_VIEW_FACING, text="a" * 1000, pose=pose))
    assert (text.kind, text.text) == (ShapeKind.TEXT, "a" * 200)
    np.testing.assert_array_equal(text.position, (1.0, 2.0, 3.0))


def test_a_wrench_is_a_force_and_a_torque_in_its_frame():
    message = WrenchStamped()
    message.header.frame_id = "wrist"
    message.wrench.force.x, message.wrench.torque.z = 3.0, -2.0
    force, torque = shapes_of("geometry_msgs/msg/WrenchStamped", message)
    assert (force.scale, torque.scale) == ("force", "torque")
    assert {force.frame, torque.frame} == {"wrist"}
    np.testing.assert_allclose(ends(force), [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(ends(torque), [[0.0, 0.0, 0.0], [0.0, 0.0, -2.0]], atol=1e-12)
    message.wrench.force.x = np.nan
    assert len(shapes_of("geometry_msgs/msg/WrenchStamped", message)) == 1


def trajectory(*points: tuple[float, ...], seconds: int = 0) -> JointTrajectory:
    message = JointTrajectory(joint_names=["elbow"])
    message.points = [JointTrajectoryPoint(positions=it) for it in points]
    if points:
        message.points[-1].time_from_start = Duration(sec=seconds)
    return message


def test_a_trajectory_has_positions_of_joints_until_its_end():
    path = joint_path(trajectory((0.1,), (0.2,), seconds=3), 10.0)
    assert path is not None
    assert (path.joints, path.positions.tolist(), path.end) == (("elbow",), [[0.1], [0.2]], 13.0)
    without_times = joint_path(trajectory((0.1,)), 10.0)
    assert without_times is not None
    assert without_times.end == 15.0
    later = trajectory((0.1,), seconds=3)
    for stamp, end in ((20, 23.0), (5, 13.0), (1_700_000_000, 13.0)):  # the last is wall time
        later.header.stamp.sec = stamp
        path = joint_path(later, 10.0)
        assert path is not None
        assert path.end == end
    many = joint_path(trajectory(*((0.01 * it,) for it in range(1000))), 0.0)
    assert many is not None
    assert (len(many.positions), many.positions[-1, 0]) == (51, 9.99)


@pytest.mark.parametrize("points", [(), ((),), ((0.1, 0.2),), ((float("nan"),),)])
def test_a_trajectory_without_finite_positions_of_its_joints_is_not_drawn(points):
    assert joint_path(trajectory(*points), 0.0) is None
