"""Images of a camera: a topic and a hosted controller get the same bytes of the same state."""

from collections.abc import Collection

import mujoco
import numpy as np

from mujoco_ros.model.sensors.cameras import Camera
from mujoco_ros.rendering.image_noise import ImageNoise
from mujoco_ros.rendering.renderer import Renderer

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
    """Render images of a camera, with its noise.

    Args:
        renderer: The renderer, which has the model of `data`.
        data: A state whose poses are computed.
        camera: The camera.
        products: Images to render, among `COLOUR`, `DEPTH` and `SEGMENTATION`.
        seed: Seed of the noise.
        time: Simulated time of the state [s], from which the noise follows.

    Returns:
        Images by product, as `Frame` has them; valid until the next call.

    Raises:
        RenderingError: An image is too large for the device.
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
