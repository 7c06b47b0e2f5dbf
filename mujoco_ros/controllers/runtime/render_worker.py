"""The process that renders the images of a hosted controller."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.cameras.camera_images import COLOUR, DEPTH, camera_images
from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.runtime.robot_model import optical_pose
from mujoco_ros.model.sensors.cameras import Camera, compute_poses, with_present_optics
from mujoco_ros.process.worker_process import serve
from mujoco_ros.rendering.depth import DEPTH_TYPES, from_encoding, to_millimetres
from mujoco_ros.rendering.renderer import Renderer
from mujoco_ros.sim.state.model_edits import scatter


@dataclass(frozen=True, kw_only=True, slots=True)
class RenderRequest:
    """A camera, and the state to render, of the sample at `time` for the tick at `tick` [s].

    `model_values` are the numbers of the model that change at run time, of `model_edits.gather`.
    """

    camera: Camera
    time: float
    tick: float
    qpos: np.ndarray
    mocap_pos: np.ndarray
    mocap_quat: np.ndarray
    model_values: np.ndarray


class RenderWorker:
    """Renders a model; the first image opens OpenGL."""

    def __init__(self, model: mujoco.MjModel, backend: str, seed: int) -> None:
        self._model, self._backend, self._seed = model, backend, seed
        self._data = mujoco.MjData(model)
        self._model_values = np.empty(0)
        self._renderer: Renderer | None = None

    def render(self, request: RenderRequest) -> Image:
        """Return an image of colour and depth; RenderingError if OpenGL fails."""
        if self._renderer is None:
            self._renderer = Renderer(self._model, self._backend)
        data = self._data
        if not np.array_equal(request.model_values, self._model_values):
            scatter(self._model, request.model_values)
            self._model_values = request.model_values
        camera = with_present_optics(request.camera, self._model)
        data.qpos[:] = request.qpos
        data.mocap_pos[:], data.mocap_quat[:] = request.mocap_pos, request.mocap_quat
        compute_poses(self._model, data)
        images = camera_images(
            self._renderer, data, camera, (COLOUR, DEPTH), seed=self._seed, time=request.time
        )
        optics = camera.intrinsics
        # Distances [m] as a subscriber of the camera's topic gets them
        is_coarse = camera.depth_encoding == "16UC1"
        pixels = to_millimetres(images[DEPTH]) if is_coarse else images[DEPTH]
        return Image(
            time=request.tick,
            depth=from_encoding(pixels, DEPTH_TYPES[camera.depth_encoding][1]),
            colour=images[COLOUR].copy(),
            matrix=np.array([[optics.fx, 0, optics.cx], [0, optics.fy, optics.cy], [0, 0, 1.0]]),
            pose=optical_pose(data, camera.camera),
        )


def main(arguments: Sequence[str]) -> int:
    """Process requests until the parent ends; return the exit code."""
    return serve(arguments, lambda setup: RenderWorker(*setup).render)
