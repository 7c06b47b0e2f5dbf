"""Where a floating robot's weight is, and on what it stands."""

from itertools import pairwise

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.contact_forces import contact_forces
from mujoco_ros.viewer.overlays.overlay_scene import Scale, Scene
from mujoco_ros.viewer.overlays.shapes import Colour, ball, line, outline

STABLE: Colour = (0.20, 0.75, 0.35, 0.95)
UNSTABLE: Colour = (0.92, 0.25, 0.20, 0.95)
_LEVEL = (0.0, 0.0, 1.0)
_LIFT_M = 0.002
"""So far above its feet is the outline, lest it vanish in the floor."""


def balance(scene: Scene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return the centre of mass of each floating robot, plumbed, and its support polygon.

    They are green while the one is above the other. What contacts carry counts as support: the
    hull of all points where something else pushes the robot up, seen from above.
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
        geoms += [ball(centre, 3 * scale.radius, colour), ball(foot, 1.5 * scale.radius, colour)]
        geoms += line(centre, foot, 0.4 * scale.radius, colour)
        corners = [np.array([x, y, height]) for x, y in hull]
        geoms += outline(corners, 0.6 * scale.radius, colour) if len(corners) > 1 else []
    return geoms


def centre_of_mass(scene: Scene, robot: RobotLayout) -> np.ndarray:
    """Return where the weight of a robot is [m].  # (3,)"""
    bodies = list(robot.bodies)
    masses = scene.model.body_mass[bodies]
    return np.asarray(masses @ scene.data.xipos[bodies] / masses.sum())


def supports(scene: Scene, robot: RobotLayout) -> np.ndarray:
    """Return the points where something that is not the robot pushes it up [m].  # (n, 3)"""
    found = contact_forces(scene.model, scene.data)
    own = np.isin(found.bodies, robot.bodies)  # (n, 2)
    upwards = np.where(own[:, 1], 1.0, -1.0) * (found.forces @ np.array(_LEVEL))
    return np.asarray(found.points[(own[:, 0] != own[:, 1]) & (upwards > 0.0)])


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the smallest convex polygon around `points`, counterclockwise.

    Args:
        points: In a plane.  # (n, 2)

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
    """Whether a point is in a convex polygon, given counterclockwise; never in less than three."""
    if len(hull) < 3:
        return False
    corners = [*hull, hull[0]]
    return all(_turn(start, end, point) >= 0.0 for start, end in pairwise(corners))


def _turn(
    first: tuple[float, float] | np.ndarray,
    second: tuple[float, float] | np.ndarray,
    third: tuple[float, float] | np.ndarray,
) -> float:
    """Return how far it goes to the left from `first` over `second` to `third`."""
    return float(
        (second[0] - first[0]) * (third[1] - first[1])
        - (second[1] - first[1]) * (third[0] - first[0])
    )
