"""Films in the format MP4. The module av is imported here only: it is an optional part."""

from collections.abc import Iterable
from typing import BinaryIO

import av
import numpy as np

_CODEC = "libx264"
_SETTINGS = {"crf": "20", "preset": "veryfast"}
"""Of the codec: hardly visible losses, and less time than rendering takes."""
_PIXELS = "yuv420p"  # what browsers play


def write_film(
    file: BinaryIO, images: Iterable[np.ndarray], size: tuple[int, int], rate: int
) -> None:
    """Write images as H.264 in an MP4 file.

    Args:
        file: An empty file.
        images: Red, green and blue.  # (height, width, 3) uint8 each
        size: Width and height [pixels], even numbers.
        rate: Images per second.

    Raises:
        OSError: The file cannot be written.
    """
    # Its beginning is written last: players on the web can then start before they have all of it.
    options = {"movflags": "+faststart"}
    path = f"/proc/self/fd/{file.fileno()}"
    with av.open(path, "w", format="mp4", options=options) as container:
        stream = container.add_stream(_CODEC, rate=rate, options=_SETTINGS)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height = size
        stream.pix_fmt = _PIXELS
        for image in images:
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
