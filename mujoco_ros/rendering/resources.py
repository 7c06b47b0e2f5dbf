"""OpenGL resources of a model: meshes, textures and buffers."""

from collections.abc import Iterator
from contextlib import contextmanager

import mujoco

from mujoco_ros.rendering.errors import RenderingError
from mujoco_ros.rendering.quality import RenderQuality

_OFFSCREEN = int(mujoco.mjtFramebuffer.mjFB_OFFSCREEN)
_SMALLEST_FONT = int(mujoco.mjtFontScale.mjFONTSCALE_50)
_INITIAL_SIDE = 64
"""Side of the buffer that is rendered into [pixels]; it grows with the images."""


def upload(model: mujoco.MjModel, quality: RenderQuality) -> mujoco.MjrContext:
    """Upload a model to the current OpenGL context.

    Raises:
        RenderingError: The driver fails.
    """
    try:
        with _settings(model, quality):
            resources = mujoco.MjrContext(model, _SMALLEST_FONT)
    except mujoco.FatalError as error:
        raise RenderingError(f"OpenGL cannot render the model: {error}") from error
    resources.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
    mujoco.mjr_setBuffer(_OFFSCREEN, resources)
    return resources


def grow_buffer(resources: mujoco.MjrContext, width: int, height: int) -> None:
    """Enlarge the buffer that is rendered into, if images of that size [pixels] do not fit.

    Raises:
        mujoco.FatalError: The driver fails, and the resources cannot be used any more.
    """
    present = resources.offWidth, resources.offHeight
    needed = max(width, present[0]), max(height, present[1])
    if needed != present:
        mujoco.mjr_resizeOffscreen(*needed, resources)
        mujoco.mjr_setBuffer(_OFFSCREEN, resources)


@contextmanager
def _settings(model: mujoco.MjModel, quality: RenderQuality) -> Iterator[None]:
    """Write into the model, for the upload, the settings that the engine allocates by."""
    visual, whole = model.vis.quality, model.vis.global_
    original = visual.shadowsize, visual.offsamples, whole.offwidth, whole.offheight
    visual.shadowsize *= quality.shadows
    visual.offsamples *= quality.antialiasing
    whole.offwidth = whole.offheight = _INITIAL_SIDE
    try:
        yield
    finally:
        visual.shadowsize, visual.offsamples, whole.offwidth, whole.offheight = original
