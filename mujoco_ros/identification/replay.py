"""Simulation of a recording: in windows that begin in measured states, or without a restart."""

import os
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np
from mujoco import rollout
from scipy.interpolate import PPoly, make_interp_spline

from mujoco_ros.identification.joint_record import JointRecord
from mujoco_ros.identification.robot_model import IdentifiedRobot

Interpolation = Literal["hold", "linear"]


class DelayedReferences:
    """References of commands that arrive late by any time, as the mean over each step.

    With ``hold``, a command acts until the next one. The mean over a step is continuous in the
    delay, which a delay of whole steps would not be. References hold beyond both ends.
    """

    def __init__(self, times: np.ndarray, values: np.ndarray, interpolation: Interpolation) -> None:
        """Store references (m, c) at increasing stamps [s] (m,)."""
        self._span, self._hold = (times[0], times[-1]), interpolation == "hold"
        if self._hold:
            held = PPoly(values[None], np.append(times, times[-1] + 1.0))
            self._function = held.antiderivative()
        else:
            self._function = make_interp_spline(times, values, k=1)

    def at(self, begin: np.ndarray, timestep: float, delay: float) -> np.ndarray:
        """Return the references (…, c) of steps that begin at times (…,); all in seconds."""
        times = begin - delay
        if self._hold:
            return np.asarray((self._function(times + timestep) - self._function(times)) / timestep)
        return np.asarray(self._function(np.clip(times, *self._span)))


LARGEST_DELAY_S = 0.1
LEAD_S = 0.3
"""Time of a window before its samples count: errors of the measured start decay."""
_SMOOTHING_S = 0.02
_ORDER = 3


class Windows:
    """Simulates the windows of a recording with the present parameters of a model."""

    def __init__(
        self,
        robot: IdentifiedRobot,
        record: JointRecord,
        noise: np.ndarray,
        duration: float,
        interpolation: Interpolation = "hold",
        most: int | None = None,
    ) -> None:
        """Divide a recording into windows, at most `most`, evenly spaced.

        `noise` has deviations of position and velocity (2, k); `duration` [s] counts of each window
        but the last; inf for one window.
        """
        self._robot = robot
        columns = robot.index(record.joints, "the recording")
        self._references = DelayedReferences(
            record.command_times, _references(robot, record, columns), interpolation
        )
        times, step = record.times, robot.timestep
        first = max(times[0] + _SMOOTHING_S, record.command_times[0] + LARGEST_DELAY_S)
        span = times[-1] - first - LEAD_S
        number = max(1, int(np.ceil(span / duration - 1e-9)))
        length = span / number
        wanted = first + length * np.arange(number)
        if most is not None and most < number:
            wanted = wanted[np.linspace(0, number - 1, most).round().astype(np.intp)]
        starts = np.searchsorted(times, wanted - 1e-9)
        begin = times[starts]
        steps = int(np.ceil((LEAD_S + length) / step)) + 2
        self._times = begin[:, None] + step * np.arange(steps + 1)
        self._q = np.tile(robot.home, (len(starts), 1))
        self._dq = np.zeros_like(self._q)
        self._q[:, columns], self._dq[:, columns] = smooth_states(record, starts, noise)
        counts = begin + LEAD_S - 1e-9
        window = np.searchsorted(counts, times, "right") - 1
        inside = (window >= 0) & (times <= counts[window] + length)
        place = (times[inside] - begin[window[inside]]) / step
        is_simulated = place <= steps - 1
        # Samples of the recording that windows predict, in order (m,)
        self.counted = np.flatnonzero(inside)[is_simulated]
        self._window, place = window[self.counted], place[is_simulated]
        self._left = np.minimum(np.floor(place + 1e-6).astype(np.intp), steps - 1)
        self._share = np.clip(place - self._left, 0.0, 1.0)[:, None]
        threads = min(len(os.sched_getaffinity(0)), len(starts))
        self._datas = [mujoco.MjData(robot.model) for _ in range(threads)]

    def simulate(self, delay: float, columns: np.ndarray) -> np.ndarray:
        """Return positions, velocities and PD efforts (3, m, k), with a delay of commands [s]."""
        robot = self._robot
        references = self._references.at(self._times, robot.timestep, delay)
        controls = robot.controls(references[:, :-1])
        first = robot.states(self._q, self._dq)
        states, _ = rollout.rollout(
            robot.model, self._datas, first, controls, skip_checks=False, persistent_pool=True
        )
        states = np.concatenate([first[:, None], states], axis=1)
        q, dq = states[:, :, 1 + robot.qpos], states[:, :, 1 + robot.model.nq + robot.dof]
        signals = (q, dq, robot.efforts(references, q, dq))
        return np.stack([self._sample(signal[:, :, columns]) for signal in signals])

    def _sample(self, signals: np.ndarray) -> np.ndarray:
        """Return signals of all windows (w, s, k) at the counted stamps.  # (m, k)"""
        left, right = (signals[self._window, self._left + step] for step in (0, 1))
        # Where the right one has no share, its state may have diverged.
        between = (1.0 - self._share) * left + self._share * right
        return np.asarray(np.where(self._share > 0.0, between, left))


def _references(robot: IdentifiedRobot, record: JointRecord, columns: np.ndarray) -> np.ndarray:
    """Return the references of all joints; a joint without references holds.  # (m, 3 n)"""
    references = np.zeros((len(record.command_times), 3, len(robot.joints)))
    references[:, 0] = robot.home
    references[:, 0, columns] = np.median(record.position, axis=0)
    has = np.flatnonzero(record.commanded)
    references[:, :, columns[has]] = np.nan_to_num(record.references[:, :, has])
    return references.reshape(len(references), -1)


def smooth_states(
    record: JointRecord, starts: np.ndarray, noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and velocities at samples (w,), from a cubic through the samples around."""
    q, dq = record.position[starts].copy(), np.nan_to_num(record.velocity[starts])
    powers = np.arange(_ORDER + 1)
    for row, start in enumerate(starts):
        offset = record.times - record.times[start]
        near = np.flatnonzero(np.abs(offset) <= _SMOOTHING_S)
        if len(near) <= _ORDER + 1:  # lost messages
            near = np.argsort(np.abs(offset))[: _ORDER + 2]
        t = offset[near, None]
        slope = powers * t ** np.maximum(powers - 1, 0)
        for column in range(q.shape[1]):
            weights, wanted = [t**powers], [record.position[near, column]]
            if np.isfinite(record.velocity[near, column]).all():
                ratio = noise[0, column] / noise[1, column]
                weights.append(slope * ratio)
                wanted.append(record.velocity[near, column] * ratio)
            solution = np.linalg.lstsq(np.vstack(weights), np.concatenate(wanted), rcond=None)[0]
            q[row, column], dq[row, column] = solution[:2]
    return q, dq


_DIFFERENCES = 3
_GAIN = np.sqrt(20.0)
"""Deviation of the third difference of white noise of deviation 1: 1, -3, 3, -1 squared."""
_MAD = 1.4826  # deviation of a normal distribution over its median absolute deviation
_FLOOR = 1e-5  # least noise over the deviation of the signal; a simulation without noise has none


def noise_of(samples: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the white noise in evenly sampled signals (n, k).  # (k,)

    The third differences of a smooth signal vanish, so the noise remains. The median is insensitive
    to jumps, as at a reversal with dry friction. The noise is at least the error of rounding to the
    smallest difference between two samples. It is NaN of a signal with a NaN.
    """
    differences = np.abs(np.diff(samples, _DIFFERENCES, axis=0))
    noise = _MAD * np.median(differences, axis=0) / _GAIN
    least = _FLOOR * samples.std(axis=0)
    # Third differences of coarse samples at a high rate are zero: the error of rounding remains.
    steps = np.abs(np.diff(samples, axis=0))
    step = np.min(np.where(steps > 0.0, steps, np.inf), axis=0, initial=np.inf)
    rounding = np.where(np.isfinite(step), step, 0.0) / np.sqrt(12.0)
    floor = np.maximum(np.maximum(least, rounding), np.finfo(float).tiny)
    return np.asarray(np.maximum(noise, floor))


@dataclass(frozen=True, kw_only=True)
class Replay:
    """Measured and simulated positions of joints [rad or m]."""

    joints: tuple[str, ...]  # k names
    times: np.ndarray  # (m,) stamps [s]
    measured: np.ndarray  # (m, k)
    simulated: np.ndarray  # (m, k)
    noise: np.ndarray  # (k,) deviation of the noise of the measured positions

    @property
    def error(self) -> np.ndarray:
        """The root mean square of the position errors [rad or m].  # (k,)"""
        return np.asarray(np.sqrt(np.mean((self.simulated - self.measured) ** 2, axis=0)))

    @property
    def ratio(self) -> np.ndarray:
        """The errors over the noise; 1 is a perfect model.  # (k,)"""
        return np.asarray(self.error / self.noise)


def replay(
    robot: IdentifiedRobot,
    record: JointRecord,
    values: np.ndarray,
    delay: float,
    interpolation: Interpolation = "hold",
) -> Replay:
    """Simulate a recording without any restart, with parameters of joints (5, n) as in `KINDS`.

    The parameters of the robot change. `delay` is the time from a command's stamp until it acts.
    """
    robot.apply(values)
    noise = np.stack([noise_of(record.position), noise_of(record.velocity)])
    windows = Windows(robot, record, noise, np.inf, interpolation)
    return Replay(
        joints=record.joints,
        times=record.times[windows.counted],
        measured=record.position[windows.counted],
        simulated=windows.simulate(delay, robot.index(record.joints, "the recording"))[0],
        noise=noise[0],
    )
