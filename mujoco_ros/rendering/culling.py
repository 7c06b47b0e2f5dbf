"""Which geoms a camera can see at all: what is out of sight need not be drawn."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import mujoco
import numpy as np

Frustum = tuple[float, float, float, float]
"""What is seen at a distance of 1 m: to the left and right, at the top and bottom [m]; right and
top are positive."""


def in_sight(
    model: mujoco.MjModel, data: mujoco.MjData, camera: int, frustum: Frustum
) -> np.ndarray:
    """Return which geoms may be seen: their bounding spheres touch what a camera sees.

    Args:
        model: The model.
        data: A state with its kinematics computed.
        camera: Number of the camera.
        frustum: What it sees.

    Returns:
        Whether each geom may be seen, always of planes, which have no bounds.  # (ngeom,)
    """
    left, right, top, bottom = frustum
    offsets = data.geom_xpos - data.cam_xpos[camera]
    # The columns of a camera's orientation point to the right, up and backwards.
    across, up, back = (offsets @ data.cam_xmat[camera].reshape(3, 3)).T
    ahead, radius = -back, model.geom_rbound
    outside = (
        (ahead < -radius)
        | (left * ahead - across > radius * np.hypot(1.0, left))
        | (across - right * ahead > radius * np.hypot(1.0, right))
        | (up - top * ahead > radius * np.hypot(1.0, top))
        | (bottom * ahead - up > radius * np.hypot(1.0, bottom))
    )
    return np.asarray(~outside | (radius == 0))


@contextmanager
def only(model: mujoco.MjModel, seen: np.ndarray, groups: Iterable[int]) -> Iterator[None]:
    """Have the model's other geoms in a group that is not among `groups`, for the time being.

    Args:
        model: The model.
        seen: Which geoms stay where they are.  # (ngeom,)
        groups: The groups that are drawn; if it is all of them, nothing happens.
    """
    unseen = set(range(mujoco.mjNGROUP)).difference(groups)
    if not unseen:
        yield
        return
    kept = model.geom_group.copy()
    model.geom_group[~seen] = unseen.pop()
    try:
        yield
    finally:
        model.geom_group[:] = kept
