"""The measured joints of each robot, for the arbitration of its commands."""

from collections.abc import Sequence

import mujoco
import numpy as np

from mujoco_ros.control.references import as_slice
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.robot.layout import RobotLayout

_Parts = tuple[tuple[np.ndarray, np.ndarray], ...]
"""Arrays of a state, and the indices of the joints of a robot in them."""


class JointFeedback:
    """Sets measured positions, velocities and efforts of each `RobotControl`, from the state.

    Where the joints of a robot are consecutive in the state, its control gets views, which are
    always current. Those of other robots are copied when they are needed.
    """

    def __init__(
        self,
        data: mujoco.MjData,
        robots: Sequence[RobotLayout],
        controls: Sequence[RobotControl],
    ) -> None:
        """Take the robots, and the control of each, of a state that stays where it is."""
        self._robots: list[tuple[RobotControl, _Parts]] = []
        for robot, control in zip(robots, controls, strict=True):
            joints = robot.joints
            parts: _Parts = ()
            qpos, dof = as_slice(joints.qpos), as_slice(joints.dof)
            if isinstance(qpos, slice) and isinstance(dof, slice):
                control.q, control.dq = data.qpos[qpos], data.qvel[dof]
                control.effort = data.qfrc_actuator[dof]
            else:
                control.q, control.dq, control.effort = np.zeros((3, len(joints.names)))
                measured = (data.qpos, data.qvel, data.qfrc_actuator)
                parts = tuple(zip(measured, (joints.qpos, joints.dof, joints.dof), strict=True))
            self._robots.append((control, parts))

    def update_controls(self, time: float) -> None:
        """Update the references of all robots for the step at `time` [s], in the physics thread."""
        for control, parts in self._robots:
            if parts and (control.active or control.reset_hold.active):
                _read(control, parts)
            control.update(time)

    def read(self) -> None:
        """Copy what is measured now, of all robots."""
        for control, parts in self._robots:
            if parts:
                _read(control, parts)


def _read(control: RobotControl, parts: _Parts) -> None:
    for (array, indices), out in zip(parts, (control.q, control.dq, control.effort), strict=True):
        # With "clip", NumPy writes without a buffer between; no index is out of range.
        array.take(indices, out=out, mode="clip")
