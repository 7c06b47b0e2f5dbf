"""Overlays of robots: forces, fields of view, balance, and planned paths of joints."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import cv2
import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.sensors.cameras import Camera
from mujoco_ros.sim.observer import contact_forces
from mujoco_ros.viewer import colours
from mujoco_ros.viewer.colours import CAMERA, PLAN, STABLE, UNSTABLE
from mujoco_ros.viewer.message_shapes import JointPath
from mujoco_ros.viewer.overlays.shapes import OverlayScene, Scale, arrow, line, outline, sphere


def contacts(scene: OverlayScene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return a sphere at every contact and the force on its second body."""
    found = contact_forces(scene.model, scene.data)
    geoms = [sphere(point, scale.radius, colours.CONTACT) for point in found.points]
    for point, force in zip(found.points, found.forces, strict=True):
        geoms += arrow(point, scale.force * force, scale.radius, colours.CONTACT)
    return geoms


def sensed(scene: OverlayScene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return force and torque of every force-torque sensor, with the sign of their topic."""
    geoms: list[mujoco.MjvGeom] = []
    for robot in scene.layout.robots:
        for sensor in robot.sensors["wrench"]:
            origin = scene.data.site_xpos[sensor.site]
            axes = scene.data.site_xmat[sensor.site].reshape(3, 3)
            for name, length, colour in (
                ("force", scale.force, colours.SENSED_FORCE),
                ("torque", scale.torque, colours.SENSED_TORQUE),
            ):
                if name in sensor.addresses:
                    start = sensor.addresses[name]
                    vector = scale.sensor_sign * (axes @ scene.sensordata[start : start + 3])
                    geoms += arrow(origin, length * vector, scale.radius, colour)
    return geoms


def applied(scene: OverlayScene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return the external wrenches at the centres of mass of their bodies."""
    geoms: list[mujoco.MjvGeom] = []
    for body in np.flatnonzero(scene.applied.any(axis=1)):
        origin, wrench = scene.data.xipos[body], scene.applied[body]
        geoms += arrow(origin, scale.force * wrench[:3], scale.radius, colours.APPLIED_FORCE)
        geoms += arrow(origin, scale.torque * wrench[3:], scale.radius, colours.APPLIED_TORQUE)
    return geoms


_LENGTH_M = 0.4  # distance of the far end
_VIEW_RADIUS = 0.3  # radius of lines, as a share of the radius of arrows


def fields_of_view(scene: OverlayScene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return the pyramid that each camera shows, with a mark at the upper edge of its image."""
    geoms: list[mujoco.MjvGeom] = []
    radius = _VIEW_RADIUS * scale.radius
    for camera in scene.layout.every_camera:
        apex = scene.data.cam_xpos[camera.camera]
        corners = image_corners(scene.data, camera)
        geoms += outline(corners, radius, CAMERA)
        for corner in corners:
            geoms += line(apex, corner, radius, CAMERA)
        top = 0.5 * (corners[0] + corners[1])
        geoms += line(top, top + 0.15 * (corners[1] - corners[2]), 2.0 * radius, CAMERA)
    return geoms


def image_corners(data: mujoco.MjData, camera: Camera) -> list[np.ndarray]:
    """Return the corners of the image in ``world``, clockwise from the top left [m]. # each (3,)"""
    position, axes = data.cam_xpos[camera.camera], data.cam_xmat[camera.camera].reshape(3, 3)
    optics = camera.intrinsics
    horizontal = [(column - optics.cx) / optics.fx for column in (-0.5, camera.width - 0.5)]
    vertical = [(optics.cy - row) / optics.fy for row in (-0.5, camera.height - 0.5)]
    return [
        position + _LENGTH_M * axes @ np.array([horizontal[column], vertical[row], -1.0])
        for column, row in ((0, 0), (1, 0), (1, 1), (0, 1))
    ]


_UP = np.array([0.0, 0.0, 1.0])
_LIFT_M = 0.002  # height of the outline above the contacts, so that the floor does not hide it


def balance(scene: OverlayScene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return the centre of mass, plumb line and support polygon of floating robots.

    They are green while the centre is above the hull of all contacts that push the robot up.
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
    """Return the contacts with other bodies that push a robot up [m].  # (n, 3)"""
    found = contact_forces(scene.model, scene.data)
    own = np.isin(found.bodies, robot.bodies)  # (n, 2)
    upwards = np.where(own[:, 1], 1.0, -1.0) * (found.forces @ _UP)
    return np.asarray(found.points[(own[:, 0] != own[:, 1]) & (upwards > 0.0)])


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex polygon around points, counterclockwise.  # (n, 2)"""
    if not len(points):
        return np.zeros((0, 2))
    return np.asarray(cv2.convexHull(points.astype(np.float32)).reshape(-1, 2).astype(float))


def inside(hull: np.ndarray, point: np.ndarray) -> bool:
    """Return whether a point is in a convex polygon of three or more corners."""
    place = float(point[0]), float(point[1])
    return len(hull) > 2 and cv2.pointPolygonTest(hull.astype(np.float32), place, False) >= 0


_PATH_RADIUS = 0.4  # radius of lines, as a share of the radius of arrows


class JointPaths:
    """Draws trajectories, with all else as it was when each of them appeared."""

    def __init__(self) -> None:
        self._model: mujoco.MjModel | None = None
        self._data: mujoco.MjData
        self._drawn: dict[str, tuple[JointPath, list[np.ndarray]]] = {}

    def __call__(
        self, scene: OverlayScene, paths: Mapping[str, JointPath], scale: Scale
    ) -> list[mujoco.MjvGeom]:
        """Return the lines of the trajectories of topics."""
        if scene.model is not self._model:
            self._model, self._data = scene.model, mujoco.MjData(scene.model)
            self._drawn = {}
        self._drawn = {
            topic: path_and_places
            for topic, path_and_places in self._drawn.items()
            if topic in paths
        }
        for topic, path in paths.items():
            if topic not in self._drawn or self._drawn[topic][0] is not path:
                places = [
                    self._places(scene, robot, path) for robot in _moved_robots(scene, topic, path)
                ]
                self._drawn[topic] = path, [place for of_robot in places for place in of_robot]
        return [
            geom
            for _, places in self._drawn.values()
            for place in places
            for start, end in pairwise(place)
            for geom in line(start, end, _PATH_RADIUS * scale.radius, PLAN)
        ]

    def _places(self, scene: OverlayScene, robot: RobotLayout, path: JointPath) -> list[np.ndarray]:
        """Return the positions of each end, first the present one [m].  # each (n, 3)"""
        columns = [robot.joints.names.index(name) for name in path.joints]
        links = list(_ends(scene, robot.joints.ids[columns]))
        addresses, data = robot.joints.qpos[columns], self._data
        data.qpos[:] = scene.data.qpos
        data.mocap_pos[:], data.mocap_quat[:] = scene.data.mocap_pos, scene.data.mocap_quat
        places = [scene.data.xpos[links].copy()]
        for positions in path.positions:
            data.qpos[addresses] = positions
            mujoco.mj_kinematics(scene.model, data)
            places.append(data.xpos[links].copy())
        return list(np.stack(places, axis=1))


def _moved_robots(scene: OverlayScene, topic: str, path: JointPath) -> list[RobotLayout]:
    """Return the robot with the joints whose namespace the topic is in, or else all with them."""
    able = [robot for robot in scene.layout.robots if set(path.joints) <= set(robot.joints.names)]
    namespaced = [
        robot for robot in able if robot.namespace and topic.startswith(f"/{robot.namespace}/")
    ]
    longest = max((len(robot.namespace) for robot in namespaced), default=0)
    return [robot for robot in namespaced if len(robot.namespace) == longest] or able


def _ends(scene: OverlayScene, joints: np.ndarray) -> Iterator[int]:
    """Yield, for the last joint of each chain, the farthest of the bodies that it moves."""
    model, data = scene.model, scene.data
    chains = [_chain(model, body) for body in range(model.nbody)]
    moved = {int(body) for body in model.jnt_bodyid[joints]}
    for last in sorted(moved):
        below = [body for body, chain in enumerate(chains) if last in chain]
        if not any(body in moved for body in below if body != last):
            distances = np.linalg.norm(data.xpos[below] - data.xpos[last], axis=1)
            yield below[int(np.argmax(distances))]


def _chain(model: mujoco.MjModel, body: int) -> set[int]:
    """Return a body and all bodies that carry it."""
    chain = set()
    while body:
        chain.add(body)
        body = int(model.body_parentid[body])
    return chain
