"""Depth buffers of OpenGL in metres, and the encodings of depth images."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

_NEAREST_M = 0.01
"""Fingers are close to wrist cameras; MuJoCo's default grows with the scene: 0.5 m for 50 m."""
_FARTHEST_MM = 65535
DEPTH_TYPES: dict[str, tuple[Any, float]] = {
    "32FC1": (np.float32, 1.0),
    "16UC1": (np.uint16, 1e-3),
}
"""Encodings of depth images: type of the numbers and their unit [m]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClipPlanes:
    """Limits of the visible depth along the optical axis [m]."""

    near: float
    far: float

    @classmethod
    def enclosing(cls, near: float, far: float) -> "ClipPlanes":
        """Return planes that include all distances from `near` to `far` [m].

        The near plane is a power of two, and their ratio a power of two plus one: the projection
        matrix is then free of rounding, which otherwise is 1e-4 of depth at 10 m.
        """
        nearest = 2.0 ** math.floor(math.log2(min(near, _NEAREST_M)))
        ratio = 2.0 ** math.ceil(math.log2(max(far / nearest - 1.0, 1.0)))
        return cls(near=nearest, far=nearest * (ratio + 1.0))

    def to_metres(self, buffer: np.ndarray, out: np.ndarray) -> None:
        """Convert a depth buffer to distances along the optical axis, inf without a hit."""
        slope = self.far - self.near
        np.multiply(buffer, slope, out=out)
        out += self.near
        np.divide(self.near * self.far, out, out=out)
        out[buffer == 0.0] = np.inf


def to_millimetres(depth: np.ndarray) -> np.ndarray:
    """Convert metres to the encoding 16UC1; 0 without a hit or beyond 65.535 m.  # (h, w)"""
    rounded = np.rint(depth * np.float32(1000.0))
    rounded[rounded > _FARTHEST_MM] = 0.0
    return rounded.astype(np.uint16)


def from_encoding(pixels: np.ndarray, unit: float) -> np.ndarray:
    """Convert an encoded depth image, 0 without a hit, to metres, inf without a hit.  # (h, w)"""
    distances = pixels.astype(np.float32) * np.float32(unit)
    nothing = (pixels == 0) | ~np.isfinite(distances)  # REP 118
    return np.where(nothing, np.float32(np.inf), distances)
