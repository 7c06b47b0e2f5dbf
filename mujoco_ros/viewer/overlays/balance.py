"""Centre of mass and support polygon of floating robots."""

from itertools import pairwise

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.observer import contact_forces
from mujoco_ros.viewer.overlays.overlay_scene import OverlayScene, Scale
from mujoco_ros.viewer.overlays.shapes import line, outline, sphere
from mujoco_ros.viewer.style import STABLE, UNSTABLE

_UP = np.array([0.0, 0.0, 1.0])
_LIFT_M = 0.002
"""Height of the outline above the contacts, so that the floor does not hide it."""


def balance(scene: OverlayScene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return the centre of mass of each floating robot, its plumb line, and its support polygon.

    They are green while the centre of mass is above the polygon: the horizontal hull of all
    contacts that push the robot up.
    """
    geoms: list[mujoco.MjvGeom] = []
    for robot in scene.layout.robots:
        if not robot.bases:
            continue
        centre, points = centre_of_mass(scene, robot), supports(scene, robot)
        hull = convex_hull(points[:, :2])
        colour = STABLE if inside(hull, centre[:2]) else UNSTABLE
        height = (points[:, 2].max() if len(points) else 0.0) + _LIFT_M
        foot = np.array([centre[0], centre[1], height])
        geoms += [
            sphere(centre, 3 * scale.radius, colour),
            sphere(foot, 1.5 * scale.radius, colour),
        ]
        geoms += line(centre, foot, 0.4 * scale.radius, colour)
        corners = [np.array([x, y, height]) for x, y in hull]
        geoms += outline(corners, 0.6 * scale.radius, colour) if len(corners) > 1 else []
    return geoms


def centre_of_mass(scene: OverlayScene, robot: RobotLayout) -> np.ndarray:
    """Return the centre of mass of a robot [m].  # (3,)"""
    bodies = list(robot.bodies)
    masses = scene.model.body_mass[bodies]
    return np.asarray(masses @ scene.data.xipos[bodies] / masses.sum())


def supports(scene: OverlayScene, robot: RobotLayout) -> np.ndarray:
    """Return the contacts that push a robot up, without those inside it [m].  # (n, 3)"""
    found = contact_forces(scene.model, scene.data)
    own = np.isin(found.bodies, robot.bodies)  # (n, 2)
    upwards = np.where(own[:, 1], 1.0, -1.0) * (found.forces @ _UP)
    return np.asarray(found.points[(own[:, 0] != own[:, 1]) & (upwards > 0.0)])


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the smallest convex polygon around `points`, counterclockwise.

    Args:
        points: Points of a plane.  # (n, 2)

    Source:
        A. M. Andrew, "Another efficient algorithm for convex hulls in two dimensions", 1979.
    """
    distinct = sorted({(float(x), float(y)) for x, y in points})
    if len(distinct) < 3:
        return np.array(distinct).reshape(-1, 2)
    chains = []
    for ordered in (distinct, distinct[::-1]):
        chain: list[tuple[float, float]] = []
        for point in ordered:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0.0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1])


def inside(hull: np.ndarray, point: np.ndarray) -> bool:
    """Return whether a point is in a convex polygon of three or more corners, counterclockwise."""
    if len(hull) < 3:
        return False
    corners = [*hull, hull[0]]
    return all(_turn(start, end, point) >= 0.0 for start, end in pairwise(corners))


def _turn(
    first: tuple[float, float] | np.ndarray,
    second: tuple[float, float] | np.ndarray,
    third: tuple[float, float] | np.ndarray,
) -> float:
    """Return twice the signed area of a triangle; positive if counterclockwise."""
    return float(
        (second[0] - first[0]) * (third[1] - first[1])
        - (second[1] - first[1]) * (third[0] - first[0])
    )
