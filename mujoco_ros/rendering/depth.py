"""From what OpenGL keeps of distances to metres, and from metres to millimetres."""

import math
from dataclasses import dataclass

import numpy as np

_NEAREST_M = 0.01
"""A wrist camera sees its own fingers; MuJoCo's default grows with the scene, to 0.5 m for 50 m."""
_FARTHEST_MM = 65535


@dataclass(frozen=True, kw_only=True, slots=True)
class Planes:
    """Between which distances along the optical axis something is seen [m]."""

    near: float
    far: float

    @classmethod
    def around(cls, near: float, far: float) -> "Planes":
        """Return planes that nothing between `near` and `far` is cut off by.

        The nearer one is a power of two, and the farther one a power of two plus one times that:
        then the projection's matrix, in which OpenGL subtracts numbers of single precision that are
        almost equal, is free of rounding. Otherwise depth would be wrong by 1e-4 at 10 m.
        """
        nearest = 2.0 ** math.floor(math.log2(min(near, _NEAREST_M)))
        ratio = 2.0 ** math.ceil(math.log2(max(far / nearest - 1.0, 1.0)))
        return cls(near=nearest, far=nearest * (ratio + 1.0))

    def metres(self, buffer: np.ndarray, out: np.ndarray) -> None:
        """Convert a depth buffer, 1 at the near plane and 0 at the far one and where nothing is.

        Args:
            buffer: What OpenGL has, of a perspective projection.  # (h, w) float32
            out: Distance along the optical axis [m]; inf where nothing was hit.  # (h, w) float32
        """
        slope = self.far - self.near
        np.multiply(buffer, slope, out=out)
        out += self.near
        np.divide(self.near * self.far, out, out=out)
        out[buffer == 0.0] = np.inf


def millimetres(depth: np.ndarray, out: np.ndarray) -> None:
    """Convert metres to the encoding 16UC1.

    Args:
        depth: Along the optical axis [m].  # (h, w) float32
        out: The same [mm]; 0 where nothing was hit, or beyond 65.535 m.  # (h, w) uint16
    """
    rounded = np.rint(depth * np.float32(1000.0))
    rounded[rounded > _FARTHEST_MM] = 0.0
    np.copyto(out, rounded, casting="unsafe")
