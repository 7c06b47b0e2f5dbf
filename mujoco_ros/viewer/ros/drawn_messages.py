"""Shapes of the messages that RViz displays, too."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import cos, isfinite, sin
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from nav_msgs.msg import Path
from sensor_msgs.msg import LaserScan, PointCloud2, PointField
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import Marker, MarkerArray

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.colours import AXES, PLAN, SCAN, SENSED_FORCE, SENSED_TORQUE
from mujoco_ros.viewer.message_shapes import (
    JointPath,
    Shape,
    ShapeKind,
    arrow,
    line,
    printable,
    simplified,
    triangle_axes,
)
from mujoco_ros.wire.conversions import xyz

_LOG = logging.getLogger(__name__)
MOST_SHAPES = 500
"""Markers of a message, and shapes of a marker, a path or points; every n-th of more is drawn."""
_LONGEST_TEXT, _LONGEST_URI = 200, 1000
"""Characters of a text that are shown, and of the URI of a mesh."""
_MOST_READ = 20_000  # triangles of a list that are read; every n-th of more
_WARNED: set[str] = set()
"""Namespaces of markers of which it is logged that triangles are merged."""
_MOST_WARNED = 20
_POINT, _LINE, _AXIS = 0.02, 0.01, 0.15
"""Diameters of points and lines, and length of an axis [m]."""
_SMALLEST = 1e-4  # half length of a solid [m]
_ARROW = 0.016  # diameter of forces and torques [m]
_MOST_POINTS = 50  # points of a trajectory that are drawn; every n-th of more
_LATEST_START_S, _WITHOUT_TIMES_S = 86400.0, 5.0
"""A later start is a time of another clock; time for which trajectories without times are drawn."""
_LITTLE, _BIG = "<f4", ">f4"
_SOLIDS = {
    Marker.CUBE: ShapeKind.BOX,
    Marker.SPHERE: ShapeKind.SPHERE,
    Marker.CYLINDER: ShapeKind.CYLINDER,
    Marker.CUBE_LIST: ShapeKind.BOX,
    Marker.SPHERE_LIST: ShapeKind.SPHERE,
    Marker.POINTS: ShapeKind.SPHERE,
}
_LISTS = (Marker.CUBE_LIST, Marker.SPHERE_LIST, Marker.POINTS)
_LINES = (Marker.LINE_STRIP, Marker.LINE_LIST)


def markers_of(message: Marker | MarkerArray) -> Sequence[Marker]:
    """Return the markers of a message; the first ones of too many."""
    return message.markers[:MOST_SHAPES] if isinstance(message, MarkerArray) else [message]


def marker_shapes(marker: Marker) -> tuple[Shape, ...]:
    """Return the shapes of a marker, in its frame."""
    return tuple(_finite(_marker(marker)))


def _marker(marker: Marker) -> Iterator[Shape]:
    pose, frame = pose_of(marker.pose), marker.header.frame_id
    axes, at = pose.matrix, pose.position
    size = np.array([marker.scale.x, marker.scale.y, marker.scale.z])
    colour = _colour(marker.color)
    if marker.type == Marker.TRIANGLE_LIST:
        yield from _triangles(marker, axes * size, at, colour)
        return
    if marker.type == Marker.MESH_RESOURCE:
        uri = marker.mesh_resource
        if 0 < len(uri) <= _LONGEST_URI and uri.isprintable():
            yield Shape(
                kind=ShapeKind.MESH,
                frame=frame,
                position=at,
                axes=axes,
                size=size,
                colour=colour,
                mesh=uri,
                has_file_colour=marker.mesh_use_embedded_materials,
            )
        return
    has_colours = len(marker.colors) == len(marker.points)
    points = [
        at + axes @ (point.x, point.y, point.z) for point in _kept(marker.type, marker.points)
    ]
    colours = [colour] * len(points)
    if has_colours:
        colours = [_colour(colour) for colour in _kept(marker.type, marker.colors)]
    if marker.type in _LISTS:
        if marker.type == Marker.POINTS:
            size = np.full(3, size[0])
    elif marker.type in _SOLIDS:
        points, colours = [at], [colour]
    if marker.type in _SOLIDS:  # the lists, too
        kind, half = _SOLIDS[marker.type], np.maximum(0.5 * size, _SMALLEST)
        if kind is ShapeKind.CYLINDER:
            half[1] = half[2]  # radius, half of the height
        for point, each in zip(points, colours, strict=True):
            yield Shape(kind=kind, frame=frame, position=point, axes=axes, size=half, colour=each)
    elif marker.type in _LINES:
        step = 1 if marker.type == Marker.LINE_STRIP else 2
        ends = list(zip(pairwise(points), colours, strict=False))[::step]
        for (start, end), each in ends:
            yield from line(frame, start, end, float(size[0]), each)
    elif marker.type == Marker.ARROW:
        start, vector, width = at, axes[:, 0] * size[0], float(size[1])
        if len(points) == 2:
            start, vector, width = points[0], points[1] - points[0], float(size[0])
        yield from arrow(frame, start, vector, width, colour)
    elif marker.type == Marker.TEXT_VIEW_FACING and marker.text:
        text = marker.text[:_LONGEST_TEXT]
        yield Shape(kind=ShapeKind.TEXT, frame=frame, position=at, colour=colour, text=text)


def _triangles(marker: Marker, axes: np.ndarray, at: np.ndarray, colour: Any) -> Iterator[Shape]:
    """Yield triangles; `axes` are the marker's axes, as long as its scale."""
    count = len(marker.points) // 3
    read = np.arange(0, count, max(1, -(-count // _MOST_READ)))
    points = [marker.points[3 * triangle + corner] for triangle in read for corner in range(3)]
    vertices = (
        np.array([(point.x, point.y, point.z) for point in points]).reshape(-1, 3) @ axes.T + at
    )
    if not len(read) or not np.isfinite(vertices).all():
        return
    faces = np.arange(len(vertices)).reshape(-1, 3)
    if count > MOST_SHAPES:
        _warn_merged(printable(marker.ns[:_LONGEST_TEXT]), marker.id)
    vertices, faces, kept = simplified(vertices, faces, MOST_SHAPES)
    corners = vertices[faces]
    has_area, drawn = triangle_axes(corners)
    given, colours = len(marker.colors), [colour] * len(kept)
    if given == len(marker.points):  # of the corners
        each = [marker.colors[3 * triangle : 3 * triangle + 3] for triangle in read[kept]]
        colours = [tuple(np.mean([_colour(colour) for colour in three], axis=0)) for three in each]
    elif given == count:
        colours = [_colour(marker.colors[triangle]) for triangle in read[kept]]
    for index, edges in zip(np.flatnonzero(has_area), drawn, strict=True):
        yield Shape(
            kind=ShapeKind.TRIANGLE,
            frame=marker.header.frame_id,
            position=corners[index, 0],
            axes=edges,
            colour=colours[index],
        )


def _warn_merged(namespace: str, number: int) -> None:
    """Log that a marker has too many triangles, once for each of the first namespaces."""
    if namespace not in _WARNED and len(_WARNED) < _MOST_WARNED:
        _WARNED.add(namespace)
        _LOG.warning(
            "marker %d of '%s' has more than %d triangles: near corners are merged, so that it is "
            "drawn with fewer; others of this namespace are not logged",
            *(number, namespace, MOST_SHAPES),
        )


def _path(message: Path) -> Iterator[Shape]:
    places = [pose_of(stamped.pose).position for stamped in _thinned(message.poses)]
    for start, end in pairwise(places):
        yield from line(message.header.frame_id, start, end, _LINE, PLAN)


def _pose_stamped(message: PoseStamped) -> Iterator[Shape]:
    pose = pose_of(message.pose)
    for axis, colour in zip(pose.matrix.T, AXES, strict=True):
        vector = _AXIS * axis
        yield from arrow(message.header.frame_id, pose.position, vector, 0.5 * _LINE, colour)


def _wrench(message: WrenchStamped) -> Iterator[Shape]:
    wrench, frame = message.wrench, message.header.frame_id
    for scale, vector, colour in (
        ("force", wrench.force, SENSED_FORCE),
        ("torque", wrench.torque, SENSED_TORQUE),
    ):
        yield from arrow(frame, np.zeros(3), np.array(xyz(vector)), _ARROW, colour, scale)


def _scan(message: LaserScan) -> Iterator[Shape]:
    if not (isfinite(message.angle_min) and isfinite(message.angle_increment)):
        return
    step = _step(len(message.ranges))
    points = [
        np.array([distance * cos(angle), distance * sin(angle), 0.0])
        for number, distance in zip(
            range(0, len(message.ranges), step), message.ranges[::step], strict=True
        )
        if message.range_min <= distance <= message.range_max and isfinite(distance)
        for angle in (message.angle_min + number * message.angle_increment,)
    ]
    yield from _points(message.header.frame_id, points)


def _cloud(message: PointCloud2) -> Iterator[Shape]:
    fields = {field.name: field for field in message.fields}
    if not all(axis in fields and fields[axis].datatype == PointField.FLOAT32 for axis in "xyz"):
        return
    step, width = message.point_step, message.width
    is_whole = max(fields[axis].offset for axis in "xyz") + 4 <= step
    is_whole &= width * step <= message.row_step
    is_whole &= message.height * message.row_step <= len(message.data)
    if not (is_whole and width and message.height):
        return
    number = _BIG if message.is_bigendian else _LITTLE
    kind = np.dtype(
        {
            "names": list("xyz"),
            "formats": [number] * 3,
            "offsets": [fields[axis].offset for axis in "xyz"],
            "itemsize": message.point_step,
        }
    )
    rows = np.frombuffer(message.data, np.uint8)[: message.height * message.row_step]
    rows = rows.reshape(message.height, message.row_step)[:, : message.width * message.point_step]
    values = np.ascontiguousarray(rows).view(kind).ravel()
    points = np.stack([values[axis] for axis in "xyz"], axis=1).astype(float)
    yield from _points(message.header.frame_id, points[np.isfinite(points).all(axis=1)])


def _points(frame: str, points: Any) -> Iterator[Shape]:
    for point in _thinned(points):
        yield Shape(
            kind=ShapeKind.SPHERE,
            frame=frame,
            position=point,
            size=np.full(3, 0.5 * _POINT),
            colour=SCAN,
        )


def pose_of(message: Any) -> Pose:
    """Return a pose; a quaternion of zeros, as in a new message, is no rotation."""
    p, q = message.position, message.orientation
    quat = np.array([q.w, q.x, q.y, q.z])
    if not quat.any():
        quat[0] = 1.0
    return Pose(position=np.array([p.x, p.y, p.z]), quat_wxyz=quat)


def _colour(message: Any) -> tuple[float, float, float, float]:
    return message.r, message.g, message.b, message.a


def _kept(kind: int, items: Any) -> Any:
    """Return every n-th of too many points of a marker, or every n-th pair of points of lines."""
    if kind != Marker.LINE_LIST:
        return _thinned(items)
    step = 2 * _step(len(items) // 2)
    return [item for first in range(0, len(items) - 1, step) for item in items[first : first + 2]]


def _thinned(items: Any) -> Any:
    return items[:: _step(len(items))]


def _step(count: int) -> int:
    return max(1, -(-count // MOST_SHAPES))


def _finite(shapes: Iterator[Shape]) -> Iterator[Shape]:
    for shape in shapes:
        numbers = shape.position, shape.axes.ravel(), shape.size, np.array(shape.colour)
        if all(np.isfinite(array).all() for array in numbers):
            yield shape


MARKERS: Mapping[str, Any] = {
    "visualization_msgs/msg/MarkerArray": MarkerArray,
    "visualization_msgs/msg/Marker": Marker,
}
"""Types of markers, which stay until they are changed."""
_LATEST: Mapping[str, tuple[Any, Callable[[Any], Iterator[Shape]]]] = {
    "nav_msgs/msg/Path": (Path, _path),
    "geometry_msgs/msg/PoseStamped": (PoseStamped, _pose_stamped),
    "geometry_msgs/msg/WrenchStamped": (WrenchStamped, _wrench),
    "sensor_msgs/msg/LaserScan": (LaserScan, _scan),
    "sensor_msgs/msg/PointCloud2": (PointCloud2, _cloud),
}
JOINT_PATH = "trajectory_msgs/msg/JointTrajectory"
"""Type of trajectories, which are drawn as the path of the last link that they move."""
TYPES: Mapping[str, Any] = {
    **MARKERS,
    **{name: kind for name, (kind, _) in _LATEST.items()},
    JOINT_PATH: JointTrajectory,
}
"""All types that are drawn, by name."""
INTERACTIVE = "visualization_msgs/msg/InteractiveMarkerUpdate"
"""Type of the updates of interactive markers, which have a client of their own."""
AT_ONCE = (*MARKERS, INTERACTIVE, JOINT_PATH, "nav_msgs/msg/Path")
"""Types whose topics are drawn unless they are switched off."""


def shapes_of(name: str, message: Any) -> tuple[Shape, ...]:
    """Return the shapes of a message of a type; only the newest message is drawn."""
    return tuple(_finite(_LATEST[name][1](message)))


def joint_path(message: JointTrajectory, time: float) -> JointPath | None:
    """Return the positions of a trajectory received at a time [s]; None without finite ones."""
    names, count = tuple(message.joint_names), len(message.points)
    if count == 0 or not names:
        return None
    step = max(1, -(-count // _MOST_POINTS))
    kept = [*message.points[: count - 1 : step], message.points[-1]]
    if any(len(point.positions) != len(names) for point in kept):
        return None
    positions = np.array([point.positions for point in kept])
    if not np.isfinite(positions).all():
        return None
    last, stamp = message.points[-1].time_from_start, message.header.stamp
    duration = last.sec + 1e-9 * last.nanosec
    start = stamp.sec + 1e-9 * stamp.nanosec
    if not time < start < time + _LATEST_START_S:
        start = time
    return JointPath(names, positions, start + (duration if duration > 0.0 else _WITHOUT_TIMES_S))
