"""Pose of a box by the ArUco markers on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import cv2
import numpy as np

from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.library.config_checks import check_positive
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.scene.pose_config import ORIGIN, PoseConfig, quaternion_wxyz

_CORNERS = np.array([(-1.0, 1.0, 0.0), (1.0, 1.0, 0.0), (1.0, -1.0, 0.0), (-1.0, -1.0, 0.0)])
"""Corners of a marker in their order in OpenCV, in half sides."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkerConfig:
    """A marker of the dictionary 4X4_50.

    Attributes:
        number: Its number.
        size: Length of a side, with the black edge [m].
        pose: Its pose in the frame of the object: x to the right and y upwards on the label, z
            towards the viewer.
    """

    number: int
    size: float
    pose: PoseConfig = field(default_factory=lambda: ORIGIN)

    def __post_init__(self) -> None:
        check_positive(self, "size")
        if not 0 <= self.number < 50:
            raise UserInputError(f"the number of a marker must be from 0 to 49, got {self.number}")


class MarkerDetector:
    """Finds an object in images."""

    def __init__(self, markers: Sequence[MarkerConfig]) -> None:
        """Set the markers of the object.

        Raises:
            UserInputError: There is none, or two have the same number.
        """
        self._points: dict[int, np.ndarray] = {}
        for marker in markers:
            if marker.number in self._points:
                raise UserInputError(f"two markers have the number {marker.number}")
            pose = Pose(position=np.array(marker.pose.xyz), quat_wxyz=quaternion_wxyz(marker.pose))
            corners = 0.5 * marker.size * _CORNERS
            self._points[marker.number] = corners @ pose.matrix.T + pose.position
        if not self._points:
            raise UserInputError("an object needs at least one marker")
        self._detect = _detector()

    def detect(self, image: Image) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the poses that the object can have in the optical frame.

        Several markers give one pose. A single one can give two: the image of a small flat
        square is nearly the same if it is tilted to either side.

        Returns:
            Position (3,) and rotation matrix (3, 3) of each pose, the likeliest first; empty if no
            marker is seen.

        Raises:
            UserInputError: The image has no colour.
        """
        if image.colour is None:
            raise UserInputError("markers need an image with colour")
        corners, numbers, _ = self._detect(cv2.cvtColor(image.colour, cv2.COLOR_RGB2GRAY))
        if numbers is None:
            return []
        seen = [
            (self._points[number], found.reshape(4, 2))
            for number, found in zip(numbers.ravel().tolist(), corners, strict=True)
            if number in self._points
        ]
        if not seen:
            return []
        points = np.concatenate([it for it, _ in seen])
        pixels = np.concatenate([it for _, it in seen]).astype(float)
        _, turns, positions, _ = cv2.solvePnPGeneric(
            *(points, pixels, image.matrix, None), flags=cv2.SOLVEPNP_SQPNP
        )
        poses = []
        for turn, position in zip(turns, positions, strict=True):
            turn, position = cv2.solvePnPRefineLM(
                points, pixels, image.matrix, None, turn, position
            )
            poses.append((position.ravel(), cv2.Rodrigues(turn)[0]))
        return poses


def _detector() -> Callable[[np.ndarray], Any]:
    """Return a function that finds the corners and numbers of markers in a grey image."""
    aruco: Any = cv2.aruco
    dictionary = aruco.getPredefinedDictionary(aruco.DICT_4X4_50)
    is_new = hasattr(aruco, "ArucoDetector")  # since OpenCV 4.7; Ubuntu 24.04 has 4.6
    parameters = aruco.DetectorParameters() if is_new else aruco.DetectorParameters_create()
    parameters.cornerRefinementMethod = aruco.CORNER_REFINE_SUBPIX
    if is_new:
        detect: Callable[[np.ndarray], Any] = aruco.ArucoDetector(
            dictionary, parameters
        ).detectMarkers
        return detect
    return partial(aruco.detectMarkers, dictionary=dictionary, parameters=parameters)
