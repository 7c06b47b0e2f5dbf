"""Execution of a trajectory, with smooth braking on its path."""

from collections.abc import Iterator
from itertools import chain, repeat
from math import ceil
from typing import Protocol

import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.pick_place.arm import Arm


class ExecutedPath(Protocol):
    """Joint positions as a function of time."""

    @property
    def duration(self) -> float:
        """Duration [s]."""

    def samples(self, times: np.ndarray) -> np.ndarray:
        """Return the motion at `times` (n,) [s]; it rests before its start and after its end.

        Returns:
            Positions, velocities and accelerations.  # (3, n, k)
        """


class ReversedPath:
    """A path from its end to its start."""

    def __init__(self, path: ExecutedPath) -> None:
        self._path = path

    @property
    def duration(self) -> float:
        """Duration [s]."""
        return self._path.duration

    def samples(self, times: np.ndarray) -> np.ndarray:
        """Return the motion at `times` (n,) [s].  # (3, n, k)"""
        q, dq, ddq = self._path.samples(self._path.duration - times)
        return np.array([q, -dq, ddq])


class TrajectoryExecution:
    """Writes references along a path, with feed-forward efforts."""

    def __init__(self, arm: Arm, path: ExecutedPath, *, brake_s: float = 0.2) -> None:
        """Start at the start of the path; `brake_s` is the time to stop from full speed [s]."""
        self.path = path
        self._arm = arm
        self._time, self._rate = 0.0, 1.0
        self._deceleration, self._is_braking = 1.0 / brake_s, False
        self._samples: Iterator[np.ndarray] | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the references are at the end of the path."""
        return self._time >= self.path.duration

    @property
    def is_stopped(self) -> bool:
        """Whether the references are at rest."""
        return self._rate == 0.0 or self.is_finished

    def brake(self) -> None:
        """Slow down to rest on the path."""
        self._is_braking = True

    def step(self, context: StateContext) -> None:
        """Write the references of the next tick."""
        if self._is_braking:
            q, dq, ddq = self._braking_sample(context.period)
        else:
            self._time += context.period
            if self._samples is None:
                self._samples = self._all_samples(context.period)
            q, dq, ddq = next(self._samples)
        command(context, self._arm, q, dq, ddq)

    def _all_samples(self, period: float) -> Iterator[np.ndarray]:
        """Yield positions, velocities and accelerations of all ticks, then the last.  # (3, k)"""
        # An evaluation of all samples takes as long as three single evaluations.
        times = np.arange(1, 2 + ceil(self.path.duration / period)) * period
        samples = self.path.samples(times).swapaxes(0, 1)
        return chain(samples, repeat(samples[-1]))

    def _braking_sample(self, period: float) -> np.ndarray:
        """Advance with a decreasing rate, and return the sample.  # (3, k)"""
        before = self._rate
        self._rate = rate = max(0.0, before - self._deceleration * period)
        self._time += 0.5 * (before + rate) * period
        q, dq, ddq = self.path.samples(np.array([self._time]))[:, 0]
        return np.array([q, dq * rate, ddq * rate**2 + dq * (rate - before) / period])


def command(
    context: StateContext, arm: Arm, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray
) -> None:
    """Set the references of the arm, with the efforts of the motion.  # (k,) each"""
    references, joints = context.references, arm.joints
    references.q[joints] = q
    references.dq[joints] = dq
    references.tau[joints] = arm.dynamics.torques(q, dq, ddq)


def hold(context: StateContext, arm: Arm, q: np.ndarray | None = None) -> None:
    """Hold the arm at its references, or at `q`.  # (k,)"""
    references, joints = context.references, arm.joints
    if q is None:
        q = references.q[joints]
    references.q[joints] = q
    references.dq[joints] = 0.0
    references.tau[joints] = arm.gravity(q)


def move_gripper(context: StateContext, arm: Arm, position: float, speed: float) -> bool:
    """Move the gripper's reference at `speed` [m/s] to `position` [m]; return whether done."""
    references, joint = context.references, arm.gripper
    distance, step = position - references.q[joint], speed * context.period
    references.q[joint] += min(max(distance, -step), step)
    references.dq[joint] = references.tau[joint] = 0.0
    return bool(abs(distance) <= step)
