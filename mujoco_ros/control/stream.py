"""Commands that come in a stream, and what the references are between two of them."""

import numpy as np

from mujoco_ros.control.references import References
from mujoco_ros.control.settings import StreamSettings

_LONGEST_PERIOD_S = 0.25
"""A longer silence begins a stream anew: nobody wants a single command to take seconds."""
_SMOOTHING = 0.25


class Stream:
    """One source of commands: joint by joint, references go from each command to the next.

    They arrive when the next command is due, after the measured (or configured) period, and then
    stay. The first command acts at once, as does every one with ``hold``.

    Attributes:
        busy: Whether any joint follows it.
        held: The joints that follow it.  # (n,) bool
        positioned: Whether a joint was told a position since it follows.  # (n,) bool
    """

    def __init__(self, references: References, row: int | None = None) -> None:
        """Command all of position, velocity and effort, or the one that `row` tells."""
        shape = references.values.shape
        self._references = references
        self._rows = slice(None) if row is None else slice(row, row + 1)
        self.busy = False
        self.held = np.zeros(shape[1], dtype=bool)
        self.positioned = np.zeros(shape[1], dtype=bool)
        self._target = np.zeros(shape)
        self._way = np.zeros(shape)
        self._begin = np.zeros(shape[1])
        self._rate = np.zeros(shape[1])
        self._last = np.full(shape[1], -np.inf)
        self._period = np.zeros(shape[1])
        self._until = -np.inf
        self._oldest = np.inf
        self._out = np.zeros(shape)
        self._left = np.zeros(shape[1])

    @property
    def moving(self) -> bool:
        """Return whether references still are on the way to a command."""
        return self._until > -np.inf

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
            joints: The joints it is for.  # (k,)
            values: Position, velocity and effort; NaN leaves one as it was.  # (3, k)
            settings: How to interpolate.
            time: Simulated time of the next step, which is the first to use it [s].
            timestep: Simulated time between steps [s].
        """
        new = joints[~self.held[joints]]
        self._target[:, new] = self._references.values[:, new]
        self._last[new], self._period[new], self.positioned[new] = -np.inf, 0.0, False
        self.held[new] = self.busy = True
        gap = time - self._last[joints]
        self._last[joints] = time
        old = self._period[joints]
        measured = np.where(old > 0, old + _SMOOTHING * (gap - old), gap)
        # Two commands within a step say nothing about the period.
        measured = np.where(gap > 0, measured, old)
        self._period[joints] = measured = np.where(gap <= _LONGEST_PERIOD_S, measured, 0.0)
        period = np.full(len(joints), settings.period) if settings.period else measured
        if settings.interpolation == "hold":
            period = np.zeros(len(joints))
        given = ~np.isnan(values)
        self._target[:, joints] = np.where(given, values, self._target[:, joints])
        self.positioned[joints] |= given[0]
        self._way[:, joints] = self._target[:, joints] - self._references.values[:, joints]
        # The first step goes a part of the way already, and the last before the next all of it.
        self._begin[joints] = time - timestep
        self._rate[joints] = 1.0 / np.maximum(period, timestep)
        self._until = max(self._until, time + float(period.max(initial=0.0)))
        self._oldest = float(self._last[self.held].min())

    def release(self, joints: np.ndarray) -> None:
        """Leave `joints` to somebody else."""
        self.held[joints] = False
        self.busy = bool(self.held.any())
        self._oldest = float(self._last[self.held].min(initial=np.inf))

    def reset(self) -> None:
        """Forget everything."""
        self.held[:] = self.busy = False
        self._until, self._oldest = -np.inf, np.inf

    def update(self, time: float) -> None:
        """Write the references of `time` [s]."""
        left = self._left
        np.subtract(time, self._begin, out=left)
        left *= self._rate
        np.minimum(left, 1.0, out=left)
        np.subtract(1.0, left, out=left)
        # From the target backwards, so that it is met exactly.
        np.multiply(self._way, left, out=self._out)
        np.subtract(self._target, self._out, out=self._out)
        rows = self._rows
        np.copyto(self._references.values[rows], self._out[rows], where=self.held)
        if time >= self._until:
            self._until = -np.inf

    def silent(self, time: float, timeout: float) -> np.ndarray:
        """Return the joints whose last command is older than `timeout` [s]."""
        if time - self._oldest <= timeout:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self.held & (time - self._last > timeout))
