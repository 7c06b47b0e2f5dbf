"""Projection of points of the world to the screen."""

from dataclasses import dataclass

import mujoco
import numpy as np

_MIN_DEPTH = 1e-3
"""Points nearer to the camera, or behind it, have no projection [m]."""
_MIN_SINE_SQUARED = 0.1
"""Limits the motion along an axis that points at the camera."""
_MAX_DRAG = 2.0
"""Largest motion of a drag, in distances to the camera."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScreenProjection:
    """The projection of the viewer's camera.

    Attributes:
        position: Of the camera [m].  # (3,)
        right: Unit vector.  # (3,)
        up: Unit vector.  # (3,)
        forward: Unit vector.  # (3,)
        focal: Focal length [px].
        width: Of the screen [px].
        height: Of the screen [px].
        orthographic: Whether the scale is everywhere as at a depth of 1 m.
    """

    position: np.ndarray
    right: np.ndarray
    up: np.ndarray
    forward: np.ndarray
    focal: float
    width: float
    height: float
    orthographic: bool = False

    @classmethod
    def of_camera(
        cls,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        camera: mujoco.MjvCamera,
        width: float,
        height: float,
    ) -> "ScreenProjection":
        """Return the projection of a camera to a screen of `width` times `height` pixels."""
        position, forward, up, right = (np.zeros(3) for _ in range(4))
        mujoco.mjv_cameraFrame(position, forward, up, right, data, camera)
        vertical, horizontal, clip = (np.zeros(2, dtype=np.float32) for _ in range(3))
        mujoco.mjv_cameraFrustum(vertical, horizontal, clip, model, camera)
        orthographic = bool(camera.orthographic)
        slope = float(vertical[1]) / (1.0 if orthographic else float(clip[0]))
        return cls(
            position=position,
            right=right,
            up=up,
            forward=forward,
            focal=0.5 * height / slope,
            width=width,
            height=height,
            orthographic=orthographic,
        )

    def depth(self, point: np.ndarray) -> float:
        """Return the depth of a point [m]."""
        return float(self.forward @ (point - self.position))

    def metres_per_pixel(self, point: np.ndarray) -> float:
        """Return the size of a pixel at the depth of a point [m]."""
        return (1.0 if self.orthographic else self.depth(point)) / self.focal

    def project(self, point: np.ndarray) -> np.ndarray | None:
        """Return the pixel of a point from the top left, also beyond the edges.  # (2,)

        Returns:
            None for a point behind the camera.
        """
        if self.depth(point) < _MIN_DEPTH:
            return None
        scale = self.metres_per_pixel(point)
        offset = point - self.position
        return np.array(
            [
                0.5 * self.width + float(self.right @ offset) / scale,
                0.5 * self.height - float(self.up @ offset) / scale,
            ]
        )

    def drag_along(self, point: np.ndarray, direction: np.ndarray, pixels: np.ndarray) -> float:
        """Return the distance along a direction that keeps a point closest to the mouse [m].

        Args:
            point: Start of the drag.  # (3,)
            direction: Unit vector.  # (3,)
            pixels: Motion of the mouse, right and down.  # (2,)
        """
        offset, ray = self._drag(point, pixels)
        # The point of the line through `point` that is closest to the ray of the mouse.
        cosine = float(direction @ ray)
        sine_squared = max(1.0 - cosine**2, _MIN_SINE_SQUARED)
        distance = float(offset @ direction - cosine * (offset @ ray)) / sine_squared
        limit = _MAX_DRAG * self.depth(point)
        return float(np.clip(distance, -limit, limit))

    def drag_on_plane(
        self, point: np.ndarray, normal: np.ndarray, pixels: np.ndarray
    ) -> np.ndarray:
        """Return the motion of a point with the mouse, in a plane [m].  # (3,)

        Args:
            point: Start of the drag.  # (3,)
            normal: Unit vector.  # (3,)
            pixels: Motion of the mouse, right and down.  # (2,)
        """
        offset, ray = self._drag(point, pixels)
        slope = float(normal @ ray)
        slope = np.copysign(max(abs(slope), np.sqrt(_MIN_SINE_SQUARED)), slope)
        motion = offset - float(normal @ offset) / slope * ray
        motion -= float(normal @ motion) * normal  # a plane that is seen from its edge
        length, limit = float(np.linalg.norm(motion)), _MAX_DRAG * self.depth(point)
        return np.asarray(motion * min(1.0, limit / max(length, limit)))

    def drag_in_plane(self, point: np.ndarray, pixels: np.ndarray) -> np.ndarray:
        """Return the motion of a point with the mouse, parallel to the screen [m].  # (3,)"""
        scale = self.metres_per_pixel(point)
        return np.asarray(scale * (pixels[0] * self.right - pixels[1] * self.up))

    def _drag(self, point: np.ndarray, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the motion parallel to the screen [m], and the ray of the mouse.  # (3,), (3,)"""
        offset = self.drag_in_plane(point, pixels)
        ray = self.forward if self.orthographic else point + offset - self.position
        return offset, ray / np.linalg.norm(ray)
