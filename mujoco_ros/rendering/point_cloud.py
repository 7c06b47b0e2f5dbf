"""Point clouds from colour and depth images."""

import numpy as np

from mujoco_ros.model.sensors.cameras import Intrinsics

POINT = np.dtype(
    {
        "names": ["x", "y", "z", "rgb"],
        "formats": ["<f4", "<f4", "<f4", "<f4"],
        "offsets": [0, 4, 8, 12],
        "itemsize": 16,
    }
)
"""A point: position in the optical frame [m], and colour as PCL packs it into a float."""
_OPAQUE = np.uint32(0xFF000000)  # the opacity bits of OpenCV's colours, which are zero in PCL's


class PointCloud:
    """The points of one camera, one per pixel, in a buffer that each cloud overwrites."""

    def __init__(self, intrinsics: Intrinsics, width: int, height: int) -> None:
        """Prepare the rays of a camera with images of a size [pixels]."""
        across = (np.arange(width) - intrinsics.cx) / intrinsics.fx
        down = (np.arange(height) - intrinsics.cy) / intrinsics.fy
        self._across = across.astype(np.float32)
        self._down = down.astype(np.float32)[:, np.newaxis]
        # Each coordinate in an array of its own is computed twice as fast as interleaved.
        self._x, self._y, self._z = np.empty((3, height, width), np.float32)
        self._is_hit, self._is_near = np.empty((2, height, width), np.bool_)
        self._packed = np.zeros((height, width, 4), np.uint8)
        self._bits = self._packed.view(np.uint32)[..., 0]
        self._fields = (self._x, self._y, self._z, self._bits.view(np.float32))
        self._numbers = np.empty((height, width, 4), np.float32)
        self._points = self._numbers.view(POINT)[..., 0]

    def fill(self, depth: np.ndarray, colour: np.ndarray | None = None) -> np.ndarray:
        """Return points `POINT` in the optical frame, NaN for a depth of inf or 0 [m].  # (h, w)"""
        import cv2  # needs 12 MB, and few topics need it

        np.greater(depth, 0.0, out=self._is_hit)
        np.less(depth, np.inf, out=self._is_near)
        self._is_hit &= self._is_near
        self._z.fill(np.nan)
        np.copyto(self._z, depth, where=self._is_hit)
        np.multiply(self._z, self._across, out=self._x)
        np.multiply(self._z, self._down, out=self._y)
        if colour is not None:
            cv2.cvtColor(colour, cv2.COLOR_RGB2BGRA, self._packed)
            self._bits ^= _OPAQUE
        cv2.merge(self._fields, self._numbers)
        return self._points
