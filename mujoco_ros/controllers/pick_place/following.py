"""Leading the joints along a trajectory, and stopping on the way without a jerk."""

from typing import Protocol

import numpy as np

from mujoco_ros.controllers.pick_place.arm import Arm
from mujoco_ros.fsm.context import Context

Sample = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Positions, velocities and accelerations of the joints, (k,) each."""


class Way(Protocol):
    """Where the joints are at which time."""

    @property
    def duration(self) -> float:
        """Return how long it takes [s]."""

    def sample(self, t: float) -> Sample:
        """Return where they are after `t` [s]; before the start and after the end they rest."""


class Back:
    """The same way from its end to its start."""

    def __init__(self, way: Way) -> None:
        """Turn a way round."""
        self._way = way

    @property
    def duration(self) -> float:
        """Return how long it takes [s]."""
        return self._way.duration

    def sample(self, t: float) -> Sample:
        """Return where the joints are after `t` [s]."""
        q, dq, ddq = self._way.sample(self._way.duration - t)
        return q, -dq, ddq


class Follower:
    """Writes references that follow a way, with the efforts it takes.

    Attributes:
        way: What is followed.
        over: Whether its end has been told to the joints.
        stopped: Whether it was left to rest before its end.
    """

    def __init__(self, arm: Arm, way: Way, *, brake_s: float = 0.2) -> None:
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

    def step(self, context: Context) -> None:
        """Write the references that shall be reached at the next tick."""
        period, before = context.period, self._rate
        if self._braking:
            self._rate = max(0.0, before - self._slowing * period)
        self._at += 0.5 * (before + self._rate) * period
        q, dq, ddq = self.way.sample(self._at)
        rate = self._rate
        ddq = ddq * rate**2 + dq * (rate - before) / period
        tell(context, self._arm, q, dq * rate, ddq)


def tell(context: Context, arm: Arm, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> None:
    """Tell the joints where to be, with the efforts that this takes.  # (k,) each."""
    references, joints = context.references, arm.joints
    references.q[joints] = q
    references.dq[joints] = dq
    references.tau[joints] = arm.dynamics.torques(q, dq, ddq)


def rest(context: Context, arm: Arm, q: np.ndarray | None = None) -> None:
    """Tell the joints to stay: where they are told to be already, or at `q`.  # (k,)."""
    references, joints = context.references, arm.joints
    if q is None:
        q = references.q[joints]
    references.q[joints] = q
    references.dq[joints] = 0.0
    references.tau[joints] = arm.gravity(q)


def grip(context: Context, arm: Arm, position: float, speed: float) -> bool:
    """Move the gripper's reference on; return whether it is there.

    Args:
        context: The tick.
        arm: The arm.
        position: Where its joint shall go [m].
        speed: How fast [m/s].
    """
    references, joint = context.references, arm.gripper
    way, reach = position - references.q[joint], speed * context.period
    references.q[joint] += np.clip(way, -reach, reach)
    references.dq[joint] = references.tau[joint] = 0.0
    return bool(abs(way) <= reach)
