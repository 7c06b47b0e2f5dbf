"""Contacts as markers that RViz draws: a point where bodies touch, an arrow for the force."""

from collections import Counter
from collections.abc import Iterator

import mujoco
import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from mujoco_ros.bridge.publishing.topics import WORLD
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.sim.contact_forces import ContactForces

_POINT_COLOUR = ColorRGBA(r=0.95, g=0.65, b=0.1, a=1.0)
_FORCE_COLOUR = ColorRGBA(r=0.25, g=0.75, b=0.95, a=1.0)
_SHORTEST_M = 1e-3
"""Shorter arrows are not drawn: RViz has no direction for one without length."""
_HEAD_WIDTH, _HEAD_LENGTH = 2.0, 3.0  # of an arrow, in widths of its shaft

_Name = tuple[int, ...]


class ContactMarkers:
    """Turns contacts into marker messages that leave nothing behind of those before.

    Markers are in the frame ``world``. Each robot has the namespaces ``<robot>/points``, one list
    of all its points, and ``<robot>/forces``, an arrow for each contact: the force that acts on the
    robot. Between two robots it is the one on the first, within a robot and among objects the one
    on the body that comes later in the model; what touches no robot is of ``objects``. An arrow
    keeps its id as long as its two geoms touch.
    """

    def __init__(self, model: mujoco.MjModel, layout: ModelLayout) -> None:
        """Prepare for a model; the first message removes whatever was drawn before."""
        self._owners = [*(robot.name for robot in layout.robots), "objects"]
        self._owner = np.full(model.nbody, len(layout.robots))  # by body
        for index, robot in enumerate(layout.robots):
            self._owner[list(robot.bodies)] = index
        self._width = float(model.vis.scale.forcewidth * model.stat.meansize)
        self._header = Header(frame_id=WORLD)
        self._lists = [
            self._marker(f"{owner}/points", 0, Marker.SPHERE_LIST) for owner in self._owners
        ]
        self._listed: set[int] = set()  # owners whose lists are drawn
        self._ids: dict[_Name, int] = {}
        self._arrows: dict[_Name, Marker] = {}  # those drawn
        self._begun = False

    def message(self, contacts: ContactForces, stamp: Time, force_scale: float) -> MarkerArray:
        """Return the markers of `contacts`, and the removal of those that are gone.

        The markers are good until the next call.

        Args:
            contacts: The contacts.
            stamp: Their time.
            force_scale: Length of an arrow for a newton [m/N].
        """
        self._header.stamp = stamp
        markers = list(self._start())
        owners, signs = self._owned(contacts.bodies)
        markers += self._points(contacts.points, owners)
        ends = contacts.points + (signs * force_scale)[:, None] * contacts.forces
        markers += self._forces(contacts, owners, ends)
        return MarkerArray(markers=markers)

    def _start(self) -> Iterator[Marker]:
        if not self._begun:
            self._begun = True
            yield Marker(header=self._header, action=Marker.DELETEALL)

    def _owned(self, bodies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the owner of each contact, and +1 where the force on it is that on body two."""
        first, second = self._owner[bodies[:, 0]], self._owner[bodies[:, 1]]
        # The world is body 0: nothing pushes it.
        on_first = (first < second) | ((first == second) & (bodies[:, 0] > bodies[:, 1]))
        return np.where(on_first, first, second), np.where(on_first, -1.0, 1.0)

    def _points(self, points: np.ndarray, owners: np.ndarray) -> Iterator[Marker]:
        shown = set(owners.tolist())
        for owner in sorted(shown | self._listed):
            marker = self._lists[owner]
            marker.points = [_point(row) for row in points[owners == owner].tolist()]
            marker.action = Marker.ADD if owner in shown else Marker.DELETE
            yield marker
        self._listed = shown

    def _forces(
        self, contacts: ContactForces, owners: np.ndarray, ends: np.ndarray
    ) -> Iterator[Marker]:
        names = _names(contacts.sides)
        self._ids = _kept(self._ids, names)
        long = np.linalg.norm(ends - contacts.points, axis=1) >= _SHORTEST_M
        before, self._arrows = self._arrows, {}
        for index in np.flatnonzero(long).tolist():
            name = names[index]
            namespace = f"{self._owners[owners[index]]}/forces"
            marker = before.pop(name, None)
            if marker is None:
                marker = self._marker(namespace, self._ids[name], Marker.ARROW)
            marker.points = [
                _point(contacts.points[index].tolist()),
                _point(ends[index].tolist()),
            ]
            self._arrows[name] = marker
        drawn = {(marker.ns, marker.id) for marker in self._arrows.values()}
        for marker in before.values():
            if (marker.ns, marker.id) not in drawn:  # its id may be another contact's already
                marker.action = Marker.DELETE
                yield marker
        yield from self._arrows.values()

    def _marker(self, namespace: str, number: int, kind: int) -> Marker:
        marker = Marker(header=self._header, ns=namespace, id=number, type=kind, action=Marker.ADD)
        width = self._width
        if kind == Marker.ARROW:
            marker.scale = Vector3(x=width, y=_HEAD_WIDTH * width, z=_HEAD_LENGTH * width)
            marker.color = _FORCE_COLOUR
        else:
            marker.scale = Vector3(x=2 * width, y=2 * width, z=2 * width)
            marker.color = _POINT_COLOUR
        marker.pose.orientation.w = 1.0
        return marker


def _point(row: list[float]) -> Point:
    return Point(x=row[0], y=row[1], z=row[2])


def _names(sides: np.ndarray) -> list[_Name]:
    """Return a name for each contact: what touches, and which of several contacts that is."""
    seen: Counter[_Name] = Counter()
    names = []
    for row in sides.tolist():
        pair = tuple(row)
        names.append((*pair, seen[pair]))
        seen[pair] += 1
    return names


def _kept(ids: dict[_Name, int], names: list[_Name]) -> dict[_Name, int]:
    """Return an id for each name: the one it has, or else the least that is free."""
    kept = {name: ids[name] for name in names if name in ids}
    taken = set(kept.values())
    free = (number for number in range(len(names) + len(taken)) if number not in taken)
    return {name: kept[name] if name in kept else next(free) for name in names}
