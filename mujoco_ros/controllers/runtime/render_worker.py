"""The process that renders the camera images that a hosted controller requests."""

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.runtime.camera_pose import optical_pose
from mujoco_ros.model.sensors.cameras import Camera
from mujoco_ros.process.worker_process import serve
from mujoco_ros.rendering.image_noise import ImageNoise
from mujoco_ros.rendering.renderer import Renderer, View

_NANOSECONDS = 1e9
_POSITIONS: tuple[Callable[[mujoco.MjModel, mujoco.MjData], None], ...] = (
    mujoco.mj_kinematics,
    mujoco.mj_comPos,
    mujoco.mj_camlight,
    mujoco.mj_flex,
    mujoco.mj_tendon,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RenderRequest:
    """What is to be drawn: by which camera, and all that positions follow from, at a time [s]."""

    camera: Camera
    time: float
    qpos: np.ndarray
    mocap_pos: np.ndarray
    mocap_quat: np.ndarray


class RenderWorker:
    """Draws a model; OpenGL is opened for the first image."""

    def __init__(self, model: mujoco.MjModel, seed: int) -> None:
        """Draw `model`; `seed` is that of the cameras' noise."""
        self._model, self._seed = model, seed
        self._data = mujoco.MjData(model)
        self._renderer: Renderer | None = None

    def image(self, sight: RenderRequest) -> Image:
        """Return what a camera sees.

        Raises:
            RenderingError: Nothing can be drawn here.
        """
        if self._renderer is None:
            self._renderer = Renderer(self._model)
        data, camera = self._data, sight.camera
        data.qpos[:] = sight.qpos
        data.mocap_pos[:], data.mocap_quat[:] = sight.mocap_pos, sight.mocap_quat
        for stage in _POSITIONS:
            stage(self._model, data)
        shot = self._renderer.shot(data, View.of(camera))
        depth, colour = shot.depth.copy(), shot.colour.copy()
        # Of the time, not the count: what was drawn before does not matter.
        grain, number = ImageNoise(camera.noise, self._seed, camera.name), sight.time * _NANOSECONDS
        grain.depth(depth, round(number))
        grain.colour(colour, round(number))
        optics = camera.intrinsics
        return Image(
            time=sight.time,
            depth=depth,
            colour=colour,
            matrix=np.array([[optics.fx, 0, optics.cx], [0, optics.fy, optics.cy], [0, 0, 1.0]]),
            pose=optical_pose(data, camera.camera),
        )


if __name__ == "__main__":
    serve(lambda charge: RenderWorker(*charge).image)
