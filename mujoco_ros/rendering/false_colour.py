"""Depth and segmentation images as colours that a person can read."""

import colorsys

import numpy as np

_NEAR, _FAR = 255, 40
_LEVELS = 256
_PERCENTILES = (0.5, 99.5)
# Golden ratio: the hues of neighbouring numbers are far apart.
_HUE_STEP = 0.618034


def depth_colours(depth: np.ndarray) -> tuple[np.ndarray, tuple[float, float]]:
    """Return colours (h, w, 3) of distances (h, w): near bright, far dark, black without a hit.

    The nearest and the farthest 0.5 % of the pixels have the colours of the ends, whose distances
    [m] are the second result; they are equal without any hit.
    """
    hit = np.isfinite(depth)
    if not hit.any():
        return np.zeros((*depth.shape, 3), np.uint8), (0.0, 0.0)
    near, far = np.percentile(depth[hit], _PERCENTILES).tolist()
    share = np.where(hit, (depth - near) / max(far - near, 1e-9), 0.0).clip(0.0, 1.0)
    painted = _painted((_NEAR + (_FAR - _NEAR) * share).astype(np.uint8))
    painted[~hit] = 0
    return painted, (near, far)


def depth_scale() -> np.ndarray:
    """Return the colours of `depth_colours` from near to far, as one row.  # (1, n, 3) uint8."""
    levels = np.linspace(_NEAR, _FAR, _LEVELS).astype(np.uint8)
    return _painted(levels[np.newaxis])


def number_colours(numbers: np.ndarray) -> np.ndarray:
    """Give each number of a segmentation image (h, w) a colour of its own; 0 is black."""
    present, positions = np.unique(numbers, return_inverse=True)
    palette = np.array([_colour(number) for number in present.tolist()], np.uint8)
    return palette[positions.reshape(numbers.shape)]


def _painted(levels: np.ndarray) -> np.ndarray:
    import cv2  # needs 20 MB, and few topics need it

    painted = cv2.applyColorMap(levels, cv2.COLORMAP_VIRIDIS)
    return np.ascontiguousarray(painted[..., ::-1])


def _colour(number: int) -> tuple[int, ...]:
    if not number:
        return (0, 0, 0)
    red, green, blue = colorsys.hsv_to_rgb(_HUE_STEP * number % 1.0, 0.55, 0.9)
    return tuple(round(255 * share) for share in (red, green, blue))
