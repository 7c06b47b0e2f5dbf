"""Joints that stay at the state of a reset until the source that moved them continues there."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mujoco_ros.control.events import CommandHeld, CommandSource, Event, HoldEnded, JointsHeld
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.references import References
from mujoco_ros.control.settings import ResetPolicy
from mujoco_ros.control.stream import Stream
from mujoco_ros.control.trajectory.trajectory import Trajectory

RUNNING_S = 0.5
"""A source with a command in this simulated time before a reset is running: it may not notice."""
_SPEED_PER_TOLERANCE = 10.0
"""Speed that counts as standstill, as a multiple of the tolerance per second."""
_SOURCES = (
    CommandSource.TRAJECTORY,
    CommandSource.JOINT_COMMANDS,
    CommandSource.POSITION,
    CommandSource.VELOCITY,
)
_ROWS = {source: row for row, source in enumerate(_SOURCES)}
_STATE = ("_held", "_times", "_recent", "_low", "_high")


class HeldBack(NamedTuple):
    """Joints that are held against a source."""

    joints: tuple[str, ...]
    commands: int  # number of commands since the reset that were not near
    reason: str  # why the first of them was not; empty without one


class ResetHold:
    """Keeps joints at the state that a reset has set, against sources that do not notice it.

    A joint is held against a source if that source ran when the state of the joint was set. All
    other sources move it as ever. The hold ends with the first command whose held joints are all
    near: within the tolerance of their reference and of where they were measured since the reset,
    or slower than ten times the tolerance per second if only velocities are commanded. Efforts
    alone are not compared, and pass. A trajectory is near if it starts there, or if its next
    waypoint is `RUNNING_S` or more ahead, because it leads there from the reference.

    Everything depends on commands and simulated time alone.
    """

    def __init__(
        self, joints: ControlledJoints, references: References, emit: Callable[[Event], None]
    ) -> None:
        self._joints, self._references, self._emit = joints, references, emit
        shape = len(_SOURCES), len(joints.names)
        self.active = False  # whether any joint is held
        self._policy: ResetPolicy = "hold"
        self._tolerance = 0.0
        self._held = np.zeros(shape, dtype=bool)
        self._times = np.full(shape, -np.inf)  # of the last command [s]
        self._recent = np.zeros(shape, dtype=bool)  # ran when the clock was set
        # Of the measured positions since the reset.
        self._low, self._high = np.full(shape[1], np.inf), np.full(shape[1], -np.inf)
        # Number of commands that were not near, and why the first one was not.
        self._refused: dict[CommandSource, tuple[int, str]] = {}

    def configure(self, policy: ResetPolicy, tolerance: float) -> None:
        """Set the policy, and the largest distance that is near [rad or m]."""
        self._policy, self._tolerance = policy, tolerance
        if policy == "off":
            self.release()

    def begin(self, time: float, joints: np.ndarray | slice = slice(None)) -> None:
        """Hold `joints`, whose state was set, against the sources that ran at `time` [s]."""
        if self._policy == "off":
            return
        running = self._recent | (time - self._times <= RUNNING_S)
        self._held[:, joints] |= running[:, joints]
        self._low[joints], self._high[joints] = np.inf, -np.inf
        self._settle()
        self._refused.clear()
        for source, held in self.held().items():
            self._emit(JointsHeld(source=source, joints=self._names(held)))

    def forget_clock(self, time: float, *, keep: bool) -> None:
        """Forget the times of commands, as the clock, which was at `time` [s], may be set.

        With `keep`, the sources that run now count as running until the next `begin`.
        """
        running = time - self._times <= RUNNING_S
        self._recent[:] = (self._recent | running) if keep else False
        self._times[:] = -np.inf

    def release(self, source: CommandSource | None = None) -> None:
        """End the hold against a source, or against all of them."""
        rows = slice(None) if source is None else _ROWS.get(source)
        if rows is not None:
            self._held[rows] = self._recent[rows] = False
            self._settle()

    def held(self) -> dict[CommandSource, np.ndarray]:
        """Return the indices of the joints that are held against each source."""
        if not self._held.any():
            return {}
        rows = zip(_SOURCES, self._held, strict=True)
        return {source: np.flatnonzero(row) for source, row in rows if row.any()}

    def report(self) -> dict[CommandSource, HeldBack]:
        """Return the joints that are held against each source."""
        none = 0, ""
        return {
            source: HeldBack(self._names(held), *self._refused.get(source, none))
            for source, held in self.held().items()
        }

    def admit(
        self,
        source: CommandSource,
        stream: Stream,
        joints: np.ndarray,
        values: np.ndarray,
        q: np.ndarray,
        time: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the joints and values of a command without the joints that stay held.

        `joints` (k,) are indices, and `values` (3, k) positions, velocities and efforts, NaN where
        there is none. `q` (n,) are the measured positions of all joints; `time` [s] is the next
        step.
        """
        row = _ROWS.get(source)
        if row is None:
            return joints, values
        self._times[row, joints] = time
        if not self.active or not (mine := self._held[row, joints]).any():
            return joints, values
        held = joints[mine]
        position, velocity = values[:2, mine]
        by_velocity = np.isnan(position)
        off = self._distance(held, position, q) - stream.increment(0, held)
        speed = np.abs(velocity - self._references.dq[held]) - stream.increment(1, held)
        off[by_velocity] = speed[by_velocity] / _SPEED_PER_TOLERANCE
        compared = ~np.isnan(off)
        if not compared.any():
            return joints, values
        commanded = np.where(by_velocity, velocity, position)
        if not self._refuse(source, held[compared], off[compared], commanded[compared], q):
            self._free(source, held)
            return joints, values
        mine[mine] = compared
        return joints[~mine], values[:, ~mine]

    def refuses(self, trajectory: Trajectory, q: np.ndarray, time: float) -> str:
        """Return why a trajectory must not move joints from `time` [s] on; empty if it may.

        `q` (n,) are the measured positions of all joints.
        """
        row, joints = _ROWS[CommandSource.TRAJECTORY], trajectory.joints
        self._times[row, joints] = time
        if not self.active or not (mine := self._held[row, joints]).any():
            return ""
        points, held = trajectory.points, joints[mine]
        knots = points.times + (time if trajectory.start is None else trajectory.start)
        ahead = min(int(np.searchsorted(knots, time, side="right")), len(knots) - 1)
        if knots[ahead] - time < RUNNING_S:
            columns = points.q[:, mine].T
            there = np.array([np.interp(time, knots, column) for column in columns])
            turns = np.round((self._references.q[held] - there) / (2 * np.pi))
            there += np.where(self._joints.continuous[held], 2 * np.pi * turns, 0.0)
            off = self._distance(held, there, q)
            if reason := self._refuse(CommandSource.TRAJECTORY, held, off, there, q):
                return reason
        self._free(CommandSource.TRAJECTORY, held)
        return ""

    def save_state(self) -> dict[str, np.ndarray]:
        """Return a copy of the state, for `restore_state`."""
        return {name: getattr(self, name).copy() for name in _STATE}

    def restore_state(self, state: dict[str, Any]) -> None:
        """Hold the joints of a saved state as well as those that are held now."""
        held = self._held.copy()
        for name, value in state.items():
            getattr(self, name)[:] = value
        new = (held & ~self._held).any(axis=0)
        self._low[new], self._high[new] = np.inf, -np.inf
        self._held |= held
        self._settle()

    def _distance(self, joints: np.ndarray, position: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Return how far positions (k,) are from where `joints` have been since the reset."""
        low, high = self._low, self._high
        low[joints] = np.minimum(low[joints], q[joints])
        high[joints] = np.maximum(high[joints], q[joints])
        reference = self._references.q[joints]
        least, most = np.minimum(low[joints], reference), np.maximum(high[joints], reference)
        distance: np.ndarray = np.maximum(least - position, position - most)
        return distance

    def _refuse(
        self,
        source: CommandSource,
        joints: np.ndarray,
        off: np.ndarray,
        commanded: np.ndarray,
        q: np.ndarray,
    ) -> str:
        """Return why a command is too far `off` (k,); empty if it is not."""
        worst = int(np.argmax(off))
        if off[worst] <= self._tolerance:
            return ""
        count, first = self._refused.get(source, (0, ""))
        if count and source is not CommandSource.TRAJECTORY:
            self._refused[source] = count + 1, first
            return first  # the text of each command would cost more than the command
        joint = int(joints[worst])
        reason = (
            f"joint '{self._joints.names[joint]}' is commanded to {commanded[worst]:.4f} and is at "
            f"{q[joint]:.4f} since its state was set"
        )
        self._refused[source] = count + 1, first or reason
        if not count:
            self._emit(CommandHeld(source=source, joints=self._names(joints), message=reason))
        return reason

    def _free(self, source: CommandSource, joints: np.ndarray) -> None:
        self._held[_ROWS[source], joints] = False
        if source in self._refused:
            self._emit(HoldEnded(source=source, joints=self._names(joints)))
        self._settle()

    def _settle(self) -> None:
        self.active = bool(self._held.any())
        for source, row in _ROWS.items():
            if not self._held[row].any():
                self._refused.pop(source, None)

    def _names(self, joints: np.ndarray) -> tuple[str, ...]:
        return tuple(self._joints.names[joint] for joint in joints)
