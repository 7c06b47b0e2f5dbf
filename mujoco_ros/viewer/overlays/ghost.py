"""Robots at their joint references, translucent, at the current poses of their bases."""

from collections.abc import Callable

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.viewer.overlays.overlay_scene import OverlayScene, Scale
from mujoco_ros.viewer.overlays.shapes import solid
from mujoco_ros.viewer.style import GHOST

_MIN_DISTANCE_M = 1e-3
_MIN_ROTATION = 2e-3
"""Geoms closer to their reference are not drawn: they would flicker."""
_VISIBLE_GROUPS = 3
"""Geom groups that MuJoCo shows by default; the others are for collisions."""
_MESH, _ELLIPSOID, *_PRIMITIVES = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}"))
    for name in ("MESH", "ELLIPSOID", "SPHERE", "CAPSULE", "CYLINDER", "BOX")
)


class Ghost:
    """Draws robots at their joint references.

    Studio draws no meshes as decoration, so ellipsoids of their size replace them.
    """

    def __init__(self, wants: Callable[[str], bool] = lambda _name: True) -> None:
        """Draw the robots whose names `wants` returns True for."""
        self._wants = wants
        self._model: mujoco.MjModel | None = None
        self._data: mujoco.MjData

    def __call__(self, scene: OverlayScene, _scale: Scale) -> list[mujoco.MjvGeom]:
        """Return the geoms of robots that differ from their references."""
        model = scene.model
        if model is not self._model:
            self._model, self._data = model, mujoco.MjData(model)
        data = self._data
        data.qpos[:] = scene.data.qpos
        data.mocap_pos[:], data.mocap_quat[:] = scene.data.mocap_pos, scene.data.mocap_quat
        for robot, columns in zip(scene.layout.robots, scene.layout.columns, strict=True):
            references = scene.references[columns]
            finite = np.isfinite(references)
            data.qpos[robot.joints.qpos[finite]] = references[finite]
        mujoco.mj_kinematics(model, data)
        differs = np.abs(data.geom_xpos - scene.data.geom_xpos).max(axis=1) > _MIN_DISTANCE_M
        differs |= np.abs(data.geom_xmat - scene.data.geom_xmat).max(axis=1) > _MIN_ROTATION
        return [
            self._shape(geom)
            for robot in scene.layout.robots
            if self._wants(robot.name)
            for geom in _visible(scene, robot)
            if differs[geom]
        ]

    def _shape(self, geom: int) -> mujoco.MjvGeom:
        """Return a geom at the references; an ellipsoid for a mesh."""
        assert self._model is not None
        model, data = self._model, self._data
        axes, position = data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom]
        if model.geom_type[geom] != _MESH:
            return solid(int(model.geom_type[geom]), model.geom_size[geom], position, axes, GHOST)
        middle, half = model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
        return solid(_ELLIPSOID, half, position + axes @ middle, axes, GHOST)


def _visible(scene: OverlayScene, robot: RobotLayout) -> list[int]:
    model = scene.model
    of_robot = np.isin(model.geom_bodyid, robot.bodies) & (scene.geom_group < _VISIBLE_GROUPS)
    drawable = np.isin(model.geom_type, [_MESH, _ELLIPSOID, *_PRIMITIVES])
    return [int(geom) for geom in np.flatnonzero(of_robot & drawable)]
