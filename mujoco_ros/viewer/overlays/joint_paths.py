"""Trajectories of joints, as the paths of the ends of the chains that they move."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.viewer.message_shapes import JointPath
from mujoco_ros.viewer.overlays.overlay_scene import OverlayScene, Scale
from mujoco_ros.viewer.overlays.shapes import line
from mujoco_ros.viewer.style import PLAN

_RADIUS = 0.4
"""Of lines, as a share of that of arrows."""


class JointPaths:
    """Draws trajectories, with all else as it was when each of them appeared."""

    def __init__(self) -> None:
        """Draw nothing yet."""
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
        self._drawn = {topic: it for topic, it in self._drawn.items() if topic in paths}
        for topic, path in paths.items():
            if topic not in self._drawn or self._drawn[topic][0] is not path:
                places = [self._places(scene, it, path) for it in _moved_robots(scene, topic, path)]
                self._drawn[topic] = path, [place for of_robot in places for place in of_robot]
        return [
            geom
            for _, places in self._drawn.values()
            for place in places
            for start, end in pairwise(place)
            for geom in line(start, end, _RADIUS * scale.radius, PLAN)
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
    able = [it for it in scene.layout.robots if set(path.joints) <= set(it.joints.names)]
    within = [it for it in able if it.namespace and topic.startswith(f"/{it.namespace}/")]
    longest = max((len(it.namespace) for it in within), default=0)
    return [it for it in within if len(it.namespace) == longest] or able


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
    """Return a body and those that carry it."""
    chain = set()
    while body:
        chain.add(body)
        body = int(model.body_parentid[body])
    return chain
