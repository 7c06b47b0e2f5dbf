"""Inertia tensors that a body can have."""

import numpy as np
from numpy.typing import NDArray

WATER = 1000.0
"""Density in kg/m³; also what MuJoCo assumes for shapes."""

_LEAST_MOMENT = 1e-12  # kg·m²; MuJoCo refuses anything near zero


def mend(tensor: NDArray[np.float64], mass: float) -> tuple[NDArray[np.float64], str]:
    """Return the inertia, changed as little as it takes to be one that a body can have.

    Args:
        tensor: Inertia about the centre of mass [kg·m²], symmetric.  # (3, 3)
        mass: In kg, positive.

    Returns:
        The tensor, and what was wrong with it: empty for a sound one, up to rounding.
    """
    moments, axes = np.linalg.eigh(tensor)
    slack = 1e-6 * float(np.abs(moments).max())
    fault = ""
    # Less than that of the mass at a micrometre from the centre: meant as a point mass.
    if np.abs(moments).max() < 1e-12 * mass:
        radius = (0.75 * mass / (np.pi * WATER)) ** (1 / 3)
        moments[:] = 0.4 * mass * radius**2
        fault = "mass without inertia; given that of a ball of water"
    else:
        excess = moments[2] - max(moments[0], 0.0) - max(moments[1], 0.0)
        if moments[0] < -slack or excess > slack:
            fault = "an inertia that no body can have; its lesser principal moments are raised"
        moments = np.maximum(moments, 0.0)
        # A plate has A + B = C exactly, which rounding must not turn into a refusal.
        moments[:2] += max(excess / 2 + 1e-3 * slack, 0.0)
    return axes @ np.diag(np.maximum(moments, _LEAST_MOMENT)) @ axes.T, fault
