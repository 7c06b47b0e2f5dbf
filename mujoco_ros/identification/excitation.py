"""Motions that determine the parameters of joints: sums of sines about a start."""

from dataclasses import dataclass

import numpy as np

_SLOWEST_HZ = 0.1
_RAMP_S = 2.0  # time in which the motion grows from rest, and decreases to rest at the end


@dataclass(frozen=True, kw_only=True)
class Excitation:
    """How joints are moved; `seed` is of frequencies and phases."""

    amplitude: float = 0.3
    """Largest distance from the start [rad or m]."""
    duration: float = 60.0
    """In seconds."""
    fastest: float = 1.5
    """Largest frequency [Hz]."""
    sines: int = 5
    """Number of sines of each joint."""
    seed: int = 1


def excite(settings: Excitation, joints: int, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a motion that begins and ends at rest in the start.

    Fast reversals show inertia and delay, slow ones dry friction, and the mean over both damping.
    The results (t, joints) are distances from the start at times (t,), and velocities.
    """
    random = np.random.default_rng(settings.seed)
    shape = (joints, settings.sines)
    # One sine of each joint in each octave, so that no two joints move alike.
    octaves = np.geomspace(_SLOWEST_HZ, settings.fastest, settings.sines + 1)
    rates = 2.0 * np.pi * random.uniform(octaves[:-1], octaves[1:], shape)
    phases = random.uniform(0.0, 2.0 * np.pi, shape)
    # Equal velocities: amplitudes decrease with the frequency, but slower than that.
    sizes = rates**-0.5
    sizes *= settings.amplitude / sizes.sum(axis=1, keepdims=True)
    angle = rates * times[:, None, None] + phases
    offset = (sizes * np.sin(angle)).sum(axis=2)
    speed = (sizes * rates * np.cos(angle)).sum(axis=2)
    share, slope = _ramp(times, settings.duration)
    return offset * share[:, None], speed * share[:, None] + offset * slope[:, None]


def _ramp(times: np.ndarray, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a factor that is smooth up to the acceleration, and its derivative."""
    length = min(_RAMP_S, 0.5 * duration)
    left = np.minimum(times, duration - times)
    x = np.clip(left / length, 0.0, 1.0)
    sign = np.where(times <= duration - times, 1.0, -1.0)
    share = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
    return share, sign * 30.0 * x**2 * (1.0 - x) ** 2 / length
