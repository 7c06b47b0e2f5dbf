"""Joint efforts of a spring and a damper at a frame."""

from math import sqrt
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.control.cartesian import CartesianSettings
from mujoco_ros.control.references import References, as_slice
from mujoco_ros.sim.cartesian.chain import FrameChain
from mujoco_ros.sim.cartesian.pose_reference import PoseReference

_REGULAR = 1e-6
"""Regularization of the mobility of the frame, relative to its trace: near a singularity."""
_USED = 0.9
"""Fraction of the largest effort of a joint that the feed-forward may take."""
_LEAST_SHARE = 0.1
"""Smallest share of its acceleration that the reference keeps, to end its motion in any case."""
_TINY = 1e-12


class Impedance:
    """Impedance mode: a spring and a damper between the frame and its reference.

    The inertia that the frame presents is accelerated as the reference is, so that the spring is
    stretched by contacts and disturbances, but not by the motion. Gravity, Coriolis forces and
    damping of the joints are compensated. The PD law of the joints is off, since integrators that
    treat it implicitly would add damping and inertia.
    """

    def __init__(self, chain: FrameChain) -> None:
        joints, count = chain.joints, len(chain.joints.names)
        self._chain, self._at = chain, as_slice(joints.indices)
        # Measured positions and velocities, and where spare joints return to; then efforts (k,)
        self.q, self.dq, self.rest, self._effort = np.zeros((4, count))
        self.wrench = np.zeros(6)  # that it exerts in addition, along the axes of the base
        self._most_effort = _USED * joints.max_effort
        self._known: tuple[CartesianSettings, _Spring] | None = None
        # Accelerations of the joints by a wrench at the frame, J M^-1 (6, k); and the inertia that
        # the frame presents, the inverse of J M^-1 J^T (6, 6)
        self._moved, self._mass = np.zeros((6, count)), np.zeros((6, 6))
        # What would be slow to make at every step: the axes of the tool, and rows.
        self._turn, self._axes = np.zeros(9), np.zeros((6, 6))
        self._turn_matrix = self._turn.reshape(3, 3)
        self._solves = tuple(zip(chain.jacobian, self._moved, strict=True))
        self._inversions = tuple(zip(np.eye(6), self._mass, strict=True))

    def start(self, q: np.ndarray, dq: np.ndarray) -> None:
        """Start at joint positions and velocities (k,)."""
        self.q[:], self.dq[:], self.rest[:] = q, dq, q
        self.wrench[:] = 0.0

    def update(
        self, reference: PoseReference, settings: CartesianSettings, timestep: float
    ) -> None:
        """Compute the efforts; the chain is located at `q`."""
        chain = self._chain
        if self._known is None or settings is not self._known[0]:
            self._known = settings, _spring(settings)
        spring = self._known[1]
        error = reference.error(chain.position, chain.quat)
        linear = _excess(error[:3], settings.max_translation_error)
        angular = _excess(error[3:], settings.max_rotation_error)
        excess = max(linear, angular)
        if reference.follows_twist and excess > 1.0:  # it waits for a frame that cannot follow
            reference.pull(error, 1.0 - 1.0 / excess)
        error[:3] /= linear
        error[3:] /= angular
        twist = reference.twist - chain.jacobian @ self.dq
        inertia, mobility = self._find_inertia()
        if settings.axes == "tool":
            axes = self._axes  # as columns in the base
            mujoco.mju_quat2Mat(self._turn, chain.quat)
            axes[:3, :3] = axes[3:, 3:] = self._turn_matrix
            mobility = axes.T @ (mobility @ axes)
            force = axes @ spring.force(error @ axes, twist @ axes, mobility, timestep)
        else:
            force = spring.force(error, twist, mobility, timestep)
        force += self.wrench
        bias = chain.bias(self.dq)
        effort, share = self._inertial(reference, settings, bias)
        if share < 1.0:
            reference.accelerate_less(max(share, _LEAST_SHARE), timestep)
        effort += force @ chain.jacobian
        if len(self.q) > 6 and settings.nullspace_stiffness:
            self._add_spare(settings.nullspace_stiffness, inertia, effort)
        np.add(effort, bias, out=self._effort)

    def _find_inertia(self) -> tuple[np.ndarray, np.ndarray]:
        """Update the inertia of the frame; return M (k, k) of the joints, and J M^-1 J^T (6, 6)."""
        joints = self._chain.inertia()
        factor = joints.copy()
        mujoco.mju_cholFactor(factor, 0.0)
        for row, out in self._solves:
            mujoco.mju_cholSolve(out, factor, row)
        mobility = self._moved @ self._chain.jacobian.T
        factor = mobility.copy()
        diagonal = factor.reshape(-1)[::7]
        diagonal += _REGULAR * float(diagonal.sum())
        mujoco.mju_cholFactor(factor, 0.0)
        for unit, out in self._inversions:
            mujoco.mju_cholSolve(out, factor, unit)
        return joints, mobility

    def _inertial(
        self, reference: PoseReference, settings: CartesianSettings, bias: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Return the efforts that accelerate the frame as its reference, and their share.

        The share is what the joints can exert, to which the efforts (k,) are reduced; 1 is all.
        """
        wanted = -self._chain.drift(self.dq)
        if settings.feedforward:
            wanted += reference.acceleration
        force = self._mass @ wanted
        accelerations = np.abs(force @ self._moved)
        share = settings.max_joint_acceleration / max(_TINY, float(accelerations.max()))
        effort = force @ self._chain.jacobian
        room = (self._most_effort - np.abs(bias)) / (np.abs(effort) + _TINY)
        share = max(0.0, min(1.0, share, float(room.min())))
        effort *= share
        return effort, share

    def _add_spare(self, stiffness: float, inertia: np.ndarray, effort: np.ndarray) -> None:
        """Add the efforts of spare joints, which do not accelerate the frame, to `effort` (k,)."""
        damper = np.sqrt(inertia.diagonal() * stiffness) * self.dq * -2.0
        spare = (self.rest - self.q) * stiffness + damper
        effort += spare
        effort -= (self._mass @ (self._moved @ spare)) @ self._chain.jacobian

    def write(self, references: References) -> None:
        """Write the references of the joints."""
        at = self._at
        references.q[at], references.dq[at] = self.q, self.dq
        references.tau[at] = self._effort

    def settle(self, references: References) -> None:
        """Hold the joints where they are, with the efforts that carry them."""
        self._chain.measure(self.q, self.dq)
        self.dq[:] = 0.0
        self._chain.read()
        self._chain.locate(self.q)
        self._effort[:] = self._chain.bias(self.dq)
        self.write(references)


class _Spring(NamedTuple):
    """Stiffness and damping along and about three axes."""

    root: np.ndarray  # square root of the stiffness (6,)
    roots: np.ndarray  # products of two of them (6, 6)
    damping: np.ndarray  # damping, 0 where it is derived from the damping ratio (6,)
    is_derived: np.ndarray  # 1 where it is derived, else 0 (6,)
    ratio: float  # the damping ratio

    def force(
        self, error: np.ndarray, rate: np.ndarray, mobility: np.ndarray, timestep: float
    ) -> np.ndarray:
        """Return the wrench of spring and damper for an error (6,) and its rate (6,).  # (6,)

        Modes of spring and mass: with y = root·error and B = root·mobility·root, the modes are the
        eigenvectors of B, and their squared frequencies its eigenvalues. None is stiffer or more
        damped than a timestep [s] allows.
        """
        root, is_derived = self.root, self.is_derived
        squares, modes = np.linalg.eigh(mobility * self.roots)
        np.maximum(squares, _TINY, out=squares)
        most = 1.0 / timestep**2 / squares
        damping = np.minimum(2.0 * self.ratio / np.sqrt(squares), most * timestep)
        stretched = modes @ ((error * root) @ modes * np.minimum(most, 1.0))
        damped = modes @ ((rate * root * is_derived) @ modes * damping)
        force: np.ndarray = rate * self.damping + stretched * root
        force += damped * root * is_derived
        return force


def _spring(settings: CartesianSettings) -> _Spring:
    root = np.sqrt(settings.stiffness_translation + settings.stiffness_rotation)
    damping = np.array(settings.damping_translation + settings.damping_rotation)
    is_derived = (damping == 0.0).astype(float)
    return _Spring(root, np.outer(root, root), damping, is_derived, settings.damping_ratio)


def _excess(vector: np.ndarray, limit: float) -> float:
    """Return the ratio of a length to its limit; at least 1."""
    return max(1.0, sqrt(float(vector @ vector)) / limit)
