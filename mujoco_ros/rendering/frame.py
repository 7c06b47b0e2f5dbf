"""What a camera sees of one state: colour, depth, and which things they are."""

import mujoco
import numpy as np

from mujoco_ros.rendering.depth import Planes
from mujoco_ros.rendering.gl import GlContext

_FLAT = [int(mujoco.mjtRndFlag.mjRND_SEGMENT), int(mujoco.mjtRndFlag.mjRND_IDCOLOR)]
_NOTHING = -1


class Frame:
    """Draws a scene when a picture of it is first asked for.

    Colour is one pass. Depth and objects share another, in which each thing has one plain colour
    that is its number. Every shot of a size overwrites the pictures of the last one.
    """

    def __init__(
        self,
        size: tuple[int, int],
        context: GlContext,
        scene: mujoco.MjvScene,
        resources: mujoco.MjrContext,
        planes: Planes,
    ) -> None:
        """Make room for pictures of a size: width and height [pixels]."""
        width, height = size
        self._context, self._scene, self._resources = context, scene, resources
        self._planes = planes
        self._geoms = scene.geoms
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        # As OpenGL gives them, the lowest row first.
        self._rgb = np.empty((height, width, 3), np.uint8)
        self._buffer = np.empty((height, width), np.float32)
        self._numbers = np.zeros((height, width, 4), np.uint8)
        self._colour = np.empty((height, width, 3), np.uint8)
        self._depth = np.empty((height, width), np.float32)
        self._objects = np.empty((height, width, 2), np.int32)
        self.begin()

    def begin(self) -> None:
        """Forget the pictures: the scene is another one."""
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
        """Distance along the optical axis [m], inf where nothing is.  # (height, width) float32."""
        if not self._has_depth:
            self._draw_flat()
            mujoco.mjr_readPixels(None, self._buffer, self._rectangle, self._resources)
            self._planes.metres(self._buffer[::-1], out=self._depth)
            self._has_depth = True
        return self._depth

    @property
    def objects(self) -> np.ndarray:
        """Number in the model and mjtObj of what is seen, both -1 where nothing is.

        # (height, width, 2) int32
        """
        if not self._has_objects:
            self._draw_flat()
            mujoco.mjr_readPixels(self._rgb, None, self._rectangle, self._resources)
            self._numbers[..., :3] = self._rgb[::-1]
            numbers = self._numbers.view("<u4")[..., 0]
            np.take(self._table(numbers), numbers, axis=0, out=self._objects, mode="clip")
            self._has_objects = True
        return self._objects

    def _draw_flat(self) -> None:
        """Draw numbers, so that edges are not blended, nor depth taken beside a pixel's middle."""
        self._context.make_current()
        if not self._is_flat:
            self._scene.flags[_FLAT] = 1
            mujoco.mjr_render(self._rectangle, self._scene, self._resources)
            self._scene.flags[_FLAT] = 0
            self._is_flat = True

    def _table(self, numbers: np.ndarray) -> np.ndarray:
        """Return what the numbers stand for: one more than a geom's place in the scene."""
        table = np.full((self._scene.ngeom + 1, 2), _NOTHING, np.int32)
        # There are many geoms and few in sight, and each costs a look from Python.
        for number in np.flatnonzero(np.bincount(numbers.ravel())):
            if number:
                geom = self._geoms[number - 1]
                table[number] = geom.objid, geom.objtype
        return table
