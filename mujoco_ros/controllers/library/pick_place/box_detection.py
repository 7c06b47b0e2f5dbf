"""Finding a box on a table in a depth image."""

import cv2
import numpy as np

from mujoco_ros.control.pose import Pose
from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.library.pick_place.task import upright

NEAREST = 0.15
"""What is closer to the camera is the hand [m]."""
_BIN = 0.002
"""Heights that differ by less belong together [m]."""
_LOWEST, _HIGHEST = 0.015, 0.12
"""How high above the table the top of a box can be [m]."""
_FLAT = 0.004
"""Within this of its top, points belong to the top of a box [m]."""
_FEWEST = 30
"""Pixels that a box has at least."""


def find(image: Image) -> Pose | None:
    """Return the pose of the box in an image that is nearest to its middle.

    The table is the height that most pixels have; a box is a patch of pixels above it, all of which
    must be in the image; its pose follows from the rectangle around the top of it.

    Args:
        image: With depth.

    Returns:
        Its centre, and its yaw up to quarter turns; None if no box is seen whole.
    """
    points = _points(image)
    seen = np.isfinite(image.depth) & (image.depth > NEAREST)
    if not seen.any():
        return None
    heights = points[..., 2]
    table = _level(heights[seen])
    above = seen & (heights > table + _LOWEST) & (heights < table + _HIGHEST)
    top = _patch(above)
    if top is None:
        return None
    highest = float(np.percentile(heights[top], 90))
    top &= np.abs(heights - highest) < _FLAT
    if top.sum() < _FEWEST:
        return None
    (x, y), _, angle = cv2.minAreaRect(points[top][:, :2].astype(np.float32))
    return upright(x, y, 0.5 * (highest + table), float(np.deg2rad(angle)))


def _points(image: Image) -> np.ndarray:
    """Return where each pixel is in world, NaN where there is nothing.  # (h, w, 3)."""
    height, width = image.depth.shape
    depth = np.where(np.isfinite(image.depth), image.depth, np.nan)
    across, down = np.meshgrid(np.arange(width), np.arange(height))
    pixels = np.stack([across, down, np.ones_like(across)], axis=-1)
    rays = pixels @ np.linalg.inv(image.matrix).T
    world: np.ndarray = image.pose.position + (rays * depth[..., None]) @ image.pose.matrix.T
    return world


def _level(heights: np.ndarray) -> float:
    """Return the mean of those heights that are together the most frequent."""
    bins = np.floor(heights / _BIN).astype(int)
    lowest = int(bins.min())
    counts = np.bincount(bins - lowest)
    most = lowest + int(np.argmax(counts))
    return float(heights[np.abs(bins - most) <= 1].mean())


def _patch(mask: np.ndarray) -> np.ndarray | None:
    """Return the patch nearest to the middle that is large enough and does not touch the edge."""
    height, width = mask.shape
    count, labels, stats, centres = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    best, nearest = None, np.inf
    for i in range(1, count):
        left, up, wide, high, size = (int(number) for number in stats[i])
        whole = left > 0 and up > 0 and left + wide < width and up + high < height
        far = float(np.hypot(centres[i][0] - width / 2, centres[i][1] - height / 2))
        if whole and size >= _FEWEST and far < nearest:
            best, nearest = i, far
    return None if best is None else labels == best
