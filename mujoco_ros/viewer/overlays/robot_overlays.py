"""Overlays of robots: forces, fields of view, balance, and planned paths of joints."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import mujoco
import numpy as np

from mujoco_ros.model.body_tree import carried
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.sensors.cameras import Camera, with_present_optics
from mujoco_ros.sim.observer import contact_forces
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import colours
from mujoco_ros.viewer.colours import CAMERA, PLAN, STABLE, UNSTABLE
from mujoco_ros.viewer.message_shapes import JointPath
from mujoco_ros.viewer.overlays.balance import balance_of
from mujoco_ros.viewer.overlays.shapes import Scale, arrow, line, outline, solid, sphere

_CONTACT_RADIUS = 0.4  # as a share of the radius of arrows: a gripped object remains visible


def contacts(state: SharedState, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return a sphere at every contact and the force on its second body."""
    found, radius = contact_forces(state.model, state.data), _CONTACT_RADIUS * scale.radius
    geoms = [sphere(point, radius, colours.CONTACT) for point in found.points]
    for point, force in zip(found.points, found.forces, strict=True):
        geoms += arrow(point, scale.force * force, radius, colours.CONTACT)
    return geoms


def sensed(state: SharedState, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return force and torque of every force-torque sensor, with the sign of their topic."""
    geoms: list[mujoco.MjvGeom] = []
    for robot in state.layout.robots:
        for sensor in robot.sensors["wrench"]:
            origin = state.data.site_xpos[sensor.site]
            axes = state.data.site_xmat[sensor.site].reshape(3, 3)
            for name, length, colour in (
                ("force", scale.force, colours.SENSED_FORCE),
                ("torque", scale.torque, colours.SENSED_TORQUE),
            ):
                if name in sensor.addresses:
                    start = sensor.addresses[name]
                    vector = scale.sensor_sign * (axes @ state.data.sensordata[start : start + 3])
                    geoms += arrow(origin, length * vector, scale.radius, colour)
    return geoms


def applied(state: SharedState, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return the external wrenches at the centres of mass of their bodies."""
    geoms: list[mujoco.MjvGeom] = []
    for body in np.flatnonzero(state.data.xfrc_applied.any(axis=1)):
        origin, wrench = state.data.xipos[body], state.data.xfrc_applied[body]
        geoms += arrow(origin, scale.force * wrench[:3], scale.radius, colours.APPLIED_FORCE)
        geoms += arrow(origin, scale.torque * wrench[3:], scale.radius, colours.APPLIED_TORQUE)
    return geoms


_PLANE, _CAMERA = int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtObj.mjOBJ_CAMERA)
_LENGTH_M = 0.4  # distance of the far end
_VIEW_RADIUS = 0.3  # radius of lines, as a share of the radius of arrows


def fields_of_view(state: SharedState, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return the pyramid that each camera shows, with a mark at the upper edge of its image."""
    geoms: list[mujoco.MjvGeom] = []
    radius = _VIEW_RADIUS * scale.radius
    for camera in state.layout.every_camera:
        apex = state.data.cam_xpos[camera.camera]
        corners = image_corners(state.data, camera)
        geoms += outline(corners, radius, CAMERA)
        for corner in corners:
            geoms += line(apex, corner, radius, CAMERA)
        top = 0.5 * (corners[0] + corners[1])
        geoms += line(top, top + 0.15 * (corners[1] - corners[2]), 2.0 * radius, CAMERA)
    return geoms


def image_corners(data: mujoco.MjData, camera: Camera) -> list[np.ndarray]:
    """Return the corners of the image in ``world``, clockwise from the top left [m]. # each (3,)"""
    position, axes = data.cam_xpos[camera.camera], data.cam_xmat[camera.camera].reshape(3, 3)
    optics = with_present_optics(camera, data.model).intrinsics
    horizontal = [(column - optics.cx) / optics.fx for column in (-0.5, camera.width - 0.5)]
    vertical = [(optics.cy - row) / optics.fy for row in (-0.5, camera.height - 0.5)]
    return [
        position + _LENGTH_M * axes @ np.array([horizontal[column], vertical[row], -1.0])
        for column, row in ((0, 0), (1, 0), (1, 1), (0, 1))
    ]


def camera_images(state: SharedState, _scale: Scale) -> list[mujoco.MjvGeom]:
    """Return a plane where the image of each camera is; pages show the newest image on it."""
    geoms = []
    for camera in state.layout.every_camera:
        corners = np.stack(image_corners(state.data, camera))
        width, height = np.linalg.norm(corners[1:3] - corners[0:2], axis=1)
        size = 0.5 * np.array([width, height, 0.0])
        axes = state.data.cam_xmat[camera.camera]
        geom = solid(_PLANE, size, corners.mean(axis=0), axes, colours.WHITE)
        geom.objtype, geom.objid = _CAMERA, camera.camera
        geom.emission = 1.0  # bright without a light
        geoms.append(geom)
    return geoms


_LIFT_M = 0.002  # height of the outline above the contacts, so that the floor does not hide it


def balance(state: SharedState, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return the centre of mass, plumb line and support polygon of floating robots.

    They are green while the robot is stable, see `Balance`.
    """
    geoms: list[mujoco.MjvGeom] = []
    for robot in state.layout.robots:
        if not robot.bases:
            continue
        found = balance_of(state, robot)
        colour = STABLE if found.is_stable else UNSTABLE
        centre = np.array([*found.centre, found.height])
        foot = np.array([*found.centre, found.ground + _LIFT_M])
        geoms += [
            sphere(centre, 3 * scale.radius, colour),
            sphere(foot, 1.5 * scale.radius, colour),
        ]
        geoms += line(centre, foot, 0.4 * scale.radius, colour)
        corners = [np.array([x, y, foot[2]]) for x, y in found.support]
        geoms += outline(corners, 0.6 * scale.radius, colour) if len(corners) > 1 else []
    return geoms


_PATH_RADIUS = 0.4  # radius of lines, as a share of the radius of arrows


class JointPaths:
    """Draws trajectories, with all else as it was when each of them appeared."""

    def __init__(self) -> None:
        self._model: mujoco.MjModel | None = None
        self._data: mujoco.MjData
        self._drawn: dict[str, tuple[JointPath, list[np.ndarray]]] = {}

    def __call__(
        self, state: SharedState, paths: Mapping[str, JointPath], scale: Scale
    ) -> list[mujoco.MjvGeom]:
        """Return the lines of the trajectories of topics."""
        if state.model is not self._model:
            self._model, self._data = state.model, mujoco.MjData(state.model)
            self._drawn = {}
        self._drawn = {
            topic: path_and_places
            for topic, path_and_places in self._drawn.items()
            if topic in paths
        }
        for topic, path in paths.items():
            if topic not in self._drawn or self._drawn[topic][0] is not path:
                places = [
                    self._places(state, robot, path) for robot in _moved_robots(state, topic, path)
                ]
                self._drawn[topic] = path, [place for of_robot in places for place in of_robot]
        return [
            geom
            for _, places in self._drawn.values()
            for place in places
            for start, end in pairwise(place)
            for geom in line(start, end, _PATH_RADIUS * scale.radius, PLAN)
        ]

    def _places(self, state: SharedState, robot: RobotLayout, path: JointPath) -> list[np.ndarray]:
        """Return the positions of each end, first the present one [m].  # each (n, 3)"""
        columns = [robot.joints.names.index(name) for name in path.joints]
        links = list(_ends(state, robot.joints.ids[columns]))
        addresses, data = robot.joints.qpos[columns], self._data
        data.qpos[:] = state.data.qpos
        data.mocap_pos[:], data.mocap_quat[:] = state.data.mocap_pos, state.data.mocap_quat
        places = [state.data.xpos[links].copy()]
        for positions in path.positions:
            data.qpos[addresses] = positions
            mujoco.mj_kinematics(state.model, data)
            places.append(data.xpos[links].copy())
        return list(np.stack(places, axis=1))


def _moved_robots(state: SharedState, topic: str, path: JointPath) -> list[RobotLayout]:
    """Return the robot with the joints whose namespace the topic is in, or else all with them."""
    able = [robot for robot in state.layout.robots if set(path.joints) <= set(robot.joints.names)]
    namespaced = [
        robot for robot in able if robot.namespace and topic.startswith(f"/{robot.namespace}/")
    ]
    longest = max((len(robot.namespace) for robot in namespaced), default=0)
    return [robot for robot in namespaced if len(robot.namespace) == longest] or able


def _ends(state: SharedState, joints: np.ndarray) -> Iterator[int]:
    """Yield, for the last joint of each chain, the farthest of the bodies that it moves."""
    moved = {int(body) for body in state.model.jnt_bodyid[joints]}
    for last in sorted(moved):
        below = np.flatnonzero(carried(state.model, last)).tolist()
        if moved.isdisjoint(below[1:]):
            positions = state.data.xpos[below]
            yield below[int(np.linalg.norm(positions - positions[0], axis=1).argmax())]
