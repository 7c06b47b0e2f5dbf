"""Errors of joints beyond the tolerances of a trajectory."""

import numpy as np

from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.references import References

_NOTABLE = 0.02
"""Position error at the goal that the result mentions if no tolerance is set [rad or m]."""


class TrackingErrors:
    """Compares references with measured positions and velocities."""

    def __init__(self, joints: ControlledJoints, references: References) -> None:
        self._joints, self._references = joints, references
        self._any_continuous = bool(joints.continuous.any())

    def violation(
        self, joints: np.ndarray, allowed: np.ndarray, q: np.ndarray, dq: np.ndarray
    ) -> str:
        """Return a description of the worst error beyond the tolerances; empty without one.

        Args:
            joints: Indices of the joints.  # (k,)
            allowed: Largest errors of position and velocity.  # (2, k)
            q: Measured positions of all joints.  # (n,)
            dq: Measured velocities.  # (n,)
        """
        worst = self._worst(joints, allowed, q, dq)
        return "" if worst is None else f"{worst[0]}, allowed is {worst[1]:.6g}"

    def success(
        self, joints: np.ndarray, allowed: np.ndarray, q: np.ndarray, dq: np.ndarray
    ) -> str:
        """Return the message of a reached goal, with notable errors where no tolerance is set."""
        notable = np.full((2, len(joints)), np.inf)
        notable[0] = np.where(np.isinf(allowed[0]), _NOTABLE, np.inf)
        worst = self._worst(joints, notable, q, dq)
        if worst is None:
            return "goal reached"
        return f"trajectory completed; {worst[0]}, and no goal tolerance is set"

    def _worst(
        self, joints: np.ndarray, allowed: np.ndarray, q: np.ndarray, dq: np.ndarray
    ) -> tuple[str, float] | None:
        """Return the worst error beyond `allowed` (2, k), as text, and its tolerance."""
        references = self._references
        for row, (reference, actual, quantity) in enumerate(
            ((references.q, q, "position"), (references.dq, dq, "velocity"))
        ):
            if allowed[row].min() == np.inf:
                continue
            error = reference[joints] - actual[joints]
            if row == 0 and self._any_continuous:
                wrapped = np.remainder(error + np.pi, 2 * np.pi) - np.pi
                error = np.where(self._joints.continuous[joints], wrapped, error)
            beyond = np.abs(error) > allowed[row]
            if beyond.any():
                worst = int(np.argmax(np.where(beyond, np.abs(error) / allowed[row], 0.0)))
                joint, off = self._joints.names[joints[worst]], abs(error[worst])
                text = f"{quantity} of joint '{joint}' is off by {off:.6g}"
                return text, float(allowed[row, worst])
        return None
