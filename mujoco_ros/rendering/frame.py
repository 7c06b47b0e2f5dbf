"""The images of one camera in one state: colour, depth and objects."""

import mujoco
import numpy as np

from mujoco_ros.rendering.depth import ClipPlanes
from mujoco_ros.rendering.gl import GlContext

_FLAT = [int(mujoco.mjtRndFlag.mjRND_SEGMENT), int(mujoco.mjtRndFlag.mjRND_IDCOLOR)]
_NOTHING = -1


class Frame:
    """Renders a scene when one of its images is first requested.

    Colour takes one pass. Depth and objects share another, in which each geom has one plain colour
    that encodes its index. The next frame of the same size overwrites the images.
    """

    def __init__(
        self,
        size: tuple[int, int],
        context: GlContext,
        scene: mujoco.MjvScene,
        resources: mujoco.MjrContext,
        planes: ClipPlanes,
    ) -> None:
        """Allocate images of a size: width and height [pixels]."""
        width, height = size
        self._context, self._scene, self._resources = context, scene, resources
        self._planes = planes
        self._geoms = scene.geoms
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        # OpenGL begins with the lowest row.
        self._rgb = np.empty((height, width, 3), np.uint8)
        self._buffer = np.empty((height, width), np.float32)
        self._indices = np.zeros((height, width, 4), np.uint8)
        self._colour = np.empty((height, width, 3), np.uint8)
        self._depth = np.empty((height, width), np.float32)
        self._objects = np.empty((height, width, 2), np.int32)
        self.invalidate()

    def invalidate(self) -> None:
        """Discard the images, after a change of the scene."""
        self._is_flat = self._has_colour = self._has_depth = self._has_objects = False

    @property
    def colour(self) -> np.ndarray:
        """Red, green and blue.  # (height, width, 3) uint8."""
        if not self._has_colour:
            self._context.make_current()
            mujoco.mjr_render(self._rectangle, self._scene, self._resources)
            mujoco.mjr_readPixels(self._rgb, None, self._rectangle, self._resources)
            np.copyto(self._colour, self._rgb[::-1])
            self._has_colour, self._is_flat = True, False
        return self._colour

    @property
    def depth(self) -> np.ndarray:
        """Distance along the optical axis [m]; inf if no surface.  # (height, width) float32."""
        if not self._has_depth:
            self._render_flat()
            mujoco.mjr_readPixels(None, self._buffer, self._rectangle, self._resources)
            self._planes.to_metres(self._buffer[::-1], out=self._depth)
            self._has_depth = True
        return self._depth

    @property
    def objects(self) -> np.ndarray:
        """Index in the model and mjtObj, both -1 without an object.  # (height, width, 2) int32."""
        if not self._has_objects:
            self._render_flat()
            mujoco.mjr_readPixels(self._rgb, None, self._rectangle, self._resources)
            self._indices[..., :3] = self._rgb[::-1]
            indices = self._indices.view("<u4")[..., 0]
            np.take(self._table(indices), indices, axis=0, out=self._objects, mode="clip")
            self._has_objects = True
        return self._objects

    def _render_flat(self) -> None:
        """Render indices as colours, without blending of edges or depth."""
        self._context.make_current()
        if not self._is_flat:
            self._scene.flags[_FLAT] = 1
            mujoco.mjr_render(self._rectangle, self._scene, self._resources)
            self._scene.flags[_FLAT] = 0
            self._is_flat = True

    def _table(self, indices: np.ndarray) -> np.ndarray:
        """Return the object of each index, which is one more than that of a geom of the scene."""
        table = np.full((self._scene.ngeom + 1, 2), _NOTHING, np.int32)
        # Few of the geoms are visible, and access to each from Python is slow.
        for index in np.flatnonzero(np.bincount(indices.ravel())):
            if index:
                geom = self._geoms[index - 1]
                table[index] = geom.objid, geom.objtype
        return table
