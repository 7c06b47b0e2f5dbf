"""Infinite planes with few tiles: the engine's own 40,000 cost a processor 10 ms per image."""

from collections.abc import Iterator
from contextlib import contextmanager

import mujoco
import numpy as np

_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)
_TILES = 32
"""Tiles along the side of a plane."""


class GroundPlane:
    """Replaces infinite planes by large finite ones of the same appearance.

    Light is computed at the corners of the tiles, so large tiles do not show a lamp's light spot.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        """Find the infinite planes of a model."""
        self._model = model
        self._half_sizes = {
            int(geom): _half_size(model, int(geom))
            for geom in np.flatnonzero(model.geom_type == _PLANE)
            if not model.geom_size[geom, :2].any()
        }

    @contextmanager
    def as_finite(self) -> Iterator[None]:
        """Make the planes of the model finite while it is uploaded."""
        sizes = self._model.geom_size
        original = sizes.copy()
        for geom, half in self._half_sizes.items():
            sizes[geom] = *half, half.max() / _TILES
        try:
            yield
        finally:
            sizes[:] = original

    def scale_textures(self, scene: mujoco.MjvScene) -> None:
        """Repeat textures as often as on the infinite planes, in a scene that was updated."""
        remaining = len(self._half_sizes)
        for geom in scene.geoms[: scene.ngeom] if remaining else ():
            if geom.type == _PLANE and geom.objid in self._half_sizes:
                # Textures span a finite plane once, and two metres of an infinite one.
                geom.texrepeat = geom.texrepeat * self._half_sizes[geom.objid].astype(np.float32)
                remaining -= 1
                if not remaining:
                    return


def _half_size(model: mujoco.MjModel, geom: int) -> np.ndarray:
    """Return the half size of a finite plane, in whole periods of its texture.  # (2,)."""
    horizon = model.vis.map.zfar * model.stat.extent
    material = model.geom_matid[geom]
    repeats = model.mat_texrepeat[material] if material >= 0 else np.zeros(2)
    periods = np.where(repeats > 0, 2.0 / np.where(repeats > 0, repeats, 1.0), 0.01 * horizon)
    # One more, as the plane follows the camera in whole periods.
    return np.asarray(periods * np.ceil(1.05 * horizon / periods + 1.0))
