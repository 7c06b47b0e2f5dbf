"""The balance of a standing robot: its centre of mass, capture point, ZMP and support polygon."""

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.observer import contact_forces
from mujoco_ros.sim.shared_memory.reader import SharedState

_LEAST_M = 0.05  # height of the centre of mass from which on it falls like a pendulum [m]
_LEAST_N = 1.0  # force from which on there is a centre of pressure [N]


@dataclass(frozen=True, kw_only=True, slots=True)
class Balance:
    """Positions in the horizontal plane of ``world`` [m]."""

    centre: np.ndarray  # centre of mass (2,)
    height: float  # of the centre of mass [m]
    ground: float  # height of the highest contact that pushes the robot up; 0 without one [m]
    support: np.ndarray  # corners of the support polygon, counterclockwise (n, 2)
    capture: np.ndarray | None  # divergent component of motion (2,); None close to the ground
    pressure: np.ndarray | None  # centre of pressure, the ZMP (2,); None without a force

    @property
    def is_stable(self) -> bool:
        """Whether the capture point, else the centre of mass, is in the support polygon."""
        point = self.centre if self.capture is None else self.capture
        return inside(self.support, point)


def balance_of(state: SharedState, robot: RobotLayout) -> Balance:
    """Return the balance of a robot with a floating base, after ``mj_forward``."""
    model, data = state.model, state.data
    bodies = list(robot.bodies)
    masses = model.body_mass[bodies]
    centre = masses @ data.xipos[bodies] / masses.sum()
    found = contact_forces(model, data)
    own = np.isin(found.bodies, robot.bodies)  # (n, 2)
    upwards = np.where(own[:, 1], 1.0, -1.0) * found.forces[:, 2]
    pushes = (own[:, 0] != own[:, 1]) & (upwards > 0.0)
    points, forces = found.points[pushes], upwards[pushes]
    pressure = None
    if forces.sum() > _LEAST_N:
        pressure = (forces @ points[:, :2]) / forces.sum()
    ground = float(points[:, 2].mean()) if len(points) else 0.0
    height, gravity = float(centre[2]) - ground, float(np.linalg.norm(model.opt.gravity))
    capture = None
    if height > _LEAST_M and gravity > 0.0:
        mujoco.mj_subtreeVel(model, data)
        velocity = data.subtree_linvel[robot.bases[0].body][:2]
        capture = centre[:2] + velocity * math.sqrt(height / gravity)
    return Balance(
        centre=centre[:2],
        height=float(centre[2]),
        ground=float(points[:, 2].max()) if len(points) else 0.0,
        support=convex_hull(points[:, :2]),
        capture=capture,
        pressure=pressure,
    )


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex polygon around points, counterclockwise.  # (n, 2)"""
    if not len(points):
        return np.zeros((0, 2))
    import cv2  # needs 20 MB, and few pages show the balance

    return np.asarray(cv2.convexHull(points.astype(np.float32)).reshape(-1, 2).astype(float))


def inside(hull: np.ndarray, point: np.ndarray) -> bool:
    """Return whether a point is in a convex polygon of three or more corners."""
    import cv2

    place = float(point[0]), float(point[1])
    return len(hull) > 2 and cv2.pointPolygonTest(hull.astype(np.float32), place, False) >= 0
