"""Force closure of two fingers, compared with the convex hull of their wrenches."""

import numpy as np
import pytest
from scipy.optimize import linprog

from mujoco_ros.controllers.library.pick_place.grasping import (
    Contact,
    Grasp,
    ObjectShape,
    closure_flaw,
    grasp_contacts,
)
from mujoco_ros.model.pose import Pose
from mujoco_ros.sim.grasp_quality import HoldingContacts

CUBE = ObjectShape(centre=np.zeros(3), half=np.full(3, 0.02), geoms=(0,))
PAD = np.array([0.010, 0.008])


def wrenches(contact: Contact, friction: float) -> np.ndarray:
    """Return the edges of the wrench cone of a soft finger, in units of its force.  # (n, 6)"""
    axis = np.eye(3)[np.argmin(np.abs(contact.normal))]
    first = np.cross(contact.normal, axis)
    first /= np.linalg.norm(first)
    second = np.cross(contact.normal, first)
    found = []
    for angle in np.linspace(0.0, 2 * np.pi, 48, endpoint=False):
        tangent = np.cos(angle) * first + np.sin(angle) * second
        force = contact.normal + friction * tangent
        # In units of the object's size, so that forces and torques are comparable.
        found.append([*force, *(np.cross(contact.position / 0.02, force))])
    for torsion in (0.1, -0.1):
        torque = np.cross(contact.position / 0.02, contact.normal) + torsion * contact.normal
        found.append([*contact.normal, *torque])
    return np.array(found)


def has_origin_inside(points: np.ndarray) -> bool:
    """Return whether the origin is in the interior of the convex hull of points."""
    count, size = points.shape
    # Largest least weight of a combination that is zero; positive in the interior of a full hull.
    answer = linprog(
        c=[*np.zeros(count), -1.0],
        A_ub=np.hstack([-np.eye(count), np.ones((count, 1))]),
        b_ub=np.zeros(count),
        A_eq=np.vstack([np.hstack([points.T, np.zeros((size, 1))]), [*np.ones(count), 0.0]]),
        b_eq=[*np.zeros(size), 1.0],
        bounds=[(0, None)] * count + [(None, None)],
    )
    return bool(answer.success and -answer.fun > 1e-9 and np.linalg.matrix_rank(points) == size)


@pytest.mark.parametrize("seed", range(60))
def test_the_check_agrees_with_the_convex_hull_of_wrenches(seed):
    random = np.random.default_rng(seed)
    friction = random.uniform(0.2, 1.5)
    normals = random.normal((0.0, 1.0, 0.0), 0.4, (2, 3)) * [[1], [-1]]
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    places = np.array([[0.0, -0.02, 0.0], [0.0, 0.02, 0.0]])
    places[:, [0, 2]] = random.uniform(-0.02, 0.02, (2, 2))
    first, second = (Contact(position=p, normal=n) for p, n in zip(places, normals, strict=True))
    line = second.position - first.position
    angles = [
        np.degrees(np.arccos(np.clip(n @ s / np.linalg.norm(line), -1, 1)))
        for n, s in ((first.normal, line), (second.normal, -line))
    ]
    while abs(max(angles) - np.degrees(np.arctan(friction))) < 2.0:
        friction *= 1.1  # beyond the edge, for which the cone has too few edges
    hull = has_origin_inside(np.vstack([wrenches(it, friction) for it in (first, second)]))
    assert (closure_flaw(Grasp(contacts=(first, second)), friction) == "") == hull
    contacts = HoldingContacts(
        points=places,
        normals=normals,
        friction=np.full(2, friction),
        torsion=np.full(2, 0.002),
        pressed=np.ones(2),
        sliding=np.zeros(2),
    )
    assert (contacts.force_closure(edges=48) > 1e-9) == hull
    assert contacts.form_closure() == 0.0


def held(x: float = 0.0, z: float = 0.0, turn: float = 0.0) -> Pose:
    """Return a cube in the hand, turned about the tool's z axis."""
    quat = np.array([np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)])
    return Pose(position=np.array([x, 0.0, z]), quat_wxyz=quat)


def test_a_cube_between_the_pads_is_a_force_closure():
    grasp = grasp_contacts(held(), CUBE, PAD)
    assert closure_flaw(grasp, 1.5) == ""
    places = sorted(it.position[1] for it in grasp.contacts)
    assert places == pytest.approx([-0.02, 0.02])
    assert closure_flaw(grasp_contacts(held(x=0.015, z=0.01), CUBE, PAD), 1.5) == ""


def test_pads_beside_a_cube_are_not():
    flaw = closure_flaw(grasp_contacts(held(z=0.027), CUBE, PAD), 1.5)
    assert flaw == "the fingers miss the object by 2 mm"


def test_a_turned_cube_needs_friction():
    turned = grasp_contacts(held(turn=np.radians(25)), CUBE, PAD)
    assert closure_flaw(turned, 1.0) == ""
    assert "outside of the friction cone of 11°" in closure_flaw(turned, 0.2)
