"""The abstract scene of a model as one set of options shows it."""

import mujoco
import numpy as np

from mujoco_ros.viewer.scene.entries import OverlayEntries
from mujoco_ros.viewer.scene.geom_memory import SceneGeoms
from mujoco_ros.viewer.scene.inputs import PageCamera, Picked, PictureRequest
from mujoco_ros.viewer.scene.options import ViewOptions
from mujoco_ros.viewer.scene.soft_bodies import append_flex_parts

MOST_GEOMS = 20_000
_ALL = int(mujoco.mjtCatBit.mjCAT_ALL)
_USER = mujoco.MjvCamera()
_USER.type = int(mujoco.mjtCamera.mjCAMERA_USER)
"""Leaves the camera of the scene as it is."""


class DrawnScene:
    """An `MjvScene` of a model, with an overlay."""

    def __init__(self, model: mujoco.MjModel, options: ViewOptions) -> None:
        self.scene = mujoco.MjvScene(model, MOST_GEOMS)
        self.geoms = SceneGeoms(self.scene)
        self.options, self._option = options, options.to_mujoco()
        self.tick = -1  # when it was updated
        self._camera, self._perturb = mujoco.MjvCamera(), mujoco.MjvPerturb()
        mujoco.mjv_defaultFreeCamera(model, self._camera)

    def update(self, model: mujoco.MjModel, data: mujoco.MjData, entries: OverlayEntries) -> None:
        """Show a state, after ``mj_forward``."""
        self._update(model, data, None, self._camera, entries)
        append_flex_parts(self.scene, self.geoms)

    def update_for(
        self,
        request: PictureRequest,
        selected: int,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        entries: OverlayEntries,
    ) -> None:
        """Show a state with the camera of a page, and a body as selected."""
        self.set_camera(request.camera)
        self.scene.flags[:] = request.render
        self._perturb.select = selected
        self._update(model, data, self._perturb, _USER, entries)

    def _update(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        perturb: mujoco.MjvPerturb | None,
        camera: mujoco.MjvCamera,
        entries: OverlayEntries,
    ) -> None:
        mujoco.mjv_updateScene(model, data, self._option, perturb, camera, _ALL, self.scene)
        self.geoms.append(entries.geoms)

    def set_camera(self, camera: PageCamera) -> None:
        """Look with the camera of a page."""
        centre, half_width, bottom, top, near, far = camera.frustum
        for each in self.scene.camera:
            each.pos[:], each.forward[:], each.up[:] = camera.position, camera.forward, camera.up
            each.frustum_center, each.frustum_width = centre, half_width
            each.frustum_bottom, each.frustum_top = bottom, top
            each.frustum_near, each.frustum_far = near, far
            each.orthographic = camera.is_orthographic

    def pick(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        camera: PageCamera,
        *,
        button: str,
        with_ctrl: bool,
    ) -> Picked:
        """Return what a page's camera shows at its pixel."""
        self.set_camera(camera)
        point, (geom, flex, skin) = np.zeros(3), np.full((3, 1), -1, np.int32)
        _, half_width, bottom, top, _, _ = camera.frustum
        aspect = 2.0 * half_width / (top - bottom)
        body = mujoco.mjv_select(
            model, data, self._option, aspect, *camera.pixel, self.scene, point, geom, flex, skin
        )
        local = point.copy()
        if body > 0:
            local = data.xmat[body].reshape(3, 3).T @ (point - data.xpos[body])
        return Picked(
            body=int(body),
            geom=int(geom[0]),
            point=tuple(point.tolist()),
            local=tuple(local.tolist()),
            button=button,
            with_ctrl=with_ctrl,
        )
