"""Where robots are told to be: translucent, in the place where their bases are."""

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.viewer.overlays.overlay_scene import Scale, Scene
from mujoco_ros.viewer.overlays.shapes import Colour, solid

_COLOUR: Colour = (0.30, 0.70, 1.0, 0.35)
_APART_M = 1e-3
_TURNED = 2e-3
"""What is closer to where it ought to be is not drawn: it would only flicker."""
_GROUPS = 3
"""So many groups of geoms are seen unless somebody asks for more; the others are for collisions."""
_SHAPES = {
    int(kind)
    for kind in (
        mujoco.mjtGeom.mjGEOM_SPHERE,
        mujoco.mjtGeom.mjGEOM_CAPSULE,
        mujoco.mjtGeom.mjGEOM_ELLIPSOID,
        mujoco.mjtGeom.mjGEOM_CYLINDER,
        mujoco.mjtGeom.mjGEOM_BOX,
    )
}
_MESH = int(mujoco.mjtGeom.mjGEOM_MESH)


class Ghost:
    """Draws the robots of a model as their references want them.

    Studio draws no meshes over a scene; there are ellipsoids of their size instead.
    """

    def __init__(self) -> None:
        """Know no model yet."""
        self._model: mujoco.MjModel | None = None
        self._data: mujoco.MjData

    def __call__(self, scene: Scene, _scale: Scale) -> list[mujoco.MjvGeom]:
        """Return the geoms of robots that are not where they are told to be."""
        model = scene.model
        if model is not self._model:
            self._model, self._data = model, mujoco.MjData(model)
        data = self._data
        data.qpos[:] = scene.data.qpos
        data.mocap_pos[:], data.mocap_quat[:] = scene.data.mocap_pos, scene.data.mocap_quat
        for robot, columns in zip(scene.layout.robots, scene.layout.columns, strict=True):
            told = scene.references[columns]
            known = np.isfinite(told)
            data.qpos[robot.joints.qpos[known]] = told[known]
        mujoco.mj_kinematics(model, data)
        strayed = np.abs(data.geom_xpos - scene.data.geom_xpos).max(axis=1) > _APART_M
        strayed |= np.abs(data.geom_xmat - scene.data.geom_xmat).max(axis=1) > _TURNED
        return [
            self._shape(geom)
            for robot in scene.layout.robots
            for geom in _visible(model, robot)
            if strayed[geom]
        ]

    def _shape(self, geom: int) -> mujoco.MjvGeom:
        """Return a geom of the ghost, or what stands for it."""
        assert self._model is not None
        model, data = self._model, self._data
        axes, position = data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom]
        if model.geom_type[geom] != _MESH:
            return solid(int(model.geom_type[geom]), model.geom_size[geom], position, axes, _COLOUR)
        middle, half = model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
        kind = int(mujoco.mjtGeom.mjGEOM_ELLIPSOID)
        return solid(kind, half, position + axes @ middle, axes, _COLOUR)


def _visible(model: mujoco.MjModel, robot: RobotLayout) -> list[int]:
    """Return the geoms of a robot that are seen, and that can be drawn."""
    of_robot = np.isin(model.geom_bodyid, robot.bodies) & (model.geom_group < _GROUPS)
    drawable = np.isin(model.geom_type, [*_SHAPES, _MESH])
    return [int(geom) for geom in np.flatnonzero(of_robot & drawable)]
