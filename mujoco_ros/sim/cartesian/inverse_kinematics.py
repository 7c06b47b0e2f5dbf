"""Joint velocities for a velocity of a frame: damped least squares within limits."""

import mujoco
import numpy as np

_DAMPING = 0.01
"""Damping of the least squares where the frame is at its reference [m]."""
_DAMPING_BY_ERROR = 4.0
"""Growth of the squared damping with the squared error: near a singularity, and out of reach, the
motion becomes slow instead of fast (as in Sugihara's Levenberg-Marquardt method)."""
_ROUNDS = 4
"""Largest number of solutions: after each, joints beyond their bounds are held there."""


class VelocityKinematics:
    """Damped least squares for a chain of k joints.

    A joint at its bound is held there, and the others take over its part of the motion.
    """

    def __init__(self, count: int) -> None:
        """Prepare for `count` joints."""
        self._scaled, self._free = np.zeros((6, count)), np.ones(count)
        self._jacobian = np.zeros((6, count))
        self._matrix = np.zeros((6, 6))
        self._diagonal = self._matrix.reshape(-1)[::7]
        self._rest, self._solved = np.zeros(6), np.zeros(6)
        self._out = np.zeros(count)
        self._above, self._below = np.zeros((2, count), dtype=bool)

    def solve(
        self,
        jacobian: np.ndarray,
        twist: np.ndarray,
        preferred: np.ndarray,
        bounds: np.ndarray,
        *,
        weight: float,
        error: float,
    ) -> np.ndarray:
        """Return joint velocities, which the next call overwrites.  # (k,)

        Args:
            jacobian: Of the frame.  # (6, k)
            twist: Desired velocity of the frame.  # (6,)
            preferred: Joint velocities that are wanted where the frame leaves a choice.  # (k,)
            bounds: Smallest and largest joint velocities.  # (2, k)
            weight: Length that makes angles comparable to distances [m].
            error: Distance of the frame from its reference, with weighted angles [m].
        """
        scaled, rest, out, free = self._scaled, self._rest, self._out, self._free
        scaled[:] = jacobian
        scaled[3:] *= weight
        free[:] = 1.0
        damping = _DAMPING**2 + _DAMPING_BY_ERROR * error**2
        lower, upper = bounds
        out[:] = preferred
        for _ in range(_ROUNDS):
            np.matmul(scaled, out, out=rest)
            rest[:3] = twist[:3] - rest[:3]
            rest[3:] = weight * twist[3:] - rest[3:]
            np.multiply(scaled, free, out=self._jacobian)
            np.matmul(self._jacobian, scaled.T, out=self._matrix)
            self._diagonal += damping
            mujoco.mju_cholFactor(self._matrix, 0.0)
            mujoco.mju_cholSolve(self._solved, self._matrix, rest)
            out += self._solved @ self._jacobian
            np.greater(out, upper, out=self._above)
            np.less(out, lower, out=self._below)
            self._above |= self._below
            if not self._above.any() or not (self._above & (free > 0)).any():
                break
            limit(out, lower, upper)
            free[self._above] = 0.0
            np.copyto(out, preferred, where=free > 0)
        limit(out, lower, upper)
        return out


def limit(values: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """Limit values in place, several times faster than `numpy.clip`."""
    np.maximum(values, lower, out=values)
    np.minimum(values, upper, out=values)
