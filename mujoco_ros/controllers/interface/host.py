"""What a host puts into the store: the doors from a controller to the world it runs in."""

from concurrent.futures import Future
from typing import NamedTuple, Protocol

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.controllers.interface.store import Key


class Image(NamedTuple):
    """What a camera saw at one instant.

    Attributes:
        time: [s]
        depth: Distance along the optical axis [m]; inf where there is nothing.  # (h, w)
        colour: RGB; None if only depth was asked for.  # (h, w, 3) uint8
        matrix: Intrinsics; the centre of the first pixel is (0, 0).  # (3, 3)
        pose: Of the optical frame (z ahead, x right) in ``world``.
    """

    time: float
    depth: np.ndarray
    colour: np.ndarray | None
    matrix: np.ndarray
    pose: Pose


class ImageRequest(Protocol):
    """Asks for the next image of a camera."""

    def __call__(self, camera: str) -> "Future[Image]":
        """Return a future; it fails with LookupError for a camera that there is not."""


class GainsGet(Protocol):
    """Reads the PD gains of the robot's joints."""

    def __call__(self) -> Gains:
        """Return a copy, in `Robot.joints`' order."""


class GainsSet(Protocol):
    """Changes the PD gains of the robot's joints from the next tick on."""

    def __call__(self, gains: Gains) -> None:
        """Set all of them; ValueError if one is negative or not a number."""


class PoseSet(Protocol):
    """Puts the robot's base, or a free object, somewhere: simulation only."""

    def __call__(self, name: str, pose: Pose) -> None:
        """Set a pose; LookupError where there is no such thing, or the host cannot."""


GAINS_GET: Key[GainsGet] = Key("gains/get")
GAINS_SET: Key[GainsSet] = Key("gains/set")
POSE_SET: Key[PoseSet] = Key("pose/set")
LOOK: Key[ImageRequest] = Key("camera/look")
