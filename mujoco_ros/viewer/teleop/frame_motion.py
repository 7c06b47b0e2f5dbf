"""Motion of targets and mocap bodies with a commanded velocity."""

import math
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.body_frames import MocapBody, mocap_bodies
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import CommandClient, Vector

TARGET, MOCAP = "target ", "mocap "
"""Prefixes of the names of targets and mocap bodies."""
SPEED_M_S, SPEED_RAD_S = 0.2, 0.8
"""Velocities at full deflection [m/s, rad/s]."""
_LONGEST_STEP_S = 0.1  # longest time of one motion [s]: a viewer that stalls causes no jump


@dataclass(frozen=True)
class _Command:
    name: str
    linear: Vector
    angular: Vector
    until: float
    sequence: object
    """The same one for all commands between two calls of `stop`."""


@dataclass
class _Motion:
    name: str
    sequence: object
    pose: Pose
    time: float


class FrameMotion:
    """Moves a frame along and about the axes of ``world`` while it is commanded, from where it is.

    Any thread may call `command` and `stop`; all else is for the thread of the shared state.
    """

    def __init__(
        self,
        state: SharedState,
        commands: CommandClient,
        targets: MutableMapping[str, Pose],
        put_target: Callable[[str, Pose], object],
    ) -> None:
        self.names: Sequence[str] = ()  # the frames that can be moved, since the last `tick`
        self._state, self._commands = state, commands
        self._targets, self._put_target = targets, put_target
        self._model: mujoco.MjModel | None = None
        self._mocap: dict[str, MocapBody] = {}
        self._commanded: _Command | None = None
        self._sequence = object()
        self._motion: _Motion | None = None

    def command(self, name: str, linear: Vector, angular: Vector, until: float) -> None:
        """Move a frame until `stop` or a monotonic time [s], at shares of its full velocities."""
        self._commanded = _Command(name, linear, angular, until, self._sequence)

    def stop(self) -> None:
        """End the motion."""
        self._commanded, self._sequence = None, object()

    def tick(self, now: float) -> None:
        """Move the commanded frame to its pose at the monotonic time `now` [s]."""
        if self._state.model is not self._model:
            self._model, self._motion = self._state.model, None
            found = mocap_bodies(self._model, self._state.layout)
            self._mocap = {f"{MOCAP}{body.frame}": body for body in found}
        self.names = (*(f"{TARGET}{name}" for name in self._targets), *self._mocap)
        commanded, motion = self._commanded, self._motion
        if commanded is None or commanded.name not in self.names or now > commanded.until:
            self._motion = None
        elif (
            motion is None
            or motion.name != commanded.name
            or motion.sequence is not commanded.sequence
        ):
            # A past state has other poses than the simulation.
            self._motion = None
            if self._state.shown is None:
                pose = self._pose(commanded.name)
                self._motion = _Motion(commanded.name, commanded.sequence, pose, now)
        else:
            step_s = min(now - motion.time, _LONGEST_STEP_S)
            motion.pose = _moved(motion.pose, commanded.linear, commanded.angular, step_s)
            motion.time = now
            self._put(motion)

    def _pose(self, name: str) -> Pose:
        if name in self._mocap:
            row, data = self._mocap[name].mocap, self._state.data
            return Pose(position=data.mocap_pos[row].copy(), quat_wxyz=data.mocap_quat[row].copy())
        return self._targets[name.removeprefix(TARGET)]

    def _put(self, motion: _Motion) -> None:
        pose = motion.pose
        if (body := self._mocap.get(motion.name)) is not None:
            self._commands.move_mocap(body.namespace, body.name, pose.position, pose.quat_wxyz)
        else:
            self._put_target(motion.name.removeprefix(TARGET), pose)


def _moved(pose: Pose, linear: Vector, angular: Vector, step_s: float) -> Pose:
    """Return a pose after a time step, with velocities as shares of the largest ones."""
    turn, quat = np.zeros((2, 4))
    rate = math.hypot(*angular)
    axis = np.array(angular) / rate if rate else np.array([1.0, 0.0, 0.0])
    mujoco.mju_axisAngle2Quat(turn, axis, SPEED_RAD_S * rate * step_s)
    mujoco.mju_mulQuat(quat, turn, pose.quat_wxyz)
    mujoco.mju_normalize4(quat)
    return Pose(position=pose.position + SPEED_M_S * step_s * np.array(linear), quat_wxyz=quat)
