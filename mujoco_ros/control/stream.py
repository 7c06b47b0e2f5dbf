"""One source of streamed joint commands, and the interpolation between its commands."""

from copy import copy
from typing import Any

import numpy as np

from mujoco_ros.control.references import References
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.native.plan import Plan

_LONGEST_PERIOD_S = 0.25
"""After a longer silence a stream restarts: a single command must not ramp for seconds."""
_IDLE_S = 0.5  # a stream without a command for this long counts as completed when it is preempted
_SMOOTHING = 0.25
_ROUNDING = 1e-6  # tolerance for the rounding of summed times, as a fraction of a timestep


class Stream:
    """One source of streamed commands; references ramp linearly from command to command.

    A ramp ends when the next command is due, after the measured or configured period; then the
    reference is constant. The first command has no measured period and acts at once, as every
    command does with ``hold``. Positions, velocities and efforts of a joint may have different
    rates.
    """

    def __init__(self, references: References, row: int | None = None) -> None:
        """Command position, velocity and effort, or only the one of index `row`."""
        self._rows = slice(None) if row is None else slice(row, row + 1)
        self._row_of = {index: index for index in range(3)} if row is None else {row: 0}
        self.bind(references)
        shape = self._references.shape
        self.busy = False  # whether it owns any joint
        self.moving = False  # whether any reference is on a ramp
        self.owned = np.zeros(shape[1], dtype=bool)  # the joints that it owns (n,)
        self._owns_all = False
        # Whether a joint received a position since it is owned (n,)
        self.positioned = np.zeros(shape[1], dtype=bool)
        # Time of each joint's last command; inf for joints it does not own.  # (n,)
        self._command_times = np.full(shape[1], np.inf)
        self.oldest = np.inf  # the earliest of these times
        # Joints and fields of the last command; empty once one of the joints was released.
        self._pattern = b""
        self._given = np.zeros(shape, dtype=bool)  # fields of the last command
        self._values = np.zeros(shape)  # of the last command
        self._no_others = False  # no value outside the last command is on a ramp
        self._target = np.zeros(shape)
        self._distance = np.zeros(shape)  # from the begin of the ramp to the target
        self._increment = np.zeros(shape)  # the same, and kept after the ramp
        self._begin = np.zeros(shape)
        self._rate = np.zeros(shape)
        self._last = np.full(shape, -np.inf)
        self._period = np.zeros(shape)
        self._buffer = np.zeros(shape)
        self._until = -np.inf
        # Begin and rate common to all values on a ramp; the arrays above are then unused.
        self._ramp: tuple[float, float] | None = None
        # For compiled steps: whether it ramps, whether by `_ramp`; its begin and rate, and the end
        self._line = np.zeros(5)

    def bind(self, references: References) -> None:
        """Write into other `references` of the same joints."""
        self._references = references.values[self._rows]  # (r, n), as all of a stream's arrays

    def save_state(self) -> dict[str, Any]:
        """Return a copy of the state, for `restore_state`."""
        bound = ("_references", "_rows", "_line")
        return {name: copy(value) for name, value in vars(self).items() if name not in bound}

    def restore_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved state of the same joints."""
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                getattr(self, name)[...] = value  # compiled steps have its address
            else:
                setattr(self, name, copy(value))

    def show_ramp(self) -> None:
        """Make compiled steps follow the present ramp, or none."""
        line = self._line
        if not (self.busy and self.moving):
            line[0] = 0.0
        elif self._ramp is None:
            line[:] = 1.0, 0.0, 0.0, 0.0, self._until
        else:
            line[:] = 1.0, 1.0, *self._ramp, self._until

    def compiled_ramp(self, plan: Plan) -> tuple[int, ...]:
        """Return the row of ``Ramp`` in steps.c, which does what `update` does."""
        references, all_joints = self._references, self._references.base
        assert isinstance(all_joints, np.ndarray)
        begin = references.__array_interface__["data"][0] - plan.address(all_joints)
        size, width = references.itemsize, references.strides[0] // references.itemsize
        last = (len(references) - 1) * width + references.shape[1]
        arrays = self._target, self._distance, self._begin, self._rate
        return (
            plan.address(self._line, count=len(self._line)),
            plan.address(all_joints, begin // size, last),
            *(width, *references.shape),
            plan.address(self.owned, count=self.owned.size, kind=np.bool_),
            *(plan.address(array, count=references.size) for array in arrays),
        )

    def command(
        self,
        joints: np.ndarray,
        values: np.ndarray,
        settings: StreamSettings,
        time: float,
        timestep: float,
    ) -> None:
        """Command `joints`, indices of at least one (k,), from the step at `time` [s] on.

        `values` are position, velocity and effort (3, k); NaN is unchanged.
        """
        missing = np.isnan(values)
        pattern = joints.tobytes() + missing.tobytes()
        if pattern != self._pattern:
            self._pattern = pattern
            self._claim(joints, ~missing)
        given, commanded = self._given, self._values
        commanded[:, joints] = values[self._rows]
        self._command_times[joints] = time
        self.oldest = float(self._command_times.min())

        period = self._next_period(given, settings, time, timestep)
        np.copyto(self._target, commanded, where=given)
        np.subtract(commanded, self._references, out=self._distance, where=given)
        np.copyto(self._increment, self._distance, where=given)
        # The first step already moves; the last step before the next command reaches the target.
        begin = time - timestep
        if isinstance(period, float):
            longest = period
        else:
            longest = float(period.max(where=given, initial=timestep))
        if self._no_others and isinstance(period, float):
            self._ramp = begin, 1.0 / period
        else:
            if self._ramp is not None:  # replace the common ramp by one for each value
                (self._begin[:], self._rate[:]), self._ramp = self._ramp, None
            np.copyto(self._begin, begin, where=given)
            np.divide(1.0, period, out=self._rate, where=given)
        arrival = time + longest - timestep
        self._until = max(self._until, arrival - _ROUNDING * timestep)
        self.moving = True

    def increment(self, row: int, joints: np.ndarray) -> np.ndarray:
        """Return how far its next command may be from the references if it continues evenly.

        `row` is 0 for positions, 1 for velocities, 2 for efforts; the increment of `joints` (k,)
        that the stream does not own is 0.
        """
        own = self._row_of.get(row)
        if own is None:
            return np.zeros(len(joints))
        ahead = np.abs(self._target[own, joints] - self._references[own, joints])
        increment = ahead + 2.0 * np.abs(self._increment[own, joints])
        return np.where(self.owned[joints], increment, 0.0)

    def is_idle(self, joints: np.ndarray, time: float) -> bool:
        """Return whether no command for any of `joints` arrived lately."""
        return bool(np.isin(joints, self.silent(time, _IDLE_S)).all())

    def release(self, joints: np.ndarray | slice, _reason: str = "") -> None:
        """Release `joints`."""
        self.owned[joints] = self._owns_all = False
        self.busy = bool(self.owned.any())
        self._distance[:, joints] = 0.0
        self._command_times[joints] = np.inf
        self.oldest = float(self._command_times.min(initial=np.inf))
        self._pattern = b""

    def reset(self) -> None:
        """Release all joints."""
        self.release(slice(None))
        self._until, self.moving = -np.inf, False

    def update(self, time: float) -> None:
        """Write the references of `time` [s]."""
        if time >= self._until:
            self._until, self.moving = -np.inf, False
            self._distance[:] = 0.0
        out = self._buffer
        # From the target backwards, so that the last value is exactly the target.
        np.multiply(self._distance, self._remaining(time), out=out)
        if self._owns_all:
            np.subtract(self._target, out, out=self._references)
        else:
            np.subtract(self._target, out, out=out)
            np.copyto(self._references, out, where=self.owned)

    def silent(self, time: float, timeout: float) -> np.ndarray:
        """Return the indices of joints whose last command is older than `timeout` [s]."""
        if time - self.oldest <= timeout:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(time - self._command_times > timeout)

    def _claim(self, joints: np.ndarray, given: np.ndarray) -> None:
        """Own `joints` (k,) and command the `given` fields (3, k) of them."""
        new = joints[~self.owned[joints]]
        if len(new):
            self._target[:, new] = self._references[:, new]
            self._last[:, new] = -np.inf
            self.positioned[new] = False
            self.owned[new] = self.busy = True
            self._owns_all = bool(self.owned.all())
        self.positioned[joints] |= given[0]
        self._given[:] = False
        self._given[:, joints] = given[self._rows]
        self._no_others = not self._distance[~self._given].any()

    def _remaining(self, time: float) -> float | np.ndarray:
        """Return the remaining fraction of the ramps at `time` [s], common or (r, n)."""
        if self._ramp is not None:  # the usual case, several times faster
            begin, rate = self._ramp
            return 1.0 - min((time - begin) * rate, 1.0)
        remaining: np.ndarray = np.subtract(time, self._begin, out=self._buffer)
        remaining *= self._rate
        np.minimum(remaining, 1.0, out=remaining)
        np.subtract(1.0, remaining, out=remaining)
        return remaining

    def _next_period(
        self, given: np.ndarray, settings: StreamSettings, time: float, timestep: float
    ) -> float | np.ndarray:
        """Return the duration of the ramps of the `given` values [s], common or (r, n)."""
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
        """Return the periods (r, n) of the `given` values; 0 where a stream starts."""
        gap, old = time - self._last, self._period
        measured = np.where(old > 0, old + _SMOOTHING * (gap - old), gap)
        # Two commands within a step contain no information about the period.
        np.copyto(measured, old, where=gap <= 0)
        np.copyto(measured, 0.0, where=gap > _LONGEST_PERIOD_S)
        np.copyto(self._last, time, where=given)
        np.copyto(self._period, measured, where=given)
        return measured
