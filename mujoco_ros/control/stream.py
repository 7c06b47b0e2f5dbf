"""Commands that come in a stream, and what the references are between two of them."""

from copy import copy
from typing import Any

import numpy as np

from mujoco_ros.control.references import References
from mujoco_ros.control.settings import StreamSettings

_LONGEST_PERIOD_S = 0.25
"""A longer silence begins a stream anew: nobody wants a single command to take seconds."""
_SMOOTHING = 0.25
_ROUNDING = 1e-6
"""Part of a timestep: far more than adding times up rounds away."""


class Stream:
    """One source of commands: value by value, references go from each command to the next.

    They arrive when the next command is due, after the measured (or configured) period, and then
    stay. The first command has no period to measure and acts at once, as every one does with
    ``hold``. Positions, velocities and efforts of a joint may come at rates of their own.

    Attributes:
        busy: Whether any joint follows it.
        moving: Whether references still are on the way to a command.
        held: The joints that follow it.  # (n,) bool
        positioned: Whether a joint was told a position since it follows.  # (n,) bool
    """

    def __init__(self, references: References, row: int | None = None) -> None:
        """Command all of position, velocity and effort, or the one that `row` tells."""
        self._rows = slice(None) if row is None else slice(row, row + 1)
        self.bind(references)
        shape = self._references.shape
        self.busy = self.moving = False
        self.held = np.zeros(shape[1], dtype=bool)
        self._whole = False  # whether all do
        self.positioned = np.zeros(shape[1], dtype=bool)
        # When each joint was commanded last; inf for those that do not follow.  # (n,)
        self._heard = np.full(shape[1], np.inf)
        self._oldest = np.inf
        self._pattern = b""  # what the last command was for; empty if a joint has left since
        self._given = np.zeros(shape, dtype=bool)  # which values it gave
        self._told = np.zeros(shape)
        self._alone = False  # whether none but these are on the way
        self._target = np.zeros(shape)
        self._way = np.zeros(shape)
        self._begin = np.zeros(shape)
        self._rate = np.zeros(shape)
        self._last = np.full(shape, -np.inf)
        self._period = np.zeros(shape)
        self._out = np.zeros(shape)
        self._until = -np.inf
        # Begin and rate, if all that are on the way have the same; then those above say nothing.
        self._course: tuple[float, float] | None = None

    def bind(self, references: References) -> None:
        """Write `references`, of the same joints, from now on."""
        self._references = references.values[self._rows]  # (r, n), as all of a stream's arrays

    def memory(self) -> dict[str, Any]:
        """Return a copy of all there is to remember, for `recall`."""
        bound = ("_references", "_rows")
        return {name: copy(value) for name, value in vars(self).items() if name not in bound}

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on as at the time of a `memory` of the same joints."""
        vars(self).update({name: copy(value) for name, value in memory.items()})

    def command(
        self,
        joints: np.ndarray,
        values: np.ndarray,
        settings: StreamSettings,
        time: float,
        timestep: float,
    ) -> None:
        """Take a command.

        Args:
            joints: The joints it is for, at least one.  # (k,)
            values: Position, velocity and effort; NaN leaves one as it was.  # (3, k)
            settings: How to interpolate.
            time: Simulated time of the next step, which is the first to use it [s].
            timestep: Simulated time between steps [s].
        """
        unsaid = np.isnan(values)
        pattern = joints.tobytes() + unsaid.tobytes()
        if pattern != self._pattern:
            self._pattern = pattern
            self._hold(joints, ~unsaid)
        given, told = self._given, self._told
        told[:, joints] = values[self._rows]
        self._heard[joints] = time
        self._oldest = float(self._heard.min())

        period = self._next_period(given, settings, time, timestep)
        np.copyto(self._target, told, where=given)
        np.subtract(told, self._references, out=self._way, where=given)
        # The first step goes a part of the way already, and the last before the next all of it.
        begin = time - timestep
        if isinstance(period, float):
            longest = period
        else:
            longest = float(period.max(where=given, initial=timestep))
        if self._alone and isinstance(period, float):
            self._course = begin, 1.0 / period
        else:
            self._part()
            np.copyto(self._begin, begin, where=given)
            np.divide(1.0, period, out=self._rate, where=given)
        arrival = time + longest - timestep
        self._until = max(self._until, arrival - _ROUNDING * timestep)
        self.moving = True

    def release(self, joints: np.ndarray) -> None:
        """Leave `joints` to somebody else."""
        self.held[joints] = self._whole = False
        self.busy = bool(self.held.any())
        self._way[:, joints] = 0.0
        self._heard[joints] = np.inf
        self._oldest = float(self._heard.min(initial=np.inf))
        self._pattern = b""

    def reset(self) -> None:
        """Forget everything."""
        self.held[:] = self.busy = self.moving = self._whole = False
        self._way[:] = 0.0
        self._heard[:] = self._oldest = np.inf
        self._until, self._pattern = -np.inf, b""

    def update(self, time: float) -> None:
        """Write the references of `time` [s]."""
        if time >= self._until:
            self._until, self.moving = -np.inf, False
            self._way[:] = 0.0
        out = self._out
        # From the target backwards, so that it is met exactly.
        np.multiply(self._way, self._left(time), out=out)
        if self._whole:
            np.subtract(self._target, out, out=self._references)
        else:
            np.subtract(self._target, out, out=out)
            np.copyto(self._references, out, where=self.held)

    def silent(self, time: float, timeout: float) -> np.ndarray:
        """Return the joints whose last command is older than `timeout` [s]."""
        if time - self._oldest <= timeout:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(time - self._heard > timeout)

    def _hold(self, joints: np.ndarray, said: np.ndarray) -> None:
        """Have `joints` follow what is `said` of them from now on.  # (k,), (3, k) bool."""
        new = joints[~self.held[joints]]
        if len(new):
            self._target[:, new] = self._references[:, new]
            self._last[:, new] = -np.inf
            self.positioned[new] = False
            self.held[new] = self.busy = True
            self._whole = bool(self.held.all())
        self.positioned[joints] |= said[0]
        self._given[:] = False
        self._given[:, joints] = said[self._rows]
        self._alone = not self._way[~self._given].any()

    def _part(self) -> None:
        """Give each value a course of its own."""
        if self._course is not None:
            (self._begin[:], self._rate[:]), self._course = self._course, None

    def _left(self, time: float) -> float | np.ndarray:
        """Return which part of the way is left at `time` [s]: of all values alike, or (r, n)."""
        if self._course is not None:  # as it mostly is; several times as quick
            begin, rate = self._course
            return 1.0 - min((time - begin) * rate, 1.0)
        left: np.ndarray = np.subtract(time, self._begin, out=self._out)
        left *= self._rate
        np.minimum(left, 1.0, out=left)
        np.subtract(1.0, left, out=left)
        return left

    def _next_period(
        self, given: np.ndarray, settings: StreamSettings, time: float, timestep: float
    ) -> float | np.ndarray:
        """Return the time in which references go to the values that are `given` [s].  # (r, n)."""
        if settings.period:
            np.copyto(self._last, time, where=given)
            period = settings.period if settings.interpolation == "linear" else 0.0
            return max(period, timestep)
        measured = self._measure(given, time)
        if settings.interpolation == "hold":
            measured[:] = 0.0
        np.maximum(measured, timestep, out=measured)
        return measured

    def _measure(self, given: np.ndarray, time: float) -> np.ndarray:
        """Return the periods (r, n) of the values that are `given`; 0 where a stream begins."""
        gap, old = time - self._last, self._period
        measured = np.where(old > 0, old + _SMOOTHING * (gap - old), gap)
        # Two commands within a step say nothing about the period.
        np.copyto(measured, old, where=gap <= 0)
        np.copyto(measured, 0.0, where=gap > _LONGEST_PERIOD_S)
        np.copyto(self._last, time, where=given)
        np.copyto(self._period, measured, where=given)
        return measured
