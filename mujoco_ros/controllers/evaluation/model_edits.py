"""Changes of a compiled model: sizes of boxes, masses, encoder offsets."""

import mujoco
import numpy as np

_BOX = int(mujoco.mjtGeom.mjGEOM_BOX)


def set_mass(model: mujoco.MjModel, body: int, mass: float) -> None:
    """Set the mass of a body [kg], and scale its inertia."""
    scale = mass / float(model.body_mass[body])
    model.body_mass[body] = mass
    model.body_inertia[body] *= scale


def set_box_size(model: mujoco.MjModel, body: int, size: tuple[float, float, float]) -> None:
    """Set the edges of a body whose collision geom is a box at its origin [m].

    The inertia becomes that of a uniform box of the same mass. Meshes of the body, which are only
    displayed, keep their size.

    Raises:
        ValueError: The body has no collision box.
    """
    half = 0.5 * np.array(size)
    first = int(model.body_geomadr[body])
    geoms = range(first, first + int(model.body_geomnum[body]))
    boxes = [it for it in geoms if model.geom_type[it] == _BOX and model.geom_contype[it]]
    if len(boxes) != 1:
        raise ValueError(f"body '{model.body(body).name}' has {len(boxes)} collision boxes, not 1")
    model.geom_size[boxes[0]] = half
    model.geom_aabb[boxes[0], 3:] = half
    model.geom_rbound[boxes[0]] = np.linalg.norm(half)
    # Nodes of the hierarchy of bounding volumes may be larger than their content.
    nodes = slice(model.body_bvhadr[body], model.body_bvhadr[body] + model.body_bvhnum[body])
    model.bvh_aabb[nodes, 3:] = np.maximum(model.bvh_aabb[nodes, 3:], half)
    x, y, z = np.square(size)
    model.body_inertia[body] = model.body_mass[body] / 12.0 * np.array([y + z, x + z, x + y])


def offset_hinge(model: mujoco.MjModel, joint: int, offset: float) -> None:
    """Turn the link of a hinge against its encoder.

    Position and reference of the joint keep their meaning for encoder and drive, but the link is at
    a position that is smaller by `offset` [rad].
    """
    body, axis, anchor = int(model.jnt_bodyid[joint]), model.jnt_axis[joint], model.jnt_pos[joint]
    turn, quat, matrix = np.empty(4), np.empty(4), np.empty(9)
    mujoco.mju_axisAngle2Quat(turn, axis, -offset)
    mujoco.mju_quat2Mat(matrix, turn)
    moved = anchor - matrix.reshape(3, 3) @ anchor  # the anchor does not move
    mujoco.mju_quat2Mat(matrix, model.body_quat[body])
    model.body_pos[body] += matrix.reshape(3, 3) @ moved
    mujoco.mju_mulQuat(quat, model.body_quat[body], turn)
    model.body_quat[body] = quat


def free_base(model: mujoco.MjModel) -> int:
    """Return the first body with a free joint."""
    free = model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)
    return int(model.jnt_bodyid[int(np.argmax(free))])


def scale_masses(model: mujoco.MjModel, factors: np.ndarray) -> None:
    """Multiply mass and inertia of each body by a factor.  # (nbody,)"""
    model.body_mass[:] *= factors
    model.body_inertia[:] *= factors[:, None]


def tilt_floor(model: mujoco.MjModel, slope: float, direction: float) -> None:
    """Tilt all planes, and the free base in its keyframes, about the origin.

    Args:
        model: The model.
        slope: Angle of the floor [rad].
        direction: Where it rises, from the x axis [rad].
    """
    axis = np.array([np.sin(direction), -np.cos(direction), 0.0])
    turn, quat = np.empty(4), np.empty(4)
    mujoco.mju_axisAngle2Quat(turn, axis, slope)
    for geom in np.flatnonzero(model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)):
        mujoco.mju_mulQuat(quat, turn, model.geom_quat[geom])
        model.geom_quat[geom], model.geom_sameframe[geom] = quat, 0
    address = int(model.jnt_qposadr[int(model.body_jntadr[free_base(model)])])
    for qpos in (model.qpos0, *model.key_qpos):
        place = qpos[address : address + 3]
        mujoco.mju_rotVecQuat(place, place.copy(), turn)
        mujoco.mju_mulQuat(quat, turn, qpos[address + 3 : address + 7])
        qpos[address + 3 : address + 7] = quat
