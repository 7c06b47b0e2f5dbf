"""The gait: phases of support, with the feet, the ZMP, and the motion of the DCM."""

from collections.abc import Sequence
from math import cos, exp, sin
from typing import NamedTuple

import numpy as np

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.interface.inputs import BodyVelocity
from mujoco_ros.controllers.library.config_checks import CheckedConfig, Positive
from mujoco_ros.controllers.library.walk.footsteps import (
    LEFT,
    RIGHT,
    Footstep,
    beside,
    next_footstep,
    on_slope,
    turned,
)


class ZmpSegment(NamedTuple):
    """The zero-moment point (ZMP) moves with a constant velocity."""

    begin: np.ndarray  # [m] (2,)
    end: np.ndarray  # [m] (2,)
    duration: float  # above 0 [s]


class DcmState(NamedTuple):
    """A point of a pattern, in the horizontal plane."""

    dcm: np.ndarray  # centre of mass plus its velocity over ω [m] (2,)
    zmp: np.ndarray  # [m] (2,)


def dcm_before(segment: ZmpSegment, end: np.ndarray, remaining: float, omega: float) -> np.ndarray:
    """Return the DCM before the end of a segment, given the DCM at its end and the time left [s].

    The linear inverted pendulum moves as ξ' = ω (ξ - p). For p = p₀ + b t it is
    ξ(t) = p(t) + b/ω + (ξ(T) - p(T) - b/ω) exp(ω (t - T)).

    Source: J. Englsberger, C. Ott, A. Albu-Schäffer, Three-Dimensional Bipedal Walking Control
    Based on Divergent Component of Motion, IEEE Transactions on Robotics 31(2), 2015.
    """
    slope = (segment.end - segment.begin) / segment.duration
    steady = segment.end + slope / omega
    dcm: np.ndarray = steady - slope * remaining + (end - steady) * exp(-omega * remaining)
    return dcm


def dcm_at_start(segments: Sequence[ZmpSegment], omega: float) -> np.ndarray:
    """Return the DCM at the start of segments after which it rests above the last ZMP.  # (2,)"""
    dcm = segments[-1].end
    for segment in reversed(segments):
        dcm = dcm_before(segment, dcm, segment.duration, omega)
    return dcm


def zmp_between(start: np.ndarray, end: np.ndarray, duration: float, omega: float) -> np.ndarray:
    """Return the constant ZMP that moves the DCM from start to end in a time [s].  # (2,)"""
    growth = exp(omega * duration)
    zmp: np.ndarray = (end - start * growth) / (1.0 - growth)
    return zmp


_PREVIEW = 3
"""Steps after which the pattern comes to rest; a later one changes the DCM by less than 1 %."""


_LONGEST_WAIT = 1.0  # largest time by which a double support lasts longer [s]
_SAME, _DISPLACED = 1e-6, 0.03
"""Largest differences [m, rad] of feet beside each other, as planned and after an adjustment."""


class GaitConfig(CheckedConfig):
    """Settings of the gait."""

    single_support: Positive = setting("Time on one foot [s]", 0.7)
    double_support: Positive = setting("Time on both feet [s]", 0.2)
    first_double_support: Positive = setting(
        "The same, before the first step and after the last one [s]", 0.6
    )
    step_height: Positive = setting("Height of the swing foot [m]", 0.05)
    least_width: float = setting("Least distance between the soles' middles [m]", 0.16)
    turn_width: float = setting("Additional distance per sine of the turn of a step [m]", 0.15)
    zmp_inwards: float = setting(
        "Displacement of the ZMP from the middle of the sole to the other foot [m]", 0.01
    )


class Phase(NamedTuple):
    """A part of the gait."""

    segment: ZmpSegment  # motion of the ZMP
    support: Footstep | None  # the foot that stands through the phase and after it; None at rest
    swing: Footstep | None  # where the other foot lands; None in double support
    share: tuple[float, float]  # share of the weight on the right foot at the begin and at the end


class Gait:
    """Walks with a velocity that may change at every step.

    Attributes:
        feet: The poses of the soles, where they stand or stood last.
        planned_end: DCM at the end of the last single support, before `land_at` [m].  # (2,)
        slope: Expected rise of the ground along x and y of ``world``.  # (2,)
        is_marching: Whether the robot steps in place with a velocity of zero, instead of standing.
    """

    def __init__(self, config: GaitConfig, omega: float, width: float) -> None:
        """Use a pendulum with the natural frequency `omega` [1/s]; `width` between the feet [m]."""
        self.config, self.omega, self.width = config, omega, width
        self.start((Footstep(LEFT, 0.0, 0.5 * width, 0.0), Footstep(RIGHT, 0.0, -0.5 * width, 0.0)))

    def start(self, feet: tuple[Footstep, Footstep]) -> None:
        self.feet = list(feet)
        self.phase: Phase | None = None
        self.elapsed, self.steps, self.is_marching = 0.0, 0, False
        self.slope = np.zeros(2)
        self._velocity = BodyVelocity()
        self.planned_end = self.middle
        self._next: list[Phase] = []
        self._end = self.middle
        self._is_last = self._ends = False
        self._is_waiting, self._waited = False, 0.0
        self._starts: list[tuple[tuple[BodyVelocity, bool], np.ndarray] | None] = [None, None]

    @property
    def middle(self) -> np.ndarray:
        middle: np.ndarray = 0.5 * (self._zmp(self.feet[LEFT]) + self._zmp(self.feet[RIGHT]))
        return middle

    @property
    def share(self) -> float:
        """Share of the weight that the right foot shall carry."""
        if self.phase is None:
            return 0.5
        begin, end = self.phase.share
        return begin + (end - begin) * self.elapsed / self.phase.segment.duration

    @property
    def progress(self) -> float:
        """Part of the phase that is over."""
        return 0.0 if self.phase is None else self.elapsed / self.phase.segment.duration

    @property
    def approach_time(self) -> float:
        """Time in which a near goal is approached: the duration of a step [s]."""
        return self.config.single_support + self.config.double_support

    def reference(self) -> DcmState:
        if self.phase is None:
            return DcmState(self.middle, self.middle)
        segment = self.phase.segment
        remaining = segment.duration - self.elapsed
        dcm = dcm_before(segment, self._end, remaining, self.omega)
        if self._is_waiting:
            return DcmState(dcm, dcm)
        zmp = segment.begin + (segment.end - segment.begin) * (self.elapsed / segment.duration)
        return DcmState(dcm, zmp)

    def step(
        self,
        period: float,  # [s]
        velocity: BodyVelocity,  # velocity of the body
        is_steady: bool = True,  # whether the robot can stand on one foot
        is_flat: bool = True,  # whether no foot turns onto the ground
    ) -> None:
        """Continue by a tick.

        A double support waits, with the DCM at rest, while a foot turns onto the ground, and at its
        end until the robot can stand on one foot.
        """
        phase = self.phase
        if phase is None:
            if not self._rests(velocity):
                self._depart(velocity)
            return
        is_over = self.elapsed + period > phase.segment.duration - 0.5 * period
        can_wait = phase.support is not None and phase.swing is None and not self._next
        self._is_waiting = can_wait and not (is_flat and (is_steady or not is_over))
        if self._is_waiting and self._waited < _LONGEST_WAIT:
            self._waited += period
            return
        self._is_waiting = False
        self.elapsed += period
        if is_over:
            self._finish(velocity)

    def land_at(self, foot: Footstep) -> None:
        """Change where the swing foot lands, in single support."""
        phase = self.phase
        assert phase is not None
        assert phase.support is not None
        self.phase = phase._replace(swing=foot)
        self._end = self._end_of_single_support(phase.support, foot)

    def raise_feet(self, left: float, right: float) -> None:
        """Change the heights at which the feet stand [m]."""
        for side, up in ((LEFT, left), (RIGHT, right)):
            self.feet[side] = self.feet[side]._replace(z=self.feet[side].z + up)
        phase = self.phase
        if phase is not None and phase.support is not None:
            self.phase = phase._replace(support=self.feet[phase.support.side])

    def _zmp(self, foot: Footstep) -> np.ndarray:
        inwards = self.config.zmp_inwards * (-1.0 if foot.side == LEFT else 1.0)
        return np.array([foot.x - inwards * sin(foot.yaw), foot.y + inwards * cos(foot.yaw)])

    def _depart(self, velocity: BodyVelocity) -> None:
        """Move the weight to one foot, after a push in the other direction."""
        side = RIGHT if velocity.y > 0.0 or (velocity.y == 0.0 and velocity.yaw >= 0.0) else LEFT
        half, middle = 0.5 * self.config.first_double_support, self.middle
        shift = ZmpSegment(middle, self._zmp(self.feet[side]), half)
        end = self._dcm_at_single_support(self.feet[side], velocity)
        target = dcm_before(shift, end, half, self.omega)
        push = zmp_between(middle, target, half, self.omega)
        self._next = [Phase(shift, self.feet[side], None, (0.5, float(side)))]
        self._begin(Phase(ZmpSegment(push, push, half), self.feet[side], None, (0.5, 0.5)), target)
        self._is_last = False

    def _finish(self, velocity: BodyVelocity) -> None:
        phase = self.phase
        assert phase is not None
        if phase.swing is not None:
            self.feet[phase.swing.side] = phase.swing
            self.steps += 1
            self._double_support(phase.swing, velocity)
        elif self._next:
            following = self._next.pop(0)
            support = following.support
            assert support is not None
            self._begin(following, self._dcm_at_single_support(support, velocity))
        elif self._is_last:
            self.phase, self.elapsed = None, 0.0
        else:
            assert phase.support is not None
            self._single_support(phase.support, velocity)

    def _double_support(self, landed: Footstep, velocity: BodyVelocity) -> None:
        other = self.feet[1 - landed.side]
        tolerance = _DISPLACED if self._ends else _SAME
        self._is_last = self._ends_at(landed, other, velocity, tolerance)
        begin = self._zmp(other)
        if self._is_last:
            duration = self.config.first_double_support
            segment = ZmpSegment(begin, self.middle, duration)
            self._begin(Phase(segment, None, None, (1.0 - landed.side, 0.5)), self.middle)
            return
        segment = ZmpSegment(begin, self._zmp(landed), self.config.double_support)
        end = self._dcm_at_single_support(landed, velocity)
        shares = (1.0 - landed.side, float(landed.side))
        self._begin(Phase(segment, landed, None, shares), end)

    def _single_support(self, support: Footstep, velocity: BodyVelocity) -> None:
        swing = self._step_after(support, velocity)
        at = self._zmp(support)
        segment = ZmpSegment(at, at, self.config.single_support)
        share = float(support.side)
        self._velocity = velocity
        self._ends = self._ends_at(swing, support, velocity, _SAME)
        end = self._end_of_single_support(support, swing)
        self.planned_end = end
        self._begin(Phase(segment, support, swing, (share, share)), end)

    def _end_of_single_support(self, support: Footstep, swing: Footstep) -> np.ndarray:
        """Return the DCM when the swing foot lands.  # (2,)"""
        begin, end = self._zmp(support), self._zmp(swing)
        if self._ends:  # decided once, as `land_at` moves the footstep at every tick
            duration, after = self.config.first_double_support, 0.5 * (begin + end)
            shift = ZmpSegment(begin, after, duration)
        else:
            duration = self.config.double_support
            after = self._dcm_at_single_support(swing, self._velocity)
            shift = ZmpSegment(begin, end, duration)
        return dcm_before(shift, after, duration, self.omega)

    def _rests(self, velocity: BodyVelocity) -> bool:
        return velocity.is_zero and not self.is_marching

    def _ends_at(
        self, landed: Footstep, other: Footstep, velocity: BodyVelocity, tolerance: float
    ) -> bool:
        """Return whether a step is the last one: the feet stand beside each other."""
        goal = beside(landed, self.width)
        return self._rests(velocity) and bool(np.allclose(goal[1:4], other[1:4], atol=tolerance))

    def _begin(self, phase: Phase, end: np.ndarray) -> None:
        """Begin a phase that ends with a DCM."""
        self.phase, self.elapsed, self._end = phase, 0.0, end
        self._is_waiting, self._waited = False, 0.0

    def _step_after(self, support: Footstep, velocity: BodyVelocity) -> Footstep:
        duration = self.config.single_support + self.config.double_support
        config = self.config
        widths = self.width, config.least_width, config.turn_width
        step = next_footstep(support, velocity, duration, *widths)
        return on_slope(step, support, self.slope)

    def _dcm_at_single_support(self, support: Footstep, velocity: BodyVelocity) -> np.ndarray:
        """Return the DCM at the start of a single support.  # (2,)

        Relative to the foot it depends on the velocity alone, so it is computed once for each.
        """
        wanted, known = (velocity, self.is_marching), self._starts[support.side]
        if known is None or known[0] != wanted:
            ahead = self._ahead(Footstep(support.side, 0.0, 0.0, 0.0), velocity)
            known = wanted, dcm_at_start(ahead, self.omega)
            self._starts[support.side] = known
        x, y = turned(float(known[1][0]), float(known[1][1]), support.yaw)
        return np.array([support.x + x, support.y + y])

    def _ahead(self, support: Footstep, velocity: BodyVelocity) -> list[ZmpSegment]:
        """Return the motion of the ZMP from the start of a single support until a rest."""
        config, segments = self.config, []
        for number in range(_PREVIEW):
            at = self._zmp(support)
            is_last = self._rests(velocity) or number == _PREVIEW - 1
            swing = beside(support, self.width) if is_last else self._step_after(support, velocity)
            to = self._zmp(swing)
            if is_last:
                to = 0.5 * (at + to)
            duration = config.first_double_support if is_last else config.double_support
            segments += [ZmpSegment(at, at, config.single_support), ZmpSegment(at, to, duration)]
            support = swing
        return segments
