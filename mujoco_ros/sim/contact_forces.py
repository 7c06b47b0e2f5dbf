"""Contacts and their forces."""

from dataclasses import dataclass

import mujoco
import numpy as np


@dataclass(frozen=True, kw_only=True, slots=True)
class ContactForces:
    """Contacts in the world frame, in the engine's order.

    Attributes:
        points: Positions [m].  # (n, 3)
        forces: Forces of the first body on the second [N].  # (n, 3)
        bodies: The two bodies of each contact.  # (n, 2)
        sides: Geom, or -1, and flex, or -1, of both sides.  # (n, 4)
    """

    points: np.ndarray
    forces: np.ndarray
    bodies: np.ndarray
    sides: np.ndarray


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
    return ContactForces(
        points=contact.pos.reshape(count, 3).copy(),
        forces=np.einsum("nij,ni->nj", axes, in_contact[:, :3]),
        bodies=_bodies(model, geoms, flexes),
        sides=np.hstack([geoms, flexes]),
    )


def _bodies(model: mujoco.MjModel, geoms: np.ndarray, flexes: np.ndarray) -> np.ndarray:
    bodies = np.zeros(geoms.shape, dtype=int)
    of_geom = geoms >= 0
    bodies[of_geom] = model.geom_bodyid[geoms[of_geom]]
    if not of_geom.all():  # a flex is reported by the first of its bodies
        first = model.flex_vertadr[flexes[~of_geom]]
        bodies[~of_geom] = model.flex_vertbodyid[first]
    return bodies
