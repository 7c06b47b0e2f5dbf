"""Motion of targets and mocap bodies with a commanded velocity."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.body_frames import MocapBody, mocap_bodies
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import Vector
from mujoco_ros.viewer.ros.commands import CommandPublisher
from mujoco_ros.viewer.targets import Targets

TARGET, MOCAP = "target ", "mocap "
"""Prefixes of the names of targets and mocap bodies."""
SPEED_M_S, SPEED_RAD_S = 0.2, 0.8
"""Velocities at full deflection [m/s, rad/s]."""
_LONGEST_STEP_S = 0.1  # longest time of one motion [s]: a viewer that stalls causes no jump


@dataclass(kw_only=True)
class _Motion:
    """A commanded motion, with velocities as shares of the largest ones."""

    name: str
    linear: Vector
    angular: Vector
    until: float  # when it ends, monotonic [s]
    pose: Pose | None = None  # None before it begins, at the pose that the frame has then
    time: float = 0.0  # of the pose, monotonic [s]


class FrameMotion:
    """Moves a frame along and about the axes of ``world``, from where it is, while commanded."""

    def __init__(self, state: SharedState, commands: CommandPublisher, targets: Targets) -> None:
        self.names: Sequence[str] = ()  # the frames that can be moved, since the last `tick`
        self._state, self._commands, self._targets = state, commands, targets
        self._model: mujoco.MjModel | None = None
        self._mocap: dict[str, MocapBody] = {}
        self._motion: _Motion | None = None

    def command(self, name: str, linear: Vector, angular: Vector, until: float) -> None:
        """Move a frame until `stop` or a monotonic time [s], at shares of its full velocities."""
        motion = _Motion(name=name, linear=linear, angular=angular, until=until)
        if self._motion is not None and self._motion.name == name:
            motion.pose, motion.time = self._motion.pose, self._motion.time
        self._motion = motion

    def stop(self) -> None:
        """End the motion."""
        self._motion = None

    def tick(self, now: float) -> None:
        """Move the commanded frame to its pose at the monotonic time `now` [s]."""
        motion = self._motion
        if self._state.model is not self._model:
            self._model = self._state.model
            found = mocap_bodies(self._model, self._state.layout)
            self._mocap = {f"{MOCAP}{body.frame}": body for body in found}
            if motion is not None:
                motion.pose = None
        self.names = (*(f"{TARGET}{name}" for name in self._targets.poses), *self._mocap)
        if motion is None or motion.name not in self.names or now > motion.until:
            self._motion = None
        elif motion.pose is not None:
            step_s = min(now - motion.time, _LONGEST_STEP_S)
            pose = _moved(motion.pose, motion.linear, motion.angular, step_s)
            motion.pose, motion.time = pose, now
            self._put(motion.name, pose)
        elif self._state.shown is None:  # a past state has other poses than the simulation
            motion.pose, motion.time = self._pose(motion.name), now

    def _pose(self, name: str) -> Pose:
        if name in self._mocap:
            row, data = self._mocap[name].mocap, self._state.data
            return Pose(position=data.mocap_pos[row].copy(), quat_wxyz=data.mocap_quat[row].copy())
        return self._targets.poses[name.removeprefix(TARGET)]

    def _put(self, name: str, pose: Pose) -> None:
        if (body := self._mocap.get(name)) is not None:
            self._commands.move_mocap(body.namespace, body.name, pose.position, pose.quat_wxyz)
        else:
            self._targets.put(name.removeprefix(TARGET), pose)


def _moved(pose: Pose, linear: Vector, angular: Vector, step_s: float) -> Pose:
    """Return a pose after a time step, with velocities as shares of the largest ones."""
    turn, quat = np.zeros((2, 4))
    rate = math.hypot(*angular)
    axis = np.array(angular) / rate if rate else np.array([1.0, 0.0, 0.0])
    mujoco.mju_axisAngle2Quat(turn, axis, SPEED_RAD_S * rate * step_s)
    mujoco.mju_mulQuat(quat, turn, pose.quat_wxyz)
    mujoco.mju_normalize4(quat)
    return Pose(position=pose.position + SPEED_M_S * step_s * np.array(linear), quat_wxyz=quat)
