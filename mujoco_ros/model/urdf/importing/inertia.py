"""Correction of inertia tensors."""

import numpy as np
from numpy.typing import NDArray

WATER = 1000.0
"""Density in kg/m³; also MuJoCo's default for shapes."""

_LEAST_MOMENT = 1e-12  # kg·m²; MuJoCo rejects smaller ones


def corrected(tensor: NDArray[np.float64], mass: float) -> tuple[NDArray[np.float64], str]:
    """Return the nearest physically possible inertia, and the fault; empty up to rounding.

    Args:
        tensor: Inertia about the centre of mass [kg·m²], symmetric.  # (3, 3)
        mass: Positive mass [kg].
    """
    moments, axes = np.linalg.eigh(tensor)
    slack = 1e-6 * float(np.abs(moments).max())
    fault = ""
    # Smaller than the inertia of the mass at 1 µm from the centre: a point mass.
    if np.abs(moments).max() < 1e-12 * mass:
        radius = (0.75 * mass / (np.pi * WATER)) ** (1 / 3)
        moments[:] = 0.4 * mass * radius**2
        fault = "mass without inertia, which get that of a ball of water"
    else:
        excess = moments[2] - max(moments[0], 0.0) - max(moments[1], 0.0)
        if moments[0] < -slack or excess > slack:
            fault = "an impossible inertia, whose smaller principal moments are raised"
        moments = np.maximum(moments, 0.0)
        # A plate has A + B = C exactly, which MuJoCo must not reject after rounding.
        moments[:2] += max(excess / 2 + 1e-3 * slack, 0.0)
    return axes @ np.diag(np.maximum(moments, _LEAST_MOMENT)) @ axes.T, fault
