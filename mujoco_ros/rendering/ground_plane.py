"""Infinite planes in few tiles: the engine's own 40 000 cost a processor 10 ms a picture."""

from collections.abc import Iterator
from contextlib import contextmanager

import mujoco
import numpy as np

_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)
_TILES = 32
"""Along the side of a plane."""


class GroundPlane:
    """Has the engine take its infinite planes for large ones, which look the same.

    Light is computed at the corners of tiles, so large ones do not show the spot of a lamp.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        """Find the infinite planes of a model."""
        self._model = model
        self._halves = {
            int(geom): _half_size(model, int(geom))
            for geom in np.flatnonzero(model.geom_type == _PLANE)
            if not model.geom_size[geom, :2].any()
        }

    @contextmanager
    def as_large(self) -> Iterator[None]:
        """Have the planes finite in the model, while it is uploaded."""
        sizes = self._model.geom_size
        kept = sizes.copy()
        for geom, half in self._halves.items():
            sizes[geom] = *half, half.max() / _TILES
        try:
            yield
        finally:
            sizes[:] = kept

    def adapt(self, scene: mujoco.MjvScene) -> None:
        """Repeat textures as often as on the infinite planes, in a scene that was updated."""
        wanted = len(self._halves)
        for geom in scene.geoms[: scene.ngeom] if wanted else ():
            if geom.type == _PLANE and geom.objid in self._halves:
                # Textures span a finite plane once, and two metres of an infinite one.
                geom.texrepeat = geom.texrepeat * self._halves[geom.objid].astype(np.float32)
                wanted -= 1
                if not wanted:
                    return


def _half_size(model: mujoco.MjModel, geom: int) -> np.ndarray:
    """Return how far an infinite plane is drawn, in whole periods of its texture.  # (2,)."""
    horizon = model.vis.map.zfar * model.stat.extent
    material = model.geom_matid[geom]
    repeats = model.mat_texrepeat[material] if material >= 0 else np.zeros(2)
    periods = np.where(repeats > 0, 2.0 / np.where(repeats > 0, repeats, 1.0), 0.01 * horizon)
    # One more, for by as much the plane may lag behind the camera.
    return np.asarray(periods * np.ceil(1.05 * horizon / periods + 1.0))
