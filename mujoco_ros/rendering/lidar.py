"""What a lidar measures: rays are cast against the geometry, without any picture."""

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
"""One point of a cloud: its place in the lidar's frame [m], its intensity, and its row."""

_BRIGHTEST = 255.0
_GREY = np.array((0.5, 0.5, 0.5, 1.0), np.float32)
"""The colour of a geom that was given none; then that of its material shows."""


class Scanner:
    """Casts the rays of one lidar. What it returns is overwritten by the next cast."""

    def __init__(self, model: mujoco.MjModel, lidar: Lidar, seed: int = 0) -> None:
        """Prepare the rays.

        Args:
            model: The model; changed looks and places of it are seen.
            lidar: The lidar.
            seed: Of the noise; the same seed and time give the same noise.
        """
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
        """Measure the distances along all rays.

        Geoms of the lidar's own body are not seen, nor are those that are wholly transparent.

        Args:
            data: A state whose kinematics are computed: mj_kinematics, and mj_flex for flexes.
            time: Simulated time [s], from which the noise follows.

        Returns:
            Ranges [m], of REP 117: inf where nothing was hit up to the largest range, -inf where
            something is nearer than the smallest.  # (rows, columns) float32
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
            self._lidar.body or -1,  # the world is no mount: its floor shall be seen
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
    def distances(self) -> np.ndarray:
        """The ranges of the last cast in double precision, row by row.  # (n,)."""
        return self._distances

    @property
    def intensities(self) -> np.ndarray:
        """How bright what the last cast has hit would look under its own light, from 0 to 255.

        The mean of red, green and blue, textures left out, times the cosine of the angle at which
        it was hit.  # (rows, columns) float32
        """
        model = self._model
        own = model.geom_rgba
        # As the renderer does: a colour given to the geom goes before that of its material.
        plain = (own == _GREY).all(axis=1) & (model.geom_matid >= 0)
        rgba = np.where(plain[:, np.newaxis], _material_colours(model), own)
        brightness = np.append(rgba[:, :3].mean(axis=1), 0.0)  # the last one: nothing was hit
        cosines = np.abs(np.einsum("ij,ij->i", self._rays, self._normals))
        seen = np.where(np.isfinite(self._ranges.ravel()), brightness[self._geoms], 0.0)
        found: np.ndarray = _BRIGHTEST * seen * cosines
        return found.astype(np.float32).reshape(self._ranges.shape)

    def cloud(self) -> np.ndarray:
        """Return the points that the last cast has hit, NaN where there is none.

        Returns:
            Points of type `POINT`, in the lidar's frame.  # (rows, columns)
        """
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


def _material_colours(model: mujoco.MjModel) -> np.ndarray:
    """Return the colour of each geom's material; any where it has none.  # (ngeom, 4)."""
    colours: np.ndarray = model.mat_rgba if model.nmat else model.geom_rgba
    found: np.ndarray = colours[np.maximum(model.geom_matid, 0)]
    return found
