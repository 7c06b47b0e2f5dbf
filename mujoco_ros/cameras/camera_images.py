"""Images of a camera: a topic and a hosted controller get the same bytes."""

import zlib
from collections.abc import Collection

import mujoco
import numpy as np

from mujoco_ros.model.sensors.cameras import Camera
from mujoco_ros.rendering.renderer import Renderer

_COLOUR, _DEPTH = range(2)
_WHITE = 255.0


class ImageNoise:
    """The noise of a camera's images at one instant, by seed, name and simulated time alone."""

    def __init__(self, camera: Camera, seed: int, time: float) -> None:
        """Prepare the noise of a camera at a simulated time [s]."""
        self._noise = camera.noise
        name = "/".join(filter(None, (camera.namespace, camera.name)))
        self._key = seed, zlib.crc32(name.encode()), round(time * 1e9)

    def add_to_colour(self, image: np.ndarray) -> None:
        """Add noise to red, green and blue, in place.  # (h, w, 3) uint8."""
        if self._noise.colour:
            noisy = self._normal(_COLOUR, image.shape)
            noisy *= self._noise.colour
            noisy += image
            np.rint(noisy, out=noisy)
            np.clip(noisy, 0.0, _WHITE, out=noisy)
            np.copyto(image, noisy, casting="unsafe")

    def add_to_depth(self, depth: np.ndarray) -> None:
        """Add noise, as the distance squared like stereo cameras, to distances [m] in place."""
        if self._noise.depth:
            hit = np.isfinite(depth)
            noise = self._normal(_DEPTH, depth.shape)
            noise *= self._noise.depth
            for _ in range(2):
                np.multiply(noise, depth, out=noise, where=hit)
            np.add(depth, noise, out=depth, where=hit)
            np.maximum(depth, 0.0, out=depth)

    def _normal(self, product: int, shape: tuple[int, ...]) -> np.ndarray:
        generator = np.random.default_rng((*self._key, product))
        return generator.standard_normal(shape, np.float32)


COLOUR, DEPTH, SEGMENTATION = "colour", "depth", "segmentation"


def camera_images(
    renderer: Renderer,
    data: mujoco.MjData,
    camera: Camera,
    products: Collection[str],
    *,
    seed: int,
    time: float,
) -> dict[str, np.ndarray]:
    """Render the `products` of a camera, with its noise; valid until the next call.

    The poses of the state are computed; the noise follows from the seed and the simulated time [s].
    """
    frame = renderer.frame(data, camera)
    noise = ImageNoise(camera, seed, time)
    images: dict[str, np.ndarray] = {}
    if COLOUR in products:
        images[COLOUR] = frame.colour
        noise.add_to_colour(frame.colour)
    if DEPTH in products:
        images[DEPTH] = frame.depth
        noise.add_to_depth(frame.depth)
    if SEGMENTATION in products:
        images[SEGMENTATION] = frame.objects
    return images
