"""Motion of the divergent component of motion (DCM) over a sequence of zero-moment points."""

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

import numpy as np


class ZmpSegment(NamedTuple):
    """The zero-moment point (ZMP) moves with a constant velocity.

    Attributes:
        begin: [m]  # (2,)
        end: [m]  # (2,)
        duration: Above 0 [s].
    """

    begin: np.ndarray
    end: np.ndarray
    duration: float


class DcmState(NamedTuple):
    """A point of a pattern, in the horizontal plane.

    Attributes:
        dcm: Centre of mass plus its velocity over ω [m].  # (2,)
        zmp: [m]  # (2,)
    """

    dcm: np.ndarray
    zmp: np.ndarray


def dcm_before(segment: ZmpSegment, end: np.ndarray, remaining: float, omega: float) -> np.ndarray:
    """Return the DCM before the end of a segment.

    The linear inverted pendulum moves as ξ' = ω (ξ - p). For p = p₀ + b t it is
    ξ(t) = p(t) + b/ω + (ξ(T) - p(T) - b/ω) exp(ω (t - T)).

    Source: J. Englsberger, C. Ott, A. Albu-Schäffer, Three-Dimensional Bipedal Walking Control
    Based on Divergent Component of Motion, IEEE Transactions on Robotics 31(2), 2015.

    Args:
        segment: The segment.
        end: DCM at the end of the segment [m].  # (2,)
        remaining: Time until the end of the segment [s].
        omega: Natural frequency of the pendulum [1/s].
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
