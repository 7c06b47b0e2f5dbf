"""The contacts of a robot as a message: bodies and collisions by name, points, normals, forces."""

from collections.abc import Collection

import mujoco
import numpy as np
from geometry_msgs.msg import Vector3
from rclpy.serialization import serialize_message
from ros_gz_interfaces.msg import Contact, Contacts, Entity, JointWrench

from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.model.robot.body_frames import body_frames
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout
from mujoco_ros.sim.plant import Plant

_Side = tuple[int, int]
"""A geom, or -1, and a flex, or -1."""
_WORLD = 0


class ContactStates:
    """Fills and publishes the contacts of a robot, as `Batch` does messages of fixed layout.

    Every pair of collisions in contact has one entry, the robot's collision first, with one or
    several points. Normals point to the first collision, as the normal force on it does; forces and
    torques act on the two bodies at the point. All vectors are in the axes of ``world``. The
    objects of a message are reused by the next.
    """

    def __init__(self, plant: Plant, robot: RobotLayout, publisher: TopicPublisher) -> None:
        """Prepare for a robot.

        Args:
            plant: Has the contacts of the last step.
            robot: One of its robots.
            publisher: Publishes the messages.
        """
        self._plant, self._publisher = plant, publisher
        self._own = np.zeros(plant.model.nbody, dtype=bool)
        self._own[list(robot.bodies)] = True
        self._names = _Names(plant.model, plant.layout, robot)
        self._message = Contacts()
        self._message.header.frame_id = "world"
        self._contacts: list[Contact] = []
        self._points: list[tuple[Vector3, Vector3, JointWrench]] = []
        self._load = np.zeros(6)

    @property
    def has_subscriptions(self) -> bool:
        """Return whether the topic has a subscription."""
        return bool(self._publisher.subscriptions)

    def publish(self, sec: int, nanosec: int) -> None:
        """Publish the contacts of the last step if the topic has a subscription."""
        if self._publisher.subscriptions:
            self._publisher.send(self.serialized(sec, nanosec))

    def repeat(self, sec: int, nanosec: int, publishers: Collection[TopicPublisher]) -> None:
        """Publish the same contacts again if the publisher is among some."""
        if self._publisher in publishers:
            self._publisher.send(self.serialized(sec, nanosec))

    def serialized(self, sec: int, nanosec: int) -> bytes:
        """Return the serialized message with the contacts of the last step."""
        stamp = self._message.header.stamp
        stamp.sec, stamp.nanosec = sec, nanosec
        pairs = self._pairs()
        while len(self._contacts) < len(pairs):
            self._contacts.append(_contact())
        used = 0
        for contact, (sides, rows) in zip(self._contacts, pairs.items(), strict=False):
            used = self._fill(contact, sides, rows, used)
        self._message.contacts = self._contacts[: len(pairs)]
        return bytes(serialize_message(self._message))

    def _pairs(self) -> dict[tuple[_Side, _Side], list[tuple[int, float]]]:
        """Return the contacts of each pair, and 1 or -1 if the engine's order is the reverse."""
        found: dict[tuple[_Side, _Side], list[tuple[int, float]]] = {}
        contact = self._plant.evaluated.contact
        sides = np.stack([contact.geom, contact.flex], axis=-1).tolist()  # (n, 2, 2)
        rows = np.flatnonzero(contact.efc_address >= 0).tolist()  # others have no force
        for row in rows:
            first, second = tuple(sides[row][0]), tuple(sides[row][1])
            if self._own[self._names.body(first)]:
                found.setdefault((first, second), []).append((row, -1.0))
            elif self._own[self._names.body(second)]:
                found.setdefault((second, first), []).append((row, 1.0))
        return found

    def _fill(
        self,
        contact: Contact,
        sides: tuple[_Side, _Side],
        rows: list[tuple[int, float]],
        used: int,
    ) -> int:
        """Fill the entry of a pair; return the number of points that are in use then."""
        names, data = self._names, self._plant.evaluated
        for entity, side in zip((contact.collision1, contact.collision2), sides, strict=True):
            entity.name, entity.id = names.collision(side), max(side)
        bodies = names.body(sides[0]), names.body(sides[1])
        points = self._reserve(used, len(rows))
        for (position, normal, wrench), (row, sign) in zip(points, rows, strict=True):
            place, axes = data.contact.pos[row].tolist(), data.contact.frame[row].reshape(3, 3)
            position.x, position.y, position.z = place
            normal.x, normal.y, normal.z = (sign * axes[0]).tolist()
            mujoco.mj_contactForce(self._plant.model, data, row, self._load)
            load = sign * (self._load.reshape(2, 3) @ axes)
            _fill_wrench(wrench, load, bodies, (names.bodies[bodies[0]], names.bodies[bodies[1]]))
            wrench.header.stamp = self._message.header.stamp
        contact.positions = [position for position, _, _ in points]
        contact.normals = [normal for _, normal, _ in points]
        contact.wrenches = [wrench for _, _, wrench in points]
        contact.depths = [-float(data.contact.dist[row]) for row, _ in rows]
        return used + len(rows)

    def _reserve(self, used: int, count: int) -> list[tuple[Vector3, Vector3, JointWrench]]:
        while len(self._points) < used + count:
            wrench = JointWrench()
            wrench.header.frame_id = "world"
            self._points.append((Vector3(), Vector3(), wrench))
        return self._points[used : used + count]


class _Names:
    """Names of bodies and collisions, as a robot's messages have them.

    Attributes:
        bodies: TF frame of each body.
    """

    def __init__(self, model: mujoco.MjModel, layout: ModelLayout, robot: RobotLayout) -> None:
        frames = {body: frame for frame, body in body_frames(model, layout).items()}
        self.bodies = [frames.get(body, f"body{body}") for body in range(model.nbody)]
        self.bodies[_WORLD] = "world"
        self._geom_bodies = model.geom_bodyid.tolist()
        # A flex is reported by the first of its bodies.
        self._flex_bodies = (
            model.flex_vertbodyid[model.flex_vertadr].tolist() if model.nflex else []
        )
        self._geoms = []
        for geom, body in enumerate(self._geom_bodies):
            name = model.geom(geom).name
            if not name:
                name = f"{self.bodies[body]}_geom{geom - model.body_geomadr[body]}"
            elif name.startswith(robot.prefix):
                name = robot.frame(name)
            self._geoms.append(name)
        self._flexes = [model.flex(flex).name or f"flex{flex}" for flex in range(model.nflex)]

    def body(self, side: _Side) -> int:
        """Return the body of one side of a contact."""
        geom, flex = side
        return int(self._geom_bodies[geom] if geom >= 0 else self._flex_bodies[flex])

    def collision(self, side: _Side) -> str:
        """Return the name of the geom or flex of one side of a contact."""
        geom, flex = side
        return self._geoms[geom] if geom >= 0 else self._flexes[flex]


def _contact() -> Contact:
    contact = Contact()
    contact.collision1.type = contact.collision2.type = Entity.COLLISION
    return contact


def _fill_wrench(
    wrench: JointWrench, load: np.ndarray, bodies: tuple[int, int], names: tuple[str, str]
) -> None:
    """Fill a wrench with the force and torque on the first body.  # load: (2, 3)."""
    wrench.body_1_id.data, wrench.body_2_id.data = bodies
    wrench.body_1_name.data, wrench.body_2_name.data = names
    for on_body, values in ((wrench.body_1_wrench, load), (wrench.body_2_wrench, -load)):
        force, torque = values.tolist()
        on_body.force.x, on_body.force.y, on_body.force.z = force
        on_body.torque.x, on_body.torque.y, on_body.torque.z = torque
