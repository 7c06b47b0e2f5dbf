"""Joint efforts of a spring and a damper at a frame."""

from math import sqrt

import mujoco
import numpy as np

from mujoco_ros.control.cartesian.settings import CartesianSettings
from mujoco_ros.control.references import References
from mujoco_ros.sim.cartesian.chain import FrameChain
from mujoco_ros.sim.cartesian.pose_reference import PoseReference

_REGULAR = 1e-6
"""Regularization of the mobility of the frame, relative to its trace: near a singularity."""


class Impedance:
    """Impedance mode: a spring and a damper between the frame and its reference.

    Gravity and Coriolis forces are compensated. The PD law of the joints adds nothing: their
    references are the measured state.

    Attributes:
        q: Measured positions.  # (k,)
        dq: Measured velocities.  # (k,)
        rest: Positions that spare joints return to.  # (k,)
        wrench: Wrench that the frame exerts in addition, along the axes of the base.  # (6,)
    """

    def __init__(self, chain: FrameChain) -> None:
        """Move the joints of a chain."""
        count = len(chain.joints.names)
        self._chain = chain
        self.q, self.dq, self.rest = np.zeros((3, count))
        self.wrench = np.zeros(6)
        self._effort, self._bias, self._spare = np.zeros((3, count))
        self._error, self._twist, self._force = np.zeros((3, 6))
        self._inertia, self._factor = np.zeros((2, count, count))
        self._moved = np.zeros((6, count))  # J M^-1
        self._mobility, self._mass = np.zeros((2, 6, 6))
        self._diagonal = self._mobility.reshape(-1)[::7]
        self._unit, self._column = np.eye(6), np.zeros(6)
        self._turn, self._axes = np.zeros(9), np.zeros((6, 6))
        self._stiffness, self._damping = np.zeros((2, 6))

    def start(self, q: np.ndarray, dq: np.ndarray) -> None:
        """Start at joint positions and velocities (k,)."""
        self.q[:], self.dq[:], self.rest[:] = q, dq, q
        self.wrench[:] = 0.0

    def update(self, reference: PoseReference, settings: CartesianSettings) -> None:
        """Compute the efforts; the chain is located at `q`."""
        chain, error, twist = self._chain, self._error, self._twist
        jacobian = chain.jacobian
        reference.error(chain.position, chain.quat, error)
        if reference.follows_twist:  # it waits for a frame that cannot follow
            excess = max(
                _excess(error[:3], settings.max_translation_error),
                _excess(error[3:], settings.max_rotation_error),
            )
            if excess > 1.0:
                reference.pull(error, 1.0 - 1.0 / excess)
        error[:3] /= _excess(error[:3], settings.max_translation_error)
        error[3:] /= _excess(error[3:], settings.max_rotation_error)
        np.matmul(jacobian, self.dq, out=twist)
        np.subtract(reference.twist, twist, out=twist)
        self._find_mass()
        self._find_axes(settings)
        axes, force = self._axes, self._force
        stiffness, damping = self._stiffness, self._damping
        stiffness[:3], stiffness[3:] = settings.stiffness_translation, settings.stiffness_rotation
        damping[:3], damping[3:] = settings.damping_translation, settings.damping_rotation
        masses = np.einsum("ij,ik,kj->j", axes, self._mass, axes)
        derived = 2.0 * settings.damping_ratio * np.sqrt(stiffness * np.maximum(masses, 0.0))
        np.copyto(damping, derived, where=damping == 0.0)
        np.matmul(axes, stiffness * (error @ axes) + damping * (twist @ axes), out=force)
        force += self.wrench
        effort = self._effort
        np.matmul(force, jacobian, out=effort)
        self._add_spare(settings.nullspace_stiffness)
        chain.bias(self.dq, self._bias, damped=False)
        effort += self._bias

    def _find_mass(self) -> None:
        """Compute the inertia that the frame presents, (J M^-1 J^T)^-1."""
        chain, moved = self._chain, self._moved
        chain.inertia(self._inertia)
        self._factor[:] = self._inertia
        mujoco.mju_cholFactor(self._factor, 0.0)
        for row, out in zip(chain.jacobian, moved, strict=True):
            mujoco.mju_cholSolve(out, self._factor, row)
        mobility = self._mobility
        np.matmul(moved, chain.jacobian.T, out=mobility)
        self._diagonal += _REGULAR * float(self._diagonal.sum())
        mujoco.mju_cholFactor(mobility, 0.0)
        for unit, out in zip(self._unit, self._mass, strict=True):
            mujoco.mju_cholSolve(out, mobility, unit)

    def _find_axes(self, settings: CartesianSettings) -> None:
        """Write the axes of stiffness and damping, as columns in the base."""
        if settings.axes == "tool":
            mujoco.mju_quat2Mat(self._turn, self._chain.quat)
            turn = self._turn.reshape(3, 3)
            self._axes[:3, :3] = self._axes[3:, 3:] = turn
        else:
            self._axes[:] = self._unit

    def _add_spare(self, stiffness: float) -> None:
        """Add the efforts of spare joints, which do not accelerate the frame."""
        if len(self.q) <= 6 or not stiffness:
            return
        spare, masses = self._spare, self._inertia.diagonal()
        np.subtract(self.rest, self.q, out=spare)
        spare *= stiffness
        spare -= 2.0 * np.sqrt(stiffness * masses) * self.dq
        self._effort += spare
        self._effort -= (self._mass @ (self._moved @ spare)) @ self._chain.jacobian

    def write(self, references: References) -> None:
        """Write the references of the joints."""
        at = self._chain.joints.indices
        references.q[at], references.dq[at] = self.q, self.dq
        references.tau[at] = self._effort

    def settle(self, references: References) -> None:
        """Hold the joints where they are, with the efforts that carry them."""
        at = self._chain.joints.indices
        references.q[at], references.dq[at], references.tau[at] = self.q, 0.0, self._bias


def _excess(vector: np.ndarray, limit: float) -> float:
    """Return the ratio of a length to its limit; at least 1."""
    return max(1.0, sqrt(float(vector @ vector)) / limit)
