"""Detection of a box on a table in a depth image."""

from concurrent.futures import Future

import cv2
import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.interface.host import IMAGE_GET, Image
from mujoco_ros.controllers.library.pick_place.grasping import upright
from mujoco_ros.model.pose import Pose

NEAREST = 0.15  # points closer to the camera belong to the hand [m]
_BIN = 0.002  # bin width of the histogram of heights [m]
_LOWEST, _HIGHEST = 0.015, 0.12  # range of the height of a box above the table [m]
_FLAT = 0.004  # tolerance of the height of the top face [m]
_MIN_PIXELS = 30


class BoxDetection:
    """Requests an image, and detects the box in it."""

    def __init__(self) -> None:
        self._image: Future[Image] | None = None

    def is_done(self, context: StateContext, camera: str) -> bool:
        """Return whether the image was received; request it in the first call."""
        if self._image is None:
            self._image = context.store.get(IMAGE_GET)(camera)
        if self._image.done():
            return True
        context.awaited.append(self._image)
        return False

    def pose(self) -> Pose | None:
        assert self._image is not None, "called after is_done"
        return detect_box(self._image.result())


def detect_box(image: Image) -> Pose | None:
    """Return the pose of the box nearest to the middle of an image; None without a complete box.

    The table is the most frequent height. A box is a connected patch of pixels above the table that
    does not touch the border of the image; its centre, and its yaw up to quarter turns, follow from
    the minimum-area rectangle around its top face.
    """
    points = _points(image)
    valid = np.isfinite(image.depth) & (image.depth > NEAREST)
    if not valid.any():
        return None
    heights = points[..., 2]
    table = _most_frequent(heights[valid])
    above = valid & (heights > table + _LOWEST) & (heights < table + _HIGHEST)
    top = _central_patch(above)
    if top is None:
        return None
    highest = float(np.percentile(heights[top], 90))
    top &= np.abs(heights - highest) < _FLAT
    if top.sum() < _MIN_PIXELS:
        return None
    (x, y), _, angle = cv2.minAreaRect(points[top][:, :2].astype(np.float32))
    return upright(x, y, 0.5 * (highest + table), float(np.deg2rad(angle)))


def _points(image: Image) -> np.ndarray:
    """Return the point of each pixel in ``world``, NaN without a surface.  # (h, w, 3)"""
    height, width = image.depth.shape
    depth = np.where(np.isfinite(image.depth), image.depth, np.nan)
    across, down = np.meshgrid(np.arange(width), np.arange(height))
    pixels = np.stack([across, down, np.ones_like(across)], axis=-1)
    rays = pixels @ np.linalg.inv(image.matrix).T
    world: np.ndarray = image.pose.position + (rays * depth[..., None]) @ image.pose.matrix.T
    return world


def _most_frequent(heights: np.ndarray) -> float:
    """Return the mean of the heights around the fullest bin of their histogram."""
    bins = np.floor(heights / _BIN).astype(int)
    lowest = int(bins.min())
    fullest = lowest + int(np.argmax(np.bincount(bins - lowest)))
    return float(heights[np.abs(bins - fullest) <= 1].mean())


def _central_patch(mask: np.ndarray) -> np.ndarray | None:
    """Return the patch nearest to the middle that is large enough and does not touch the border."""
    height, width = mask.shape
    count, labels, stats, centres = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    best, nearest = None, np.inf
    for i in range(1, count):
        left, top, wide, high, size = (int(number) for number in stats[i])
        is_complete = left > 0 and top > 0 and left + wide < width and top + high < height
        distance = float(np.hypot(centres[i][0] - width / 2, centres[i][1] - height / 2))
        if is_complete and size >= _MIN_PIXELS and distance < nearest:
            best, nearest = i, distance
    return None if best is None else labels == best
