"""Images of cameras as terms of an input, which arrive some time after their request."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future

import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.interface.host import IMAGE_GET, Image
from mujoco_ros.model.errors import UserInputError

_CHANNELS = 3


class CameraImages:
    """The newest image of each camera that a policy uses.

    Attributes:
        newest: The images by camera.
    """

    def __init__(self, cameras: Iterable[str]) -> None:
        self._cameras = tuple(dict.fromkeys(cameras))
        self._requests: dict[str, Future[Image]] = {}
        self.newest: dict[str, Image] = {}

    def clear(self) -> None:
        """Begin without images."""
        self._requests.clear()
        self.newest.clear()

    def update(self, context: StateContext) -> bool:
        """Take the images that have arrived, and request the next ones.

        A simulator waits for the first image of each camera, at the next tick.

        Returns:
            Whether there is an image of each camera.

        Raises:
            LookupError: The robot has no such camera.
        """
        for camera in self._cameras:
            if camera in self._requests and self._requests[camera].done():
                self.newest[camera] = self._requests.pop(camera).result()
            if camera not in self._requests:
                self._requests[camera] = context.store.get(IMAGE_GET)(camera)
            if camera not in self.newest:
                context.awaited.append(self._requests[camera])
        return len(self.newest) == len(self._cameras)


def image_writer(
    camera: str, value: str, axes: Sequence[int | None] | None
) -> tuple[int, Callable[[Image, np.ndarray], None]]:
    """Return the number of values of an image, and a function that writes them.

    Args:
        camera: Name of the camera.
        value: ``depth`` or ``colour``.
        axes: Shape of the input, with axes of one element anywhere, and of three for the channels
            of a colour image, before or behind rows and columns.

    Raises:
        UserInputError: The shape does not have rows and columns.
    """
    sizes = [it for it in axes or () if it != 1]
    channels_first = value == "colour" and sizes[:1] == [_CHANNELS]
    if value == "colour":
        sizes = sizes[1:] if channels_first else sizes[:-1] if sizes[-1:] == [_CHANNELS] else []
    if len(sizes) != 2 or None in sizes:
        raise UserInputError(
            f"the term image '{camera}' needs an input with rows and columns"
            f"{' and 3 channels' if value == 'colour' else ''}, not {list(axes or ())}"
        )
    height, width = (int(it or 0) for it in sizes)

    def write(image: Image, values: np.ndarray) -> None:
        pixels = image.depth if value == "depth" else image.colour
        if pixels is None:
            raise UserInputError(f"camera '{camera}' has no colour")
        if pixels.shape[:2] != (height, width):
            raise UserInputError(
                f"camera '{camera}' has {pixels.shape[1]}×{pixels.shape[0]} pixels, and the input "
                f"{width}×{height}; set the resolution of the camera"
            )
        if channels_first:
            pixels = pixels.transpose(2, 0, 1)
        np.copyto(values.reshape(pixels.shape), pixels)

    return height * width * (_CHANNELS if value == "colour" else 1), write
