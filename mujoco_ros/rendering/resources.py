"""What OpenGL must have of a model before it can draw it: meshes, textures, buffers."""

from collections.abc import Iterator
from contextlib import contextmanager

import mujoco

from mujoco_ros.rendering.errors import RenderingError
from mujoco_ros.rendering.quality import RenderQuality

_OFFSCREEN = int(mujoco.mjtFramebuffer.mjFB_OFFSCREEN)
_SMALLEST_FONT = int(mujoco.mjtFontScale.mjFONTSCALE_50)
_FIRST_SIDE = 64
"""Of the buffer that is drawn into [pixels]; it grows with the pictures that are wanted."""


def upload(model: mujoco.MjModel, looks: RenderQuality) -> mujoco.MjrContext:
    """Upload a model to the OpenGL context that is current.

    Args:
        model: The model; it is left as it was.
        looks: How pictures are to look.

    Raises:
        RenderingError: The driver refuses.
    """
    try:
        with _settings(model, looks):
            resources = mujoco.MjrContext(model, _SMALLEST_FONT)
    except mujoco.FatalError as error:
        raise RenderingError(f"OpenGL refuses to draw the model: {error}") from error
    resources.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
    mujoco.mjr_setBuffer(_OFFSCREEN, resources)
    return resources


def make_room(resources: mujoco.MjrContext, width: int, height: int) -> None:
    """Enlarge the buffer that is drawn into, if pictures of that size [pixels] do not fit.

    Raises:
        mujoco.FatalError: The driver refuses, and the resources are of no use any more.
    """
    present = resources.offWidth, resources.offHeight
    wanted = max(width, present[0]), max(height, present[1])
    if wanted != present:
        mujoco.mjr_resizeOffscreen(*wanted, resources)
        mujoco.mjr_setBuffer(_OFFSCREEN, resources)


@contextmanager
def _settings(model: mujoco.MjModel, looks: RenderQuality) -> Iterator[None]:
    """Have in the model, for the time being, what the engine makes its resources by."""
    quality, whole = model.vis.quality, model.vis.global_
    kept = quality.shadowsize, quality.offsamples, whole.offwidth, whole.offheight
    quality.shadowsize *= looks.shadows
    quality.offsamples *= looks.antialiasing
    whole.offwidth = whole.offheight = _FIRST_SIDE
    try:
        yield
    finally:
        quality.shadowsize, quality.offsamples, whole.offwidth, whole.offheight = kept
