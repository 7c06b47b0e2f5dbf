"""Services that report and set entities, and report named poses: the sites of the model."""

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
from geometry_msgs.msg import Accel, Vector3
from simulation_interfaces.msg import Bounds, EntityCategory, NamedPose, Result

from mujoco_ros.bridge.simulation_interfaces.entities.messages import (
    bounds_message,
    read_pose,
    read_twist,
)
from mujoco_ros.bridge.simulation_interfaces.entities.registry import (
    EntityRegistry,
    EntitySnapshot,
    not_found,
)
from mujoco_ros.bridge.simulation_interfaces.filters import EntityFilter, tags_filter
from mujoco_ros.model.robot.body_frames import BodyFrame
from mujoco_ros.model.scene.entities import EntityKind
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder
from mujoco_ros.sim.observer import BoundingBox, Placement, obstacle, place
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.set_state import StateRequest, set_state
from mujoco_ros.sim.stepping.run_control import RunControl
from mujoco_ros.wire.conversions import pose_message

FIXED, MOVING = "fixed", "moving"
_SPHERE, _CAPSULE = int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_CAPSULE)
_CYLINDER = int(mujoco.mjtGeom.mjGEOM_CYLINDER)
_CATEGORIES = {
    EntityCategory.CATEGORY_OBJECT: "object",
    EntityCategory.CATEGORY_ROBOT: "robot",
    EntityCategory.CATEGORY_HUMAN: "human",
    EntityCategory.CATEGORY_DYNAMIC_OBJECT: "dynamic object",
    EntityCategory.CATEGORY_STATIC_OBJECT: "static object",
}


class EntityHandlers:
    """Handles requests about entities, and about the sites of the model."""

    def __init__(self, registry: EntityRegistry, simulation: Simulation, run: RunControl) -> None:
        self._registry, self._simulation, self._run = registry, simulation, run

    def get_entities(self, request: Any, responder: Responder) -> None:
        """Send the names that pass a filter; only bounds need the current state."""
        wanted = EntityFilter(request.filters)

        def fill(snapshot: EntitySnapshot) -> None:
            responder.response.entities = self._passing(snapshot, wanted)

        if wanted.overlaps is None:
            responder.complete(lambda: fill(self._registry.snapshot))
        else:
            self._registry.observe(responder, fill)

    def get_entities_states(self, request: Any, responder: Responder) -> None:
        """Send the states of the entities that pass a filter, all at one instant."""
        wanted = EntityFilter(request.filters)

        def fill(snapshot: EntitySnapshot) -> None:
            names = self._passing(snapshot, wanted)
            responder.response.entities = names
            responder.response.states = [snapshot.state(name) for name in names]

        self._registry.observe(responder, fill)

    def get_entity_state(self, request: Any, responder: Responder) -> None:
        """Send the state of one entity."""
        self._registry.entity(request.entity)

        def fill(snapshot: EntitySnapshot) -> None:
            responder.response.state = snapshot.state(request.entity)

        self._registry.observe(responder, fill)

    def get_entity_bounds(self, request: Any, responder: Responder) -> None:
        """Send the box around an entity at its current pose, along the axes of its frame."""
        self._registry.entity(request.entity)

        def fill(snapshot: EntitySnapshot) -> None:
            entity = snapshot.entity(request.entity)
            box = snapshot.observer.box(entity.geoms, entity.root, entity.offset)
            responder.response.bounds = bounds_message(box)

        self._registry.observe(responder, fill)

    def get_entity_info(self, request: Any, responder: Responder) -> None:
        """Send the category, description and tags of an entity."""
        responder.response.info = self._registry.info(self._registry.entity(request.entity))
        responder.succeed()

    def set_entity_info(self, request: Any, responder: Responder) -> None:
        """Set the category, description and tags of an entity."""
        self._registry.entity(request.entity)
        category = request.info.category.category
        if category not in _CATEGORIES:
            known = ", ".join(f"{number} ({name})" for number, name in _CATEGORIES.items())
            raise RequestRejectedError(f"category {category} is unknown; there are: {known}")
        self._registry.set_info(request.entity, request.info)
        responder.succeed()

    def _passing(self, snapshot: EntitySnapshot, wanted: EntityFilter) -> list[str]:
        """Return the names that pass a filter; one with bounds needs an evaluated state."""
        return [
            name
            for name, entity in snapshot.entities.items()
            if wanted.passes(name, self._registry.info(entity))
            and (wanted.overlaps is None or wanted.holds(snapshot.observer.box(entity.geoms)))
        ]

    def get_named_poses(self, request: Any, responder: Responder) -> None:
        """Send the poses, in the world frame, of the sites whose tags pass a filter."""
        passes = tags_filter(request.tags)

        def fill(snapshot: EntitySnapshot) -> None:
            observer = snapshot.observer
            model = observer.model
            responder.response.poses = [
                NamedPose(
                    name=name,
                    description=f"site on body '{model.body(model.site_bodyid[site]).name}'",
                    tags=tags,
                    pose=pose_message(*observer.site(site)),
                )
                for site, name, tags in _sites(snapshot)
                if passes(tags)
            ]

        self._registry.observe(responder, fill)

    def get_named_pose_bounds(self, request: Any, responder: Responder) -> None:
        """Send the shape of a site, in its own frame."""
        snapshot = self._registry.snapshot
        sites = {name: site for site, name, _ in _sites(snapshot)}
        if request.name not in sites:
            raise not_found("named pose", request.name, sites)
        responder.response.bounds = _bounds(snapshot.observer.model, sites[request.name])
        responder.succeed()

    def set_entity_state(self, request: Any, responder: Responder) -> None:
        """Set the pose or velocity or both of an entity: everything requested, or nothing.

        A robot continues as after ``~/set_joints``; a stopped simulation is paused.
        """
        name, frame = request.entity, request.state.header.frame_id
        entity = self._registry.entity(name)
        placement = _placement(request, responder.response)
        if reason := obstacle(entity, placement):
            raise RequestRejectedError(reason)
        if _frame(self._registry.snapshot, frame, responder.response) is None:
            self._place(responder, name, placement)
            return

        def transform(snapshot: EntitySnapshot) -> None:
            reference = _frame(snapshot, frame, responder.response)
            if reference is None:
                raise RequestRejectedError(f"frame '{frame}' is gone")
            body = snapshot.entity(name).root
            self._place(responder, name, snapshot.in_world(placement, reference, body))

        self._registry.observe(responder, transform, finish=False)

    def _place(self, responder: Responder, name: str, placement: Placement) -> None:
        def apply() -> None:
            entity = self._registry.entity(name)  # may be another by now, or gone
            if reason := obstacle(entity, placement):
                raise RequestRejectedError(reason)
            if entity.kind is EntityKind.ROBOT:
                set_state(self._simulation, {}, StateRequest(placements=((entity, placement),)))
            else:
                place(self._simulation.data, entity, placement)
            self._run.leave_start()

        responder.run(self._simulation.commands, apply)


def _sites(snapshot: EntitySnapshot) -> Iterator[tuple[int, str, list[str]]]:
    """Yield number, name and tags of every site that has a name."""
    model = snapshot.observer.model
    owners = {body: entity.name for entity in snapshot.entities.values() for body in entity.bodies}
    for site in range(model.nsite):
        name, body = model.site(site).name, int(model.site_bodyid[site])
        if name:
            fixed = not model.body_weldid[body] and model.body_mocapid[body] < 0
            yield site, name, [owners.get(body, "world"), FIXED if fixed else MOVING]


def _bounds(model: mujoco.MjModel, site: int) -> Bounds:
    kind, size = int(model.site_type[site]), model.site_size[site]
    if kind == _SPHERE:
        return Bounds(type=Bounds.TYPE_SPHERE, points=[Vector3(), Vector3(x=float(size[0]))])
    half = size.copy()
    if kind in (_CAPSULE, _CYLINDER):  # radius, half of the length
        half = np.array([size[0], size[0], size[1] + (size[0] if kind == _CAPSULE else 0.0)])
    return bounds_message(BoundingBox(-half, half))


def _placement(request: Any, response: Any) -> Placement:
    """Return the requested placement; older versions of the request have no flags and set all."""
    state = request.state
    if getattr(request, "set_acceleration", False) and state.acceleration != Accel():
        raise RequestRejectedError(
            "accelerations follow from forces and cannot be set; leave set_acceleration false",
            Result.RESULT_FEATURE_UNSUPPORTED,
        )
    pose = twist = None
    try:
        if getattr(request, "set_pose", True):
            pose = read_pose(state.pose)
    except ValueError as error:
        raise _invalid_pose(response, str(error)) from error
    try:
        if getattr(request, "set_twist", True):
            twist = read_twist(state.twist)
    except ValueError as error:
        raise RequestRejectedError(str(error)) from error
    if pose is None and twist is None:
        raise RequestRejectedError("nothing to set: set set_pose, set_twist or both to true")
    return Placement(pose=pose, twist=twist)


def _frame(snapshot: EntitySnapshot, name: str, response: Any) -> BodyFrame | None:
    try:
        return snapshot.frame(name)
    except ValueError as error:
        raise _invalid_pose(response, str(error)) from error


def _invalid_pose(response: Any, message: str) -> RequestRejectedError:
    return RequestRejectedError(message, getattr(response, "INVALID_POSE", None))
