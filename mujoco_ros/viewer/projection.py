"""Where points of the world are on the screen."""

from dataclasses import dataclass

import mujoco
import numpy as np

_NEAREST = 1e-3
"""What is closer to the eye, or behind it, is nowhere on the screen [m]."""
_STEEPEST = 0.1
"""What goes straight away from the eye would fly off at a touch of the mouse."""
_FARTHEST = 2.0
"""So many times its distance from the eye a point goes at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScreenProjection:
    """A camera as the viewer has it.

    Attributes:
        eye: Its position [m].  # (3,)
        right: Unit vector.  # (3,)
        up: Unit vector.  # (3,)
        forward: Unit vector.  # (3,)
        focal: How many pixels there are to a unit of slope.
        width: Of the screen [pixels].
        height: Of the screen [pixels].
        orthographic: Whether everything is as large as at distance 1 m.
    """

    eye: np.ndarray
    right: np.ndarray
    up: np.ndarray
    forward: np.ndarray
    focal: float
    width: float
    height: float
    orthographic: bool = False

    @classmethod
    def of(
        cls,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        camera: mujoco.MjvCamera,
        width: float,
        height: float,
    ) -> "ScreenProjection":
        """Return what a camera of the viewer sees on a screen of so many pixels."""
        eye, forward, up, right = (np.zeros(3) for _ in range(4))
        mujoco.mjv_cameraFrame(eye, forward, up, right, data, camera)
        vertical, horizontal, clip = (np.zeros(2, dtype=np.float32) for _ in range(3))
        mujoco.mjv_cameraFrustum(vertical, horizontal, clip, model, camera)
        orthographic = bool(camera.orthographic)
        slope = float(vertical[1]) / (1.0 if orthographic else float(clip[0]))
        return cls(
            eye=eye,
            right=right,
            up=up,
            forward=forward,
            focal=0.5 * height / slope,
            width=width,
            height=height,
            orthographic=orthographic,
        )

    def depth(self, point: np.ndarray) -> float:
        """Return how far before the eye a point is [m]."""
        return float(self.forward @ (point - self.eye))

    def metres_per_pixel(self, point: np.ndarray) -> float:
        """Return how large a pixel is where a point is."""
        return (1.0 if self.orthographic else self.depth(point)) / self.focal

    def project(self, point: np.ndarray) -> np.ndarray | None:
        """Return where a point is on the screen, from its top left [pixels]; None if it is not.

        A point beside the screen has a place too.  # (2,)
        """
        if self.depth(point) < _NEAREST:
            return None
        scale = self.metres_per_pixel(point)
        offset = point - self.eye
        return np.array(
            [
                0.5 * self.width + float(self.right @ offset) / scale,
                0.5 * self.height - float(self.up @ offset) / scale,
            ]
        )

    def along(self, point: np.ndarray, way: np.ndarray, pixels: np.ndarray) -> float:
        """Return how far a point goes on its way to stay as close to the mouse as it can [m].

        Args:
            point: Where it is.  # (3,)
            way: Where it can go, unit vector.  # (3,)
            pixels: How the mouse moves, to the right and down.  # (2,)
        """
        aim = point + self.in_plane(point, pixels)
        sight = self.forward if self.orthographic else aim - self.eye
        sight = sight / np.linalg.norm(sight)
        # Where the way is closest to the line of sight.
        slant = float(way @ sight)
        offset = aim - point
        gone = float(offset @ way - slant * (offset @ sight)) / max(1.0 - slant**2, _STEEPEST)
        return float(np.clip(gone, -_FARTHEST * self.depth(point), _FARTHEST * self.depth(point)))

    def in_plane(self, point: np.ndarray, pixels: np.ndarray) -> np.ndarray:
        """Return how a point moves that follows the mouse in a plane before the eye [m].

        Args:
            point: Where it is.  # (3,)
            pixels: How the mouse moves, to the right and down.  # (2,)
        """
        scale = self.metres_per_pixel(point)
        return np.asarray(scale * (pixels[0] * self.right - pixels[1] * self.up))
