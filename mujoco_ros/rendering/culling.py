"""View frustum culling: geoms outside the view of a camera are not rendered."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import mujoco
import numpy as np

from mujoco_ros.model.sensors.cameras import Camera


def frustum_of(camera: Camera) -> tuple[float, float, float, float]:
    """Return the edges of a camera's view at a distance of 1 m: left, right, top and bottom [m].

    Right and top are positive. The edges are half a pixel beyond the centres of the outer pixels.
    """
    optics = camera.intrinsics
    return (
        (-0.5 - optics.cx) / optics.fx,
        (camera.width - 0.5 - optics.cx) / optics.fx,
        (optics.cy + 0.5) / optics.fy,
        (optics.cy + 0.5 - camera.height) / optics.fy,
    )


def visible_geoms(model: mujoco.MjModel, data: mujoco.MjData, camera: Camera) -> np.ndarray:
    """Return which geoms a camera may see: those whose bounding spheres touch its frustum.

    Args:
        model: The model.
        data: A state with its poses computed.
        camera: The camera.

    Returns:
        Whether each geom may be visible; True for planes, which have no bounds.  # (ngeom,)
    """
    left, right, top, bottom = frustum_of(camera)
    offsets = data.geom_xpos - data.cam_xpos[camera.camera]
    # The columns of a camera's orientation point to the right, up and backwards.
    x, y, back = (offsets @ data.cam_xmat[camera.camera].reshape(3, 3)).T
    ahead, radius = -back, model.geom_rbound
    outside = (
        (ahead < -radius)
        | (left * ahead - x > radius * np.hypot(1.0, left))
        | (x - right * ahead > radius * np.hypot(1.0, right))
        | (y - top * ahead > radius * np.hypot(1.0, top))
        | (bottom * ahead - y > radius * np.hypot(1.0, bottom))
    )
    return np.asarray(~outside | (radius == 0))


@contextmanager
def only(model: mujoco.MjModel, visible: np.ndarray, groups: Iterable[int]) -> Iterator[None]:
    """Move all but the visible geoms into a group that is not rendered.

    Args:
        model: The model, which is restored at the end.
        visible: Whether each geom stays in its group.  # (ngeom,)
        groups: The rendered groups; if these are all groups, nothing happens.
    """
    unused = set(range(mujoco.mjNGROUP)).difference(groups)
    if not unused:
        yield
        return
    original = model.geom_group.copy()
    model.geom_group[~visible] = unused.pop()
    try:
        yield
    finally:
        model.geom_group[:] = original
