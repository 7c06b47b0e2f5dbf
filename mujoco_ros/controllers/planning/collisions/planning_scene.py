"""The planning scene: the environment of a chain, and its elements by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.pose import Pose

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)


def free_body(model: mujoco.MjModel, name: str) -> int:
    """Return the id of a free body, by its name, its object's name or its TF frame."""
    names = {}
    for joint in np.flatnonzero(model.jnt_type == _FREE):
        body = int(model.jnt_bodyid[joint])
        names[body] = _name(model, mujoco.mjtObj.mjOBJ_BODY, body)
    for key in (str, _owner, _without_owner):
        found = [body for body, own in names.items() if key(own) == name]
        if len(found) == 1:
            return found[0]
    raise unknown("free object", name, sorted(_owner(own) for own in names.values()))


def free_address(model: mujoco.MjModel, body: int) -> int:
    """Return the address of a free body's pose in qpos."""
    return int(model.jnt_qposadr[model.body_jntadr[body]])


def geoms_of(model: mujoco.MjModel, name: str) -> np.ndarray:
    """Return which geoms are a geom or belong to a body, robot or object.  # (ngeom,) bool"""
    geoms = [_name(model, mujoco.mjtObj.mjOBJ_GEOM, geom) for geom in range(model.ngeom)]
    bodies = [_name(model, mujoco.mjtObj.mjOBJ_BODY, body) for body in range(model.nbody)]
    owners = [bodies[b] for b in model.geom_bodyid]
    pairs = list(zip(geoms, owners, strict=True))
    for matches in (
        [geom == name for geom, _ in pairs],
        [body == name for _, body in pairs],
        [name in (_owner(geom), _owner(body)) for geom, body in pairs],
    ):
        if any(matches):
            return np.array(matches)
    known = {_owner(own) for own in (*geoms, *bodies) if own}
    raise unknown("geom, body or object", name, sorted(known))


def _name(model: mujoco.MjModel, kind: mujoco.mjtObj, number: int) -> str:
    """Return a name, empty if there is none; the accessors of MjModel take ten times as long."""
    return str(mujoco.mj_id2name(model, kind, number) or "")


def _owner(name: str) -> str:
    return name.partition("/")[0]


def _without_owner(name: str) -> str:
    return name.partition("/")[2]


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldObject:
    """A free object in the hand, at a pose in the tool's frame."""

    object: str
    pose: Pose


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanningScene:
    """Poses of everything outside a chain, and the allowed collisions."""

    # Poses in ``world`` of free objects by name, as in an `Observation`. Other objects have the
    # poses of the model.
    objects: Mapping[str, Pose] = field(default_factory=dict)
    # Positions of joints outside the chain, such as fingers [rad or m]
    joints: Mapping[str, float] = field(default_factory=dict)
    held: HeldObject | None = None  # the object in the hand
    # Pairs that may touch: names of geoms, of bodies, or of robots and objects of the scene, which
    # stand for all of their geoms
    allowed: tuple[tuple[str, str], ...] = ()
    # Minimum distance of the chain and its held object to all other bodies [m], but not to each
    # other
    margin: float = 0.005

    def __post_init__(self) -> None:
        """Reject margins out of range, and NaN and infinity, which would disable collisions."""
        if not 0.0 < self.margin < 1.0:
            raise UserInputError(f"margin must be more than 0 and less than 1 m, got {self.margin}")
        for name, pose in self.objects.items():
            pose.check(f"'{name}'")
        if self.held is not None:
            self.held.pose.check(f"'{self.held.object}' in the hand")
        for name, position in self.joints.items():
            if not isfinite(position):
                raise UserInputError(f"joint '{name}' must be a finite number, got {position}")
