"""The topic `contacts`: contact points and forces as markers of RViz."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import mujoco
import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from mujoco_ros.cameras.ros.frame_parameters import CONTACTS_HZ, FORCE_SCALE, FORCE_SCALE_M
from mujoco_ros.cameras.ros.frame_publishers import FramePublishers
from mujoco_ros.cameras.ros.source import FrameSource, StateSnapshot
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.sim.observer import ContactForces, contact_forces
from mujoco_ros.wire.frame_topics import CONTACTS
from mujoco_ros.wire.names import WORLD

_POINT_COLOUR = ColorRGBA(r=0.95, g=0.65, b=0.1, a=1.0)
_FORCE_COLOUR = ColorRGBA(r=0.25, g=0.75, b=0.95, a=1.0)
_SHORTEST_M = 1e-3  # shorter arrows are left out: RViz has no direction for one of zero length
_HEAD_WIDTH, _HEAD_LENGTH = 2.0, 3.0  # of an arrow, in widths of its shaft

_Key = tuple[int, ...]
"""Key of a contact: both sides, and its index among the contacts of the same sides."""


class ContactMarkers:
    """Converts contacts to marker messages, which also delete outdated markers.

    Markers are in the frame ``world``. Each robot has the namespaces ``<robot>/points``, a list of
    all its points, and ``<robot>/forces``, an arrow for each contact: the force on the robot.
    Between two robots it is the force on the first; within a robot and among objects it is the
    force on the later body of the model. Contacts without a robot belong to ``objects``. An arrow
    keeps its id while its two geoms touch.
    """

    def __init__(self, model: mujoco.MjModel, layout: ModelLayout) -> None:
        """Prepare for a model; the first message deletes the markers of the previous one."""
        self._owners = [*(robot.name for robot in layout.robots), "objects"]
        self._owner = np.full(model.nbody, len(layout.robots))  # by body
        for index, robot in enumerate(layout.robots):
            self._owner[list(robot.bodies)] = index
        self._width = float(model.vis.scale.forcewidth * model.stat.meansize)
        self._header = Header(frame_id=WORLD)
        self._lists = [
            self._marker(f"{owner}/points", 0, Marker.SPHERE_LIST) for owner in self._owners
        ]
        self._listed: set[int] = set()  # owners with a list of points
        self._ids: dict[_Key, int] = {}
        self._arrows: dict[_Key, Marker] = {}
        self._is_first = True

    def message(self, contacts: ContactForces, stamp: Time, force_scale: float) -> MarkerArray:
        """Return the markers of contacts, valid until the next call; `force_scale` in m/N."""
        self._header.stamp = stamp
        markers = []
        if self._is_first:
            markers.append(Marker(header=self._header, action=Marker.DELETEALL))
            self._is_first = False
        owners, signs = self._owners_of(contacts.bodies)
        markers += self._points(contacts.points, owners)
        ends = contacts.points + (signs * force_scale)[:, None] * contacts.forces
        markers += self._forces(contacts, owners, ends)
        return MarkerArray(markers=markers)

    def _owners_of(self, bodies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the owner of each contact, and 1 if its force acts on the second body, or -1."""
        first, second = self._owner[bodies[:, 0]], self._owner[bodies[:, 1]]
        # The world is body 0; forces on it are not shown.
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
        keys = _keys(contacts.sides)
        self._ids = _updated(self._ids, keys)
        long = np.linalg.norm(ends - contacts.points, axis=1) >= _SHORTEST_M
        outdated, self._arrows = self._arrows, {}
        for index in np.flatnonzero(long).tolist():
            key = keys[index]
            namespace = f"{self._owners[owners[index]]}/forces"
            marker = outdated.pop(key, None)
            if marker is None:
                marker = self._marker(namespace, self._ids[key], Marker.ARROW)
            marker.points = [
                _point(contacts.points[index].tolist()),
                _point(ends[index].tolist()),
            ]
            self._arrows[key] = marker
        current = {(marker.ns, marker.id) for marker in self._arrows.values()}
        for marker in outdated.values():
            if (marker.ns, marker.id) not in current:  # another contact may have the id now
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


def _keys(sides: np.ndarray) -> list[_Key]:
    counts: Counter[_Key] = Counter()
    keys = []
    for row in sides.tolist():
        pair = tuple(row)
        keys.append((*pair, counts[pair]))
        counts[pair] += 1
    return keys


def _updated(ids: dict[_Key, int], keys: list[_Key]) -> dict[_Key, int]:
    """Return the id of each key: the previous id, or else the lowest free one."""
    taken = {ids[key] for key in keys if key in ids}
    free = (number for number in range(len(keys) + len(taken)) if number not in taken)
    return {key: ids[key] if key in ids else next(free) for key in keys}


_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
"""The input of the constraint solver, with its warm start."""


class ContactSource(FrameSource):
    """Publishes the contacts of a state as markers."""

    products = ("markers",)

    def __init__(
        self, model: mujoco.MjModel, layout: ModelLayout, publishers: FramePublishers
    ) -> None:
        self._publisher = publishers.open(*CONTACTS)
        super().__init__(CONTACTS.name, CONTACTS_HZ, [self._publisher])
        self._force_scale = FORCE_SCALE_M
        self._markers = ContactMarkers(model, layout)
        self._data = mujoco.MjData(model)

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set the parameters among `values`."""
        super().set_parameters(values)
        scale = values.get(FORCE_SCALE.name, self._force_scale)
        if scale != self._force_scale:
            self._force_scale = scale
            self.repeat()

    def publish(self, snapshot: StateSnapshot) -> None:
        """Solve for the contact forces and publish them."""
        data = self._data
        mujoco.mj_copyState(snapshot.model, snapshot.data, data, _STATE)
        # Sensors are computed last and not needed.
        mujoco.mj_forwardSkip(snapshot.model, data, int(mujoco.mjtStage.mjSTAGE_NONE), 1)
        contacts = contact_forces(snapshot.model, data)
        self._publisher.send(self._markers.message(contacts, snapshot.stamp, self._force_scale))
        self.counts["markers"] += 1
