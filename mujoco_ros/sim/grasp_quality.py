"""How well contacts hold a body: force closure, form closure, and the margin of friction.

The definitions are in C. Ferrari and J. Canny, "Planning optimal grasps", ICRA 1992.
"""

from collections.abc import Collection
from dataclasses import dataclass

import mujoco
import numpy as np

_SIZE = 6  # of a wrench
_ROUNDING = 1e-6
_PRESSED = 0.01
"""Share of the mean normal force below which a contact has no margin, because it holds nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HoldingContacts:
    """Contacts that push a body."""

    points: np.ndarray  # from the body's centre of mass [m] (n, 3)
    normals: np.ndarray  # unit vectors into the body (n, 3)
    friction: np.ndarray  # coefficients of sliding (n,)
    torsion: np.ndarray  # of torsion [m]; zero for a contact without (n,)
    pressed: np.ndarray  # normal forces [N] (n,)
    sliding: np.ndarray  # tangential forces as a share of the friction (n,)

    @property
    def margin(self) -> float:
        """Distance of the contact forces from their friction cones: 1 without load, 0 if they slip.

        It is the least one of all contacts, 1 - |f_t| / (mu f_n), by the engine's cone: |f_t| is
        the sum of the tangential forces for a pyramid, and their length for an elliptic cone. It is
        NaN without contacts.
        """
        if not len(self.pressed):
            return np.nan
        holds = self.pressed > _PRESSED * self.pressed.mean()
        return float(1.0 - self.sliding[holds].max()) if holds.any() else np.nan

    def force_closure(self, edges: int = 4) -> float:
        """Return the quality of the force closure; 0 if the contacts are no force closure.

        It is the largest wrench that they resist in every direction if all together push with 1 N:
        the distance from zero to the convex hull of their wrenches. Torques are divided by the
        largest distance of a contact from the centre. A pyramid of `edges` approximates a cone.
        It takes 1 ms for 2 contacts, and 5 ms for 8 with 4 edges.
        """
        angles = np.linspace(0.0, 2 * np.pi, edges, endpoint=False)
        forces = [self.normals]
        first = np.cross(self.normals, np.eye(3)[np.abs(self.normals).argmin(axis=1)])
        first /= np.linalg.norm(first, axis=1)[:, None]
        second = np.cross(self.normals, first)
        for angle in angles:
            tangent = np.cos(angle) * first + np.sin(angle) * second
            forces.append(self.normals + self.friction[:, None] * tangent)
        return self._distance(forces, self.torsion)

    def form_closure(self) -> float:
        """Return the same for contacts without friction, which is positive for a form closure."""
        return self._distance([self.normals], np.zeros(len(self.points)))

    def _distance(self, forces: list[np.ndarray], torsion: np.ndarray) -> float:
        size = float(np.linalg.norm(self.points, axis=1).max(initial=0.0))
        if not size:
            return 0.0
        wrenches = [np.hstack([force, np.cross(self.points, force) / size]) for force in forces]
        turned = np.hstack([np.zeros_like(self.normals), torsion[:, None] * self.normals / size])
        twisted = torsion > 0.0
        wrenches += [(wrenches[0] + sign * turned)[twisted] for sign in (1.0, -1.0)]
        found = np.unique(np.vstack(wrenches).round(9), axis=0)
        if len(found) <= _SIZE or np.linalg.matrix_rank(found - found[0], tol=1e-6) < _SIZE:
            return 0.0
        from scipy.spatial import ConvexHull  # 14 MB, which few windows of the page need

        # Joggled, because the wrenches of one cone have many facets in common.
        offset = float(ConvexHull(found, qhull_options="QJ").equations[:, -1].max())
        return -offset if offset < -_ROUNDING else 0.0


def holding_contacts(
    model: mujoco.MjModel, data: mujoco.MjData, body: int, holders: Collection[int] | None = None
) -> HoldingContacts:
    """Return the contacts of a body, of the state that `data` was last forwarded in.

    `holders` are the bodies that count; None for all other bodies.
    """
    contact, of_geom = data.contact, model.geom_bodyid
    geoms = contact.geom.reshape(-1, 2)
    bodies = np.where(geoms >= 0, of_geom[geoms], -1)
    rows, signs = [], []
    for row, (first, second) in enumerate(bodies.tolist()):
        other = second if first == body else first
        if first == second or body not in (first, second) or contact.efc_address[row] < 0:
            continue
        if holders is None or other in holders:
            rows.append(row)
            signs.append(1.0 if second == body else -1.0)
    loads = np.zeros((len(rows), 6))
    for load, row in zip(loads, rows, strict=True):
        mujoco.mj_contactForce(model, data, row, load)
    friction, dim = contact.friction[rows].reshape(-1, 5), contact.dim[rows]
    # A pyramid of the engine has its edges on the axes of the contact frame.
    norm = 1 if model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL else 2
    tangential = np.linalg.norm(loads[:, 1:3] / friction[:, :2], norm, axis=1)
    return HoldingContacts(
        points=contact.pos[rows].reshape(-1, 3) - data.xipos[body],
        normals=np.array(signs)[:, None] * contact.frame[rows].reshape(-1, 9)[:, :3],
        friction=np.where(dim > 1, friction[:, 0], 0.0),
        torsion=np.where(dim > 3, friction[:, 2], 0.0),
        pressed=loads[:, 0],
        sliding=tangential / np.maximum(loads[:, 0], 1e-12),
    )
