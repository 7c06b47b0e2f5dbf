"""Fields for a pose: position, and orientation as roll, pitch and yaw in degrees."""

from collections.abc import Sequence

import numpy as np

from mujoco_ros.model.pose import PoseConfig, quaternion_wxyz, rpy_of
from mujoco_ros.viewer.panels import widgets

_SMALLEST_NORM = 1e-6
_ROWS = (("xyz [m]", ("x", "y", "z")), ("rpy [deg]", ("roll", "pitch", "yaw")))
"""Caption of each row, and the names of its numbers."""

Numbers = tuple[float, ...]


class PoseFields:
    """Builds the fields of a pose, and keeps the angles as they were entered.

    Several angles can be the same orientation, so the others would change while one is entered.
    """

    def __init__(self) -> None:
        self._entered: tuple[Numbers, Numbers] = ((), ())  # quaternion, and its angles [deg]

    def build(self, name: str, pose: Sequence[float]) -> tuple[Numbers, bool]:
        """Build the fields.

        Args:
            name: Their identifier in the window.
            pose: Position [m] and quaternion (xyzw).  # (7,)

        Returns:
            The pose, with the same numbers where nothing was entered, and whether an edit is done.
        """
        quat = tuple(pose[3:])
        shown = self._angles(quat)
        (position, is_moved), (angles, is_turned) = (
            widgets.number_row([f"##{name}.{it}" for it in names], values, caption, names)
            for (caption, names), values in zip(_ROWS, (pose[:3], shown), strict=True)
        )
        if angles != shown:
            roll, pitch, yaw = np.radians(angles)
            w, x, y, z = map(float, quaternion_wxyz(PoseConfig(rpy=(roll, pitch, yaw))))
            quat = (x, y, z, w)
            self._entered = quat, angles
        return (*position, *quat), is_moved or is_turned

    def _angles(self, quat: Numbers) -> Numbers:
        """Return roll, pitch and yaw of a quaternion (xyzw) [deg]."""
        entered, angles = self._entered
        if entered == quat:
            return angles
        x, y, z, w = quat
        if not _SMALLEST_NORM < float(np.linalg.norm(quat)) < np.inf:
            return (0.0, 0.0, 0.0)
        return tuple(map(float, np.degrees(rpy_of(np.array([w, x, y, z])))))
