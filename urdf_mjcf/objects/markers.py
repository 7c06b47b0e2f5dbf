"""Makes the textures of the labels: ``python3 urdf_mjcf/objects/markers.py``."""

from pathlib import Path

import cv2
import numpy as np

_FOLDER = Path(__file__).resolve().parent / "textures"
_MODULE = 40
"""Pixels of a square of a marker, of which it has six with its black edge."""
_MARGIN = 24
"""Pixels of the white edge of a label."""


def label(number: int) -> np.ndarray:
    """Return the image of a marker on a white label.  # (h, w) uint8"""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    marker = cv2.aruco.generateImageMarker(dictionary, number, 6 * _MODULE)
    return np.pad(marker, _MARGIN, constant_values=255)


def main() -> None:
    """Write the images."""
    _FOLDER.mkdir(exist_ok=True)
    for number in (1, 2, 3):
        cv2.imwrite(str(_FOLDER / f"marker_{number}.png"), label(number))


if __name__ == "__main__":
    main()
