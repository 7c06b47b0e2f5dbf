"""Fields for a position [m], and for roll, pitch and yaw [deg]."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from nicegui.element import Element

from mujoco_ros.model.pose import Pose, PoseConfig, quaternion_wxyz, rpy_of
from mujoco_ros.viewer.page import widgets

_ROWS = (("xyz [m]", "m", ("x", "y", "z")), ("rpy [deg]", "deg", ("roll", "pitch", "yaw")))
_DECIMALS = {"m": 4, "deg": 2}
_STEPS = {"m": 0.01, "deg": 5.0}  # of arrow keys


class PoseFields:
    """The fields, in the container that is active."""

    def __init__(
        self, change: Callable[[int, float], object], *, name: str = "", has_angles: bool = True
    ) -> None:
        """Create them; `change` gets the index of a number and the number that was entered."""
        self.fields: list[widgets.NumberField] = []
        self._decimals: list[int] = []
        with Element("div").classes("pose-fields"):
            for label, unit, axes in _ROWS if has_angles else _ROWS[:1]:
                widgets.text(label, "muted")
                for axis in axes:
                    act = partial(change, len(self.fields))
                    full = f"{name} {axis} [{unit}]".strip()
                    tip = f"{axis} [{unit}]"
                    self.fields.append(
                        widgets.number_field(full, 0.0, act, step=_STEPS[unit], tip=tip)
                    )
                    self._decimals.append(_DECIMALS[unit])

    def show(self, numbers: Sequence[float]) -> None:
        """Show the first numbers of a pose, see `pose_numbers`."""
        for field, number, decimals in zip(self.fields, numbers, self._decimals, strict=False):
            field.show(round(float(number), decimals))


def pose_numbers(pose: Pose) -> list[float]:
    """Return position [m] and roll, pitch and yaw [deg]."""
    return [*map(float, pose.position), *map(float, np.degrees(rpy_of(pose.quat_wxyz)))]


def pose_of(numbers: Sequence[float]) -> Pose:
    """Return the pose with a position [m] and roll, pitch and yaw [deg]."""
    roll, pitch, yaw = map(float, np.radians(numbers[3:]))
    quat = quaternion_wxyz(PoseConfig(rpy=(roll, pitch, yaw)))
    return Pose(position=np.array(numbers[:3], float), quat_wxyz=quat)
