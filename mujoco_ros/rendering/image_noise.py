"""Noise of cameras, the same for the same seed, camera and step."""

import zlib

import numpy as np

from mujoco_ros.model.sensors.cameras import CameraNoise

_COLOUR, _DEPTH = range(2)
_WHITE = 255.0


class ImageNoise:
    """Adds a camera's noise to its pictures.

    Each picture's noise is drawn from the seed, the camera's name and the step alone: it does not
    depend on which pictures were taken before, nor on which others somebody listens to.
    """

    def __init__(self, noise: CameraNoise, seed: int, camera: str) -> None:
        """Prepare the noise of a camera, which is known by its whole name."""
        self._noise = noise
        self._key = seed, zlib.crc32(camera.encode())

    def colour(self, picture: np.ndarray, step: int) -> None:
        """Add noise to red, green and blue, in place.  # (h, w, 3) uint8."""
        if self._noise.colour:
            noisy = self._normal(_COLOUR, step, picture.shape)
            noisy *= self._noise.colour
            noisy += picture
            np.rint(noisy, out=noisy)
            np.clip(noisy, 0.0, _WHITE, out=noisy)
            np.copyto(picture, noisy, casting="unsafe")

    def depth(self, depth: np.ndarray, step: int) -> None:
        """Add noise that grows with the square of the distance, in place.  # (h, w) float32.

        So it is with cameras that see depth by parallax. inf stays inf.
        """
        if self._noise.depth:
            hit = np.isfinite(depth)
            noise = self._normal(_DEPTH, step, depth.shape)
            noise *= self._noise.depth
            for _ in range(2):
                np.multiply(noise, depth, out=noise, where=hit)
            np.add(depth, noise, out=depth, where=hit)
            np.maximum(depth, 0.0, out=depth)

    def _normal(self, product: int, step: int, shape: tuple[int, ...]) -> np.ndarray:
        generator = np.random.default_rng((*self._key, step, product))
        return generator.standard_normal(shape, np.float32)
