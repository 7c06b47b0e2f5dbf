"""GetNamedPoses and GetNamedPoseBounds: the sites of the model, wherever they are at present."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import mujoco
import numpy as np
from geometry_msgs.msg import Vector3
from simulation_interfaces.msg import Bounds, NamedPose

from mujoco_ros.bridge.rclpy_ext.service import Responder
from mujoco_ros.bridge.simulation_interfaces.entities.messages import bounds_message, pose_message
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry, EntitySnapshot
from mujoco_ros.bridge.simulation_interfaces.filters.filters import tags_filter
from mujoco_ros.bridge.simulation_interfaces.rejection import grant, granting, not_found
from mujoco_ros.sim.observer import BoundingBox

FIXED, MOVING = "fixed", "moving"
_SPHERE, _CAPSULE = int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_CAPSULE)
_CYLINDER = int(mujoco.mjtGeom.mjGEOM_CYLINDER)


class _Site(NamedTuple):
    site: int
    name: str
    owner: str
    fixed: bool


class NamedPoses:
    """Tells where the sites of the model are, and how large."""

    def __init__(self, registry: EntityRegistry) -> None:
        """Tell of the model that `registry` knows."""
        self._registry = registry

    @granting
    def get_named_poses(self, request: Any, answer: Responder) -> None:
        """Tell the poses, in the world frame, of the sites whose tags pass a filter."""
        passes = tags_filter(request.tags)

        def tell(cast: EntitySnapshot) -> None:
            for site in _sites(cast):
                tags = [site.owner, FIXED if site.fixed else MOVING]
                if passes(tags):
                    body = cast.observer.model.body(cast.observer.model.site_bodyid[site.site])
                    pose = pose_message(*cast.observer.site(site.site))
                    description = f"site on body '{body.name}'"
                    answer.response.poses.append(
                        NamedPose(name=site.name, description=description, tags=tags, pose=pose)
                    )
            grant(answer)

        self._registry.questions.observe(answer, tell)

    @granting
    def get_named_pose_bounds(self, request: Any, answer: Responder) -> None:
        """Tell the shape of a site, seen from itself."""
        cast = self._registry.cast
        sites = {site.name: site.site for site in _sites(cast)}
        if request.name not in sites:
            raise not_found("named pose", request.name, sites)
        answer.response.bounds = _bounds(cast.observer.model, sites[request.name])
        grant(answer)


def _sites(cast: EntitySnapshot) -> Iterator[_Site]:
    """Yield every site that has a name."""
    model = cast.observer.model
    owners = {body: entity.name for entity in cast.entities.values() for body in entity.bodies}
    for site in range(model.nsite):
        name, body = model.site(site).name, int(model.site_bodyid[site])
        if name:
            fixed = not model.body_weldid[body] and model.body_mocapid[body] < 0
            yield _Site(site, name, owners.get(body, "world"), bool(fixed))


def _bounds(model: mujoco.MjModel, site: int) -> Bounds:
    kind, size = int(model.site_type[site]), model.site_size[site]
    if kind == _SPHERE:
        return Bounds(type=Bounds.TYPE_SPHERE, points=[Vector3(), Vector3(x=float(size[0]))])
    half = size.copy()
    if kind in (_CAPSULE, _CYLINDER):  # radius, half of the length
        half = np.array([size[0], size[0], size[1] + (size[0] if kind == _CAPSULE else 0.0)])
    return bounds_message(BoundingBox(-half, half))
