"""Lidar scans: rays are cast against the geometry, without OpenGL."""

import mujoco
import numpy as np

from mujoco_ros.model.sensors.lidars import HorizontalConfig, Lidar, VerticalConfig

POINT = np.dtype(
    {
        "names": ["x", "y", "z", "intensity", "ring"],
        "formats": ["<f4", "<f4", "<f4", "<f4", "<u2"],
        "offsets": [0, 4, 8, 12, 16],
        "itemsize": 20,
    }
)
"""A point: position in the lidar's frame [m], intensity, and row."""

_BRIGHTEST = 255.0
_GREY = np.array((0.5, 0.5, 0.5, 1.0), np.float32)
"""The default colour of geoms, which the colour of a material replaces."""


class Scanner:
    """Casts the rays of one lidar; each cast overwrites the results of the previous one."""

    def __init__(self, model: mujoco.MjModel, lidar: Lidar, seed: int = 0) -> None:
        """Prepare the rays; later changes of the model's colours and sizes take effect."""
        config = lidar.config
        self._model, self._lidar, self._seed = model, lidar, seed
        self._directions = directions(config.horizontal, config.vertical)
        count = len(self._directions)
        self._rays = np.empty((count, 3))
        self._distances = np.empty(count)
        self._geoms = np.empty(count, np.int32)
        self._normals = np.empty((count, 3))
        self._groups = np.zeros(mujoco.mjNGROUP, np.uint8)
        self._groups[list(config.groups)] = 1
        self._ranges = np.empty((lidar.rows, lidar.columns), np.float32)
        self._points = np.zeros((lidar.rows, lidar.columns), POINT)
        self._points["ring"] = np.arange(lidar.rows)[:, np.newaxis]

    def cast(self, data: mujoco.MjData, time: float = 0.0) -> np.ndarray:
        """Measure the ranges [m] along all rays of a state with computed poses, also of flexes.

        inf is no hit within the largest range, -inf one nearer than the smallest (REP 117). Geoms
        of the lidar's own body and fully transparent geoms are not hit. The noise follows from the
        simulated time [s].  # (rows, columns) float32
        """
        site, config = self._lidar.site, self._lidar.config
        np.matmul(self._directions, data.site_xmat[site].reshape(3, 3).T, out=self._rays)
        mujoco.mj_multiRay(
            self._model,
            data,
            data.site_xpos[site],
            self._rays.ravel(),
            self._groups,
            1,
            self._lidar.body or -1,  # a lidar on the world must hit the floor
            self._geoms,
            self._distances,
            self._normals.ravel(),
            len(self._rays),
            config.range.max,
        )
        distances, missed = self._distances, self._distances < 0
        if config.noise:
            generator = np.random.default_rng((self._seed, site, round(time * 1e9)))
            distances += config.noise * generator.standard_normal(len(distances))
        distances[distances < config.range.min] = -np.inf
        distances[missed | (distances > config.range.max)] = np.inf
        self._ranges.ravel()[:] = distances
        return self._ranges

    @property
    def intensities(self) -> np.ndarray:
        """Brightness of the hits of the last cast, with a lamp at the lidar, from 0 to 255.

        The mean of red, green and blue without textures, times the cosine of the angle of
        incidence.  # (rows, columns) float32
        """
        model = self._model
        own = model.geom_rgba
        # As in the renderer, a colour of the geom precedes the colour of its material.
        is_default = (own == _GREY).all(axis=1) & (model.geom_matid >= 0)
        colours = model.mat_rgba[np.maximum(model.geom_matid, 0)] if model.nmat else own
        rgba = np.where(is_default[:, np.newaxis], colours, own)
        brightness = np.append(rgba[:, :3].mean(axis=1), 0.0)  # last: no hit
        cosines = np.abs(np.einsum("ij,ij->i", self._rays, self._normals))
        hit = np.where(np.isfinite(self._ranges.ravel()), brightness[self._geoms], 0.0)
        intensities: np.ndarray = _BRIGHTEST * hit * cosines
        return intensities.astype(np.float32).reshape(self._ranges.shape)

    def cloud(self) -> np.ndarray:
        """Return the hits of the last cast as `POINT` in the lidar's frame; NaN without a hit."""
        points = self._points
        ranges = np.where(np.isfinite(self._ranges), self._ranges, np.float32(np.nan))
        for axis, name in enumerate("xyz"):
            along = self._directions[:, axis].reshape(ranges.shape)
            np.multiply(ranges, along, out=points[name], casting="same_kind")
        points["intensity"] = self.intensities
        return points


def directions(horizontal: HorizontalConfig, vertical: VerticalConfig) -> np.ndarray:
    """Return the unit vectors of all rays in the lidar's frame, row by row.  # (n, 3)."""
    azimuths = horizontal.min + horizontal.increment * np.arange(horizontal.samples)
    elevations = vertical.min + vertical.increment * np.arange(vertical.samples)
    elevation, azimuth = np.meshgrid(elevations, azimuths, indexing="ij")
    flat = np.cos(elevation)
    rays = (flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation))
    return np.stack(rays, axis=-1).reshape(-1, 3)
