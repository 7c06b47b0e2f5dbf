"""The joints of a robot in a bag: measured states, and the references of their drives."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import Akima1DInterpolator

from mujoco_ros.model.errors import UserInputError, unknown

LEAST_DURATION_S = 5.0
"""Shorter recordings determine little; a minute is good."""
LARGEST_DURATION_S = 600.0
"""Longer recordings take gigabytes of memory, and determine little more."""
LARGEST_STATE_PERIOD_S = 0.0055
"""Of 200 Hz, with some reserve: start states and noise are estimated from samples around."""
LARGEST_LOSS = 0.1
"""Share of the messages of a controller that may be lost."""
LARGEST_GAP_S = 0.1
"""Longest silence of joint states, and of commands that change meanwhile."""
LARGEST_COMMAND_PERIOD_S = 0.02
"""The references between two commands farther apart are a guess."""
_SLOW = "record on a machine that has time for it"


@dataclass(frozen=True, kw_only=True)
class JointRecord:
    """States and references of joints, with stamps of one clock; NaN where there is none."""

    joints: tuple[str, ...]  # k names, without prefix
    times: np.ndarray  # (n,) stamps of the states [s]
    position: np.ndarray  # (n, k) [rad or m]
    velocity: np.ndarray  # (n, k) [rad/s or m/s]
    effort: np.ndarray  # (n, k) [Nm or N]
    command_times: np.ndarray  # (m,) stamps of the references [s]
    references: np.ndarray  # (m, 3, k) positions, velocities and efforts for the drives
    filled: float = 0.0
    """Share of the references that are interpolated, because messages were lost."""

    @property
    def commanded(self) -> np.ndarray:
        """Which joints have position references throughout.  # (k,) bool"""
        return np.asarray(np.isfinite(self.references[:, 0]).all(axis=0))

    def select(self, joints: Sequence[str], where: str) -> "JointRecord":
        """Return the record of some joints, in their order; UserInputError if it lacks one."""
        for joint in joints:
            if joint not in self.joints:
                raise unknown("joint", joint, self.joints, where=where)
        columns = [self.joints.index(joint) for joint in joints]
        signals = {name: getattr(self, name)[:, columns] for name in _SIGNALS}
        references = self.references[:, :, columns]
        return replace(self, joints=tuple(joints), references=references, **signals)


_SIGNALS = ("position", "velocity", "effort")


def check_record(record: JointRecord, where: str, *, periodic: bool = True) -> JointRecord:
    """Return the part of a record that has references, without repeated samples.

    Velocities and efforts of a joint that contain NaN or never change count as not measured.
    Periodic references come in each period of a controller, so that lost ones are interpolated;
    others hold until the next one. Error messages begin with `where`.
    """
    record = _checked_commands(record, where, periodic=periodic)
    times = record.times
    _check_stamps(times, "joint states", where)
    first = max(times[0], record.command_times[0])
    last = min(times[-1], record.command_times[-1])
    _reject(
        last - first < LEAST_DURATION_S,
        f"{where}: joint states and commands overlap for {max(last - first, 0.0):.3g} s, at "
        f"least {LEAST_DURATION_S:g} s are necessary, and 60 s are good",
    )
    kept = (times >= first) & (times <= last)
    begin, end = times[kept][[0, -1]] if kept.any() else (first, last)
    # A driver that publishes faster than it measures repeats samples with later stamps. Where
    # references rest, positions of encoders do not change either.
    measured = np.stack([getattr(record, name) for name in _SIGNALS], axis=1)
    changes = np.concatenate([[0], np.cumsum(~_repeats(record.references))])
    before, after = (
        changes[np.searchsorted(record.command_times[1:], times + offset, "right")]
        for offset in (-0.5 * LARGEST_GAP_S, 0.5 * LARGEST_GAP_S)
    )
    kept[1:] &= ~(_repeats(measured) & (before != after)[1:])
    stamps = np.concatenate([[begin], times[kept], [end]])
    gaps = np.diff(stamps)
    _reject(
        gaps.max() > LARGEST_GAP_S,
        f"{where}: there is no new joint state for {gaps.max():.3g} s after the stamp "
        f"{stamps[int(gaps.argmax())]:.3f} s; gaps of at most {LARGEST_GAP_S:g} s are allowed: "
        "messages were lost, or the driver repeats its measurements",
    )
    period = float(np.median(gaps))
    _reject(
        period > LARGEST_STATE_PERIOD_S,
        f"{where}: there is a new joint state every {period:.3g} s; 200 Hz or more are necessary",
    )
    return replace(
        record,
        times=times[kept],
        position=record.position[kept],
        velocity=_measured(record.velocity[kept]),
        effort=_measured(record.effort[kept]),
    )


def _checked_commands(record: JointRecord, where: str, *, periodic: bool) -> JointRecord:
    """Return a record with interpolated references of lost messages; Akima's do not overshoot."""
    times, references = record.command_times, record.references
    _check_stamps(times, "commands", where)
    steps = np.diff(times)
    period = float(np.median(steps))
    _reject(
        period > LARGEST_COMMAND_PERIOD_S,
        f"{where}: the commands come every {period:.3g} s, at most "
        f"{LARGEST_COMMAND_PERIOD_S:g} s are allowed; record the references at the rate of "
        "the controller, e.g. with publish_rate.controller_state 1000",
    )
    silences = steps * ~_repeats(references)
    _reject(
        silences.max() > LARGEST_GAP_S,
        f"{where}: there are no commands for {silences.max():.3g} s after the stamp "
        f"{times[int(silences.argmax())]:.3f} s, and then others; messages were lost: {_SLOW}",
    )
    lost = np.maximum(np.round(steps / period).astype(np.intp), 1) - 1
    lost[steps > LARGEST_GAP_S] = 0  # the references rested
    if not periodic or not lost.any():
        return record
    share = float(lost.sum() / (lost.sum() + len(times)))
    _reject(
        share > LARGEST_LOSS,
        f"{where}: {share:.0%} of the commands were lost, at most {LARGEST_LOSS:.0%} are "
        f"allowed: {_SLOW}",
    )
    counts = np.append(lost + 1, 1)
    # Places among the messages: 0, 0.5, 1, … if one is lost after the first one.
    places = np.concatenate([at + np.arange(count) / count for at, count in enumerate(counts)])
    filled = np.interp(places, np.arange(len(times)), times)
    # What is not known throughout holds.
    values = np.repeat(references, counts, axis=0)
    known = np.isfinite(references).all(axis=0)
    values[:, known] = Akima1DInterpolator(times, references[:, known])(filled)
    return replace(record, command_times=filled, references=values, filled=share)


def _measured(signals: np.ndarray) -> np.ndarray:
    """Return signals (n, k); NaN for those with a NaN, or constant, as drivers fill with zeros."""
    return np.where(np.ptp(signals, axis=0) > 0.0, signals, np.nan)


def _repeats(samples: np.ndarray) -> np.ndarray:
    """Return which samples (n, …) are the same as those before them, NaN included.  # (n - 1,)"""
    before, after = samples[:-1], samples[1:]
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    return np.asarray(same.reshape(len(same), -1).all(axis=1))


def _check_stamps(times: np.ndarray, what: str, where: str) -> None:
    _reject(len(times) < 2, f"{where}: there are only {len(times)} {what}")
    at = int(np.diff(times).argmin())
    _reject(
        times[at + 1] <= times[at],
        f"{where}: the stamps of the {what} jump from {times[at]:.6f} s to "
        f"{times[at + 1]:.6f} s; record one run of one publisher, without a reset",
    )


def _reject(is_wrong: bool, problem: str) -> None:
    if is_wrong:
        raise UserInputError(problem)
