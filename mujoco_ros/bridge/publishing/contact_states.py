"""The contacts of a robot as a message: bodies and collisions by name, points, normals, forces."""

from collections.abc import Collection
from typing import Any

import mujoco
import numpy as np
from geometry_msgs.msg import Vector3
from rclpy.serialization import serialize_message
from ros_gz_interfaces.msg import Contact, Contacts, Entity, JointWrench

from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.model.robot.body_frames import body_frames
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout
from mujoco_ros.sim.plant import Plant

_Side = tuple[int, int]  # a geom, or -1, and a flex, or -1
_Vector = list[float]
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
        self._own = frozenset(robot.bodies)
        self._names = _Names(plant.model, plant.layout, robot)
        self._message = Contacts()
        self._message.header.frame_id = "world"
        self._contacts: list[Contact] = []
        self._points: list[tuple[Vector3, Vector3, JointWrench]] = []

    @property
    def has_subscriptions(self) -> bool:
        """Return whether the topic has a subscription."""
        return bool(self._publisher.subscriptions)

    def publish(self, sec: int, nanosec: int, _sending: object = None) -> None:
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
        data = self._plant.evaluated
        contact = data.contact
        pairs = self._pairs(contact)
        rows = np.array([row for of_pair in pairs.values() for row, _ in of_pair], dtype=np.intp)
        signs = np.array([sign for of_pair in pairs.values() for _, sign in of_pair])
        axes = contact.frame[rows].reshape(-1, 3, 3)
        loads = np.zeros((len(rows), 2, 3))
        for load, row in zip(loads.reshape(-1, 6), rows.tolist(), strict=True):
            mujoco.mj_contactForce(self._plant.model, data, row, load)
        loads = signs[:, None, None] * (loads @ axes)
        points = self._fill_points(
            contact.pos[rows].tolist(),
            (signs[:, None] * axes[:, 0]).tolist(),
            loads.tolist(),
        )
        depths = (-contact.dist[rows]).tolist()
        while len(self._contacts) < len(pairs):
            self._contacts.append(_contact())
        self._message.contacts = self._contacts[: len(pairs)]
        start = 0
        for entry, (sides, of_pair) in zip(self._message.contacts, pairs.items(), strict=True):
            end = start + len(of_pair)
            self._fill(entry, sides, points[start:end])
            entry.depths = depths[start:end]
            start = end
        return bytes(serialize_message(self._message))

    def _pairs(self, contact: Any) -> dict[tuple[_Side, _Side], list[tuple[int, float]]]:
        """Return the contacts of each pair, and -1 if the robot's is the engine's first, else 1."""
        found: dict[tuple[_Side, _Side], list[tuple[int, float]]] = {}
        geoms, flexes = contact.geom.tolist(), contact.flex.tolist()
        for row, constraint in enumerate(contact.efc_address.tolist()):
            if constraint < 0:  # it has no force
                continue
            first, second = zip(geoms[row], flexes[row], strict=True)
            if self._names.body(first) in self._own:
                found.setdefault((first, second), []).append((row, -1.0))
            elif self._names.body(second) in self._own:
                found.setdefault((second, first), []).append((row, 1.0))
        return found

    def _fill_points(
        self, positions: list[_Vector], normals: list[_Vector], loads: list[list[_Vector]]
    ) -> list[tuple[Vector3, Vector3, JointWrench]]:
        """Return the parts of messages for points; a load is the force and torque on body 1."""
        while len(self._points) < len(positions):
            wrench = JointWrench()
            wrench.header = self._message.header
            self._points.append((Vector3(), Vector3(), wrench))
        for (position, normal, wrench), place, upwards, (force, torque) in zip(
            self._points, positions, normals, loads, strict=False
        ):
            _set(position, *place)
            _set(normal, *upwards)
            first, second = wrench.body_1_wrench, wrench.body_2_wrench
            _set(first.force, *force)
            _set(first.torque, *torque)
            _set(second.force, *(-number for number in force))
            _set(second.torque, *(-number for number in torque))
        return self._points[: len(positions)]

    def _fill(
        self,
        contact: Contact,
        sides: tuple[_Side, _Side],
        points: list[tuple[Vector3, Vector3, JointWrench]],
    ) -> None:
        """Fill the entry of a pair, except its depths."""
        names = self._names
        for entity, side in zip((contact.collision1, contact.collision2), sides, strict=True):
            entity.name, entity.id = names.collision(side), max(side)
        first, second = (names.body(side) for side in sides)
        first_name, second_name = names.bodies[first], names.bodies[second]
        contact.positions, contact.normals, contact.wrenches = map(list, zip(*points, strict=True))
        for wrench in contact.wrenches:
            wrench.body_1_id.data, wrench.body_2_id.data = first, second
            wrench.body_1_name.data, wrench.body_2_name.data = first_name, second_name


class _Names:
    """Names of bodies and collisions, as a robot's messages have them."""

    def __init__(self, model: mujoco.MjModel, layout: ModelLayout, robot: RobotLayout) -> None:
        frames = {body: frame for frame, body in body_frames(model, layout).items()}
        # TF frame of each body
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
        self._flexes = [
            mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, flex) or f"flex{flex}"
            for flex in range(model.nflex)
        ]

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


def _set(vector: Vector3, x: float, y: float, z: float) -> None:
    vector.x, vector.y, vector.z = x, y, z
