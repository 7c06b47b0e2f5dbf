"""Clouds of coloured points from pictures of colour and depth."""

import numpy as np

from mujoco_ros.model.cameras import Intrinsics

POINT = np.dtype(
    {
        "names": ["x", "y", "z", "rgb"],
        "formats": ["<f4", "<f4", "<f4", "<f4"],
        "offsets": [0, 4, 8, 12],
        "itemsize": 16,
    }
)
"""One point: its place in the optical frame [m], and its colour as PCL packs it into a float."""
_BGR = slice(12, 15)
"""Where the bytes of blue, green and red are in a point."""


class PointCloud:
    """The points of one camera, one a pixel, in a buffer that each cloud overwrites."""

    def __init__(self, intrinsics: Intrinsics, width: int, height: int) -> None:
        """Prepare the rays of a camera.

        Args:
            intrinsics: How it projects.
            width: Of its pictures [pixels].
            height: Of its pictures [pixels].
        """
        across = (np.arange(width) - intrinsics.cx) / intrinsics.fx
        down = (np.arange(height) - intrinsics.cy) / intrinsics.fy
        self._across = across.astype(np.float32)
        self._down = down.astype(np.float32)[:, np.newaxis]
        self._points = np.zeros((height, width), POINT)
        self._bytes = self._points.view(np.uint8).reshape(height, width, POINT.itemsize)

    def fill(self, depth: np.ndarray, colour: np.ndarray | None = None) -> np.ndarray:
        """Return the points that a camera sees, NaN where it sees nothing.

        Args:
            depth: Along the optical axis [m]; inf or 0 is nothing.  # (height, width) float32
            colour: Red, green and blue; None is black.  # (height, width, 3) uint8

        Returns:
            Points of type `POINT`, in the optical frame.  # (height, width)
        """
        z = self._points["z"]
        z[...] = depth
        z[~(np.isfinite(depth) & (depth > 0))] = np.nan
        np.multiply(z, self._across, out=self._points["x"])
        np.multiply(z, self._down, out=self._points["y"])
        if colour is not None:
            self._bytes[..., _BGR] = colour[..., ::-1]
        return self._points
