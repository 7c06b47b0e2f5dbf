"""Leading the joints along a trajectory, and stopping on the way without a jerk."""

from collections.abc import Iterator
from itertools import chain, repeat
from math import ceil
from typing import Protocol

import numpy as np

from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.library.pick_place.arm import Arm


class ExecutedPath(Protocol):
    """Where the joints are at which time."""

    @property
    def duration(self) -> float:
        """Return how long it takes [s]."""

    def samples(self, times: np.ndarray) -> np.ndarray:
        """Return where they are after `times` (n,) [s], at rest before its start and after its end.

        Returns:
            Positions, velocities and accelerations.  # (3, n, k)
        """


class Back:
    """The same way from its end to its start."""

    def __init__(self, way: ExecutedPath) -> None:
        """Turn a way round."""
        self._way = way

    @property
    def duration(self) -> float:
        """Return how long it takes [s]."""
        return self._way.duration

    def samples(self, times: np.ndarray) -> np.ndarray:
        """Return where the joints are after `times` (n,) [s].  # (3, n, k)."""
        q, dq, ddq = self._way.samples(self._way.duration - times)
        return np.array([q, -dq, ddq])


class TrajectoryExecution:
    """Writes references that follow a way, with the efforts it takes.

    Attributes:
        way: What is followed.
        over: Whether its end has been told to the joints.
        stopped: Whether it was left to rest before its end.
    """

    def __init__(self, arm: Arm, way: ExecutedPath, *, brake_s: float = 0.2) -> None:
        """Begin at the start of the way.

        Args:
            arm: The arm.
            way: What to follow.
            brake_s: How long it takes to come to rest on the way, from full speed [s].
        """
        self.way = way
        self._arm = arm
        self._at, self._rate = 0.0, 1.0
        self._slowing, self._braking = 1.0 / brake_s, False
        self._ahead: Iterator[np.ndarray] | None = None

    @property
    def over(self) -> bool:
        """Return whether the joints are told to be at the end."""
        return self._at >= self.way.duration

    @property
    def stopped(self) -> bool:
        """Return whether the joints are told to rest."""
        return self._rate == 0.0 or self.over

    def brake(self) -> None:
        """Come to rest from now on, without leaving the way."""
        self._braking = True

    def step(self, context: StateContext) -> None:
        """Write the references that shall be reached at the next tick."""
        if self._braking:
            q, dq, ddq = self._slower(context.period)
        else:
            self._at += context.period
            if self._ahead is None:
                self._ahead = self._in_time(context.period)
            q, dq, ddq = next(self._ahead)
        tell(context, self._arm, q, dq, ddq)

    def _in_time(self, period: float) -> Iterator[np.ndarray]:
        """Yield positions, velocities and accelerations tick by tick, without end.  # (3, k)."""
        # All of the way at once costs no more than three of its ticks one by one.
        times = np.arange(1, 2 + ceil(self.way.duration / period)) * period
        course = self.way.samples(times).swapaxes(0, 1)
        return chain(course, repeat(course[-1]))

    def _slower(self, period: float) -> np.ndarray:
        """Go on along the way as far as the brake lets it.  # (3, k)."""
        before = self._rate
        self._rate = rate = max(0.0, before - self._slowing * period)
        self._at += 0.5 * (before + rate) * period
        q, dq, ddq = self.way.samples(np.array([self._at]))[:, 0]
        return np.array([q, dq * rate, ddq * rate**2 + dq * (rate - before) / period])


def tell(context: StateContext, arm: Arm, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> None:
    """Tell the joints where to be, with the efforts that this takes.  # (k,) each."""
    references, joints = context.references, arm.joints
    references.q[joints] = q
    references.dq[joints] = dq
    references.tau[joints] = arm.dynamics.torques(q, dq, ddq)


def rest(context: StateContext, arm: Arm, q: np.ndarray | None = None) -> None:
    """Tell the joints to stay: where they are told to be already, or at `q`.  # (k,)."""
    references, joints = context.references, arm.joints
    if q is None:
        q = references.q[joints]
    references.q[joints] = q
    references.dq[joints] = 0.0
    references.tau[joints] = arm.gravity(q)


def grip(context: StateContext, arm: Arm, position: float, speed: float) -> bool:
    """Move the gripper's reference on; return whether it is there.

    Args:
        context: The tick.
        arm: The arm.
        position: Where its joint shall go [m].
        speed: How fast [m/s].
    """
    references, joint = context.references, arm.gripper
    way, reach = position - references.q[joint], speed * context.period
    references.q[joint] += min(max(way, -reach), reach)
    references.dq[joint] = references.tau[joint] = 0.0
    return bool(abs(way) <= reach)
