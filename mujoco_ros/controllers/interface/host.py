"""Functions that a host provides in the store of a controller."""

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import NamedTuple

import numpy as np

from mujoco_ros.control.gains import LARGEST_GAIN, Gains
from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.controllers.interface.store import Key


class Image(NamedTuple):
    """An image of a camera.

    Attributes:
        time: [s]
        depth: Distance along the optical axis [m]; inf without a surface.  # (h, w)
        colour: RGB; None if only depth was requested.  # (h, w, 3) uint8
        matrix: Intrinsics; the centre of the first pixel is (0, 0).  # (3, 3)
        pose: Optical frame (z forward, x right) in ``world``.
    """

    time: float
    depth: np.ndarray
    colour: np.ndarray | None
    matrix: np.ndarray
    pose: Pose


class ImageFuture(Future[Image]):
    """A requested image, which arrives between two ticks: a state cannot block for it."""

    def result(self, timeout: float | None = None) -> Image:
        """Return the image; InvalidStateError if it has not arrived."""
        self._check_done()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return why there is no image, or None; InvalidStateError if it has not arrived."""
        self._check_done()
        return super().exception(timeout)

    def _check_done(self) -> None:
        if not self.done():
            raise InvalidStateError(
                "the image has not arrived, and it cannot arrive during a tick: check done(), or "
                "append the future to context.awaited"
            )


ImageGet = Callable[[str], "Future[Image]"]
"""Requests the next image of a camera; the future fails with LookupError for an unknown one."""
GainsGet = Callable[[], Gains]
"""Returns a copy of the PD gains of the robot's joints, in the order of `RobotModel.joints`."""
GainsSet = Callable[[Gains], None]
"""Sets the PD gains from the next tick on; ValueError if one is negative or not a number."""
PoseSet = Callable[[str, Pose], None]
"""Sets the pose of the robot's base or of a free object, in a simulator only.

LookupError for an unknown name, or on a host without a simulator.
"""

GAINS_GET: Key[GainsGet] = Key("gains/get")
GAINS_SET: Key[GainsSet] = Key("gains/set")
POSE_SET: Key[PoseSet] = Key("pose/set")
IMAGE_GET: Key[ImageGet] = Key("image/get")


def check_gains(gains: Gains, joints: tuple[str, ...]) -> None:
    """Raise ValueError unless there is one valid pair of gains for each joint."""
    for name, values in (("kp", gains.kp), ("kd", gains.kd)):
        if np.shape(values) != (len(joints),):
            raise ValueError(f"{name} has the shape {np.shape(values)}, not one value per joint")
        valid = (values >= 0.0) & (values <= LARGEST_GAIN)  # false for NaN
        if not valid.all():
            joint = int(np.argmin(valid))
            raise ValueError(
                f"{name} of joint '{joints[joint]}' is {values[joint]:g}; it must be from 0 to "
                f"{LARGEST_GAIN:g}"
            )
