"""Where the feet of a trotting robot land."""

from math import cosh, hypot, sinh, tanh

import numpy as np

_FARTHEST = 0.15
"""Largest displacement of a foothold by an error of the velocity [m]."""


def foothold(
    velocity: np.ndarray, wanted: np.ndarray, omega: float, stance: float, gain: float
) -> np.ndarray:
    """Return the support point relative to the centre of mass when the feet land [m].  # (2,)

    The linear inverted pendulum over a point p moves with x'' = ω² (x - p). It keeps a velocity v
    through a stance of duration T with p = v tanh(ω T / 2) / ω, and changes it to another one at
    the end with a displacement of (v - v_wanted) / (ω tanh(ω T)), of which `gain` is used.

    Source: M. H. Raibert, Legged Robots That Balance, MIT Press 1986, chapter 2, with the pendulum
    instead of a constant stance velocity.

    Args:
        velocity: Of the centre of mass when the feet land [m/s].  # (2,)
        wanted: [m/s]  # (2,)
        omega: Natural frequency of the pendulum [1/s].
        stance: Time until the other feet land [s].
        gain: Part of the error of the velocity that a step corrects.
    """
    error = (gain / (omega * tanh(omega * stance))) * (velocity - wanted)
    size = float(np.hypot(*error))
    if size > _FARTHEST:
        error *= _FARTHEST / size
    point: np.ndarray = (tanh(0.5 * omega * stance) / omega) * wanted + error
    return point


def pendulum_after(
    position: np.ndarray, velocity: np.ndarray, line: np.ndarray, omega: float, time: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return position and velocity of the centre of mass after a time [s].  # (2,) each

    Across the line between the feet that stand it falls like a pendulum; along the line the forces
    can balance it, so that its velocity is constant.

    Args:
        position: [m]  # (2,)
        velocity: [m/s]  # (2,)
        line: The two feet [m].  # (2, 2)
        omega: Natural frequency of the pendulum [1/s].
        time: [s]
    """
    x, y = (line[1] - line[0]).tolist()
    across = np.array([-y, x]) / max(hypot(x, y), 1e-6)
    offset, rate = float(across @ (position - line[0])), float(across @ velocity)
    growth, change = cosh(omega * time), sinh(omega * time)
    after = offset * growth + rate * change / omega
    moved = position + time * velocity + (after - offset - time * rate) * across
    faster = velocity + (omega * offset * change + rate * (growth - 1.0)) * across
    return moved, faster


def ground_plane(feet: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the middle (3,) of feet and the rise of the ground along x and y (2,).

    Args:
        feet: Where four feet stand or stood last [m].  # (4, 3)
    """
    middle = 0.25 * feet.sum(axis=0)
    offsets = feet - middle
    (xx, xy, xz), (_, yy, yz), _ = (offsets.T @ offsets).tolist()
    area = max(xx * yy - xy * xy, 1e-9)
    return middle, np.array([yy * xz - xy * yz, xx * yz - xy * xz]) / area
