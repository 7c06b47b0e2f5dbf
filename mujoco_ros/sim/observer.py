"""Motions, boxes and contacts of a state, computed beside the physics; placement of entities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.model.scene.entities import Entity, EntityKind
from mujoco_ros.sim.state.state_vector import set_state, state_vector

_BODY = int(mujoco.mjtObj.mjOBJ_XBODY)
AT_BODY = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
"""The identity: no offset."""
_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)


class BoundingBox(NamedTuple):
    """An axis-aligned box in some frame: its lowest and its highest corner [m]."""

    low: np.ndarray  # (3,)
    high: np.ndarray  # (3,)


@dataclass(frozen=True, slots=True)
class Motion:
    """Pose and motion of a frame, relative to the world."""

    position: np.ndarray  # [m] (3,)
    quat_wxyz: np.ndarray  # (4,)
    linear: np.ndarray  # velocity of the origin of the frame [m/s] (3,)
    angular: np.ndarray  # [rad/s] (3,)
    linear_acceleration: np.ndarray  # classical, gravity not subtracted [m/s²] (3,)
    angular_acceleration: np.ndarray  # [rad/s²] (3,)


class Observer:
    """Computes quantities of a state on its own `MjData`.

    `read` belongs to the physics thread and costs a copy of the state; everything else belongs to
    another thread. The state is the current one between two steps, also after a reset or a jump;
    the derived quantities in the data of the simulation are older.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model = model
        self._data = mujoco.MjData(model)

    @property
    def time(self) -> float:
        """Simulated time of the state that was set last [s]."""
        return float(self._data.time)

    def read(self, data: mujoco.MjData) -> np.ndarray:
        """Return a copy of the current state of `data`.  # (size,)"""
        return state_vector(self.model, data)

    def set(self, state: np.ndarray) -> None:
        """Set a state from `read`, and compute the quantities that follow."""
        set_state(self.model, self._data, state)
        mujoco.mj_forward(self.model, self._data)
        mujoco.mj_rnePostConstraint(self.model, self._data)  # for mj_objectAcceleration

    def motion(self, body: int, offset: np.ndarray = AT_BODY) -> Motion:
        """Return the motion of a frame that is fixed to a body; body 0 is the world.

        `offset` is the pose of the frame in the body: position and quaternion wxyz (7,).
        """
        model, data = self.model, self._data
        velocity, acceleration = np.zeros(6), np.zeros(6)
        if model.body_weldid[body]:  # else it is fixed to the world, or moved like a mocap body
            mujoco.mj_objectVelocity(model, data, _BODY, body, velocity, 0)
            mujoco.mj_objectAcceleration(model, data, _BODY, body, acceleration, 0)
            if not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY:
                acceleration[3:] += model.opt.gravity  # the engine subtracts it
        position, quat = np.zeros(3), np.zeros(4)
        mujoco.mju_mulPose(
            position, quat, data.xpos[body], data.xquat[body], offset[:3], offset[3:]
        )
        (turning, moving), (turned, moved) = velocity.reshape(2, 3), acceleration.reshape(2, 3)
        arm = position - data.xpos[body]
        centripetal = np.cross(turning, np.cross(turning, arm))
        return Motion(
            position=position,
            quat_wxyz=quat,
            linear=moving + np.cross(turning, arm),
            angular=turning,
            linear_acceleration=moved + np.cross(turned, arm) + centripetal,
            angular_acceleration=turned,
        )

    def box(
        self, geoms: Sequence[int], body: int = 0, offset: np.ndarray = AT_BODY
    ) -> BoundingBox | None:
        """Return the bounding box of geoms along the axes of a frame, given as for `motion`.

        None if there are no geoms, or one is infinite, as a plane.
        """
        ids = np.array(geoms, dtype=np.intp)
        if not ids.size or (self.model.geom_type[ids] == _PLANE).any():
            return None
        data, frame = self._data, self.motion(body, offset)
        aabb = self.model.geom_aabb[ids]
        turns = data.geom_xmat[ids].reshape(-1, 3, 3)
        centres = data.geom_xpos[ids] + np.einsum("gij,gj->gi", turns, aabb[:, :3])
        axes = np.zeros(9)
        mujoco.mju_quat2Mat(axes, frame.quat_wxyz)
        to_frame = axes.reshape(3, 3).T
        centres = (centres - frame.position) @ to_frame.T
        halves = np.einsum("gij,gj->gi", np.abs(to_frame @ turns), aabb[:, 3:])
        return BoundingBox((centres - halves).min(axis=0), (centres + halves).max(axis=0))

    def site(self, site: int) -> tuple[np.ndarray, np.ndarray]:
        """Return position and orientation (wxyz) of a site in the world.  # (3,), (4,)."""
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, self._data.site_xmat[site])
        return self._data.site_xpos[site].copy(), quat


@dataclass(frozen=True, kw_only=True, slots=True)
class ContactForces:
    """Contacts in the world frame, in the engine's order."""

    points: np.ndarray  # positions [m] (n, 3)
    forces: np.ndarray  # forces of the first body on the second [N] (n, 3)
    bodies: np.ndarray  # the two bodies of each contact (n, 2)
    sides: np.ndarray  # geom, or -1, and flex, or -1, of both sides (n, 4)
    # 1 - |f_t| / (mu f_n): 0 if it slips; NaN without friction or force (n,)
    margins: np.ndarray


def contact_forces(model: mujoco.MjModel, data: mujoco.MjData) -> ContactForces:
    """Return the contacts of the state that `data` was last forwarded in."""
    contact = data.contact
    count = int(data.ncon)
    in_contact = np.zeros((count, 6))
    for index in range(count):
        mujoco.mj_contactForce(model, data, index, in_contact[index])
    # The rows of a contact's frame are its axes; the first points from the first side to the other.
    axes = contact.frame.reshape(count, 3, 3)
    geoms, flexes = contact.geom.reshape(count, 2), contact.flex.reshape(count, 2)
    normal, friction = in_contact[:, 0], contact.friction.reshape(count, 5)[:, :2]
    tangential = np.linalg.norm(in_contact[:, 1:3] / friction, axis=1)
    loaded = (normal > 0.0) & (contact.dim > 1)
    margins = np.full(count, np.nan)
    margins[loaded] = 1.0 - tangential[loaded] / normal[loaded]
    return ContactForces(
        points=contact.pos.reshape(count, 3).copy(),
        forces=np.einsum("nij,ni->nj", axes, in_contact[:, :3]),
        bodies=_bodies(model, geoms, flexes),
        sides=np.hstack([geoms, flexes]),
        margins=margins,
    )


def _bodies(model: mujoco.MjModel, geoms: np.ndarray, flexes: np.ndarray) -> np.ndarray:
    bodies = np.zeros(geoms.shape, dtype=int)
    of_geom = geoms >= 0
    bodies[of_geom] = model.geom_bodyid[geoms[of_geom]]
    if not of_geom.all():  # a flex is reported by the first of its bodies
        first = model.flex_vertadr[flexes[~of_geom]]
        bodies[~of_geom] = model.flex_vertbodyid[first]
    return bodies


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """A pose and a velocity to set, in the world frame; None leaves one unchanged."""

    pose: np.ndarray | None = None  # position [m] and unit quaternion wxyz (7,)
    # Velocity of the origin of the frame [m/s] and angular velocity [rad/s] (6,)
    twist: np.ndarray | None = None


def obstacle(entity: Entity, placement: Placement) -> str:
    """Return why a placement of an entity is impossible; empty if it is possible."""
    if entity.free is not None:
        return ""
    if entity.mocap is not None:
        if placement.twist is None or not placement.twist.any():
            return ""
        return f"'{entity.name}' is a mocap body: it has a pose, but no velocity"
    fixed = "its joints connect it" if entity.jointed else "it is fixed"
    kind = "robot" if entity.kind is EntityKind.ROBOT else "entity"
    return (
        f"{kind} '{entity.name}' cannot be moved: {fixed} to the world; "
        "entities on a free joint and mocap bodies can"
    )


def place(data: mujoco.MjData, entity: Entity, placement: Placement) -> None:
    """Set the placement of an entity that has no `obstacle`; for the physics thread.

    Its joints keep their state, and without a twist it keeps its velocity in the world.
    """
    pose, twist = placement.pose, placement.twist
    if entity.mocap is not None:
        if pose is not None:
            data.mocap_pos[entity.mocap] = pose[:3]
            data.mocap_quat[entity.mocap] = pose[3:]
        return
    assert entity.free is not None
    q, v = entity.free
    quat, angular = data.qpos[q + 3 : q + 7], data.qvel[v + 3 : v + 6]
    in_world = np.zeros(3)
    mujoco.mju_rotVecQuat(in_world, angular, quat)
    if pose is not None:
        data.qpos[q : q + 7] = pose
    if twist is not None:
        data.qvel[v : v + 3] = twist[:3]
        in_world[:] = twist[3:]
    # In MuJoCo, the angular velocity of a free joint is in the frame of the body.
    inverse = np.zeros(4)
    mujoco.mju_negQuat(inverse, quat)
    mujoco.mju_rotVecQuat(angular, in_world, inverse)
