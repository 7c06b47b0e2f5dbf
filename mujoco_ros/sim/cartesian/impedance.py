"""Joint efforts of a spring and a damper at a frame."""

from math import sqrt

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

    Attributes:
        q: Measured positions.  # (k,)
        dq: Measured velocities.  # (k,)
        rest: Positions that spare joints return to.  # (k,)
        wrench: Wrench that the frame exerts in addition, along the axes of the base.  # (6,)
    """

    def __init__(self, chain: FrameChain) -> None:
        """Move the joints of a chain."""
        joints = chain.joints
        count = len(joints.names)
        self._chain, self._at = chain, as_slice(joints.indices)
        self.q, self.dq, self.rest = np.zeros((3, count))
        self.wrench = np.zeros(6)
        self._effort, self._bias, self._inertial = np.zeros((3, count))
        self._spare, self._joint, self._room = np.zeros((3, count))
        self._most_effort = _USED * joints.max_effort
        self._error, self._twist, self._force, self._part = np.zeros((4, 6))
        self._linear, self._angular = self._error[:3], self._error[3:]
        self._inertia, self._factor = np.zeros((2, count, count))
        self._inertia_diagonal = self._inertia.diagonal()
        self._moved = np.zeros((6, count))  # J M^-1
        self._solves = tuple(zip(chain.jacobian, self._moved, strict=True))
        self._moving = chain.jacobian.T
        self._mobility, self._mobility_factor, self._mass = np.zeros((3, 6, 6))
        self._diagonal = self._mobility_factor.reshape(-1)[::7]
        self._inversions = tuple(zip(np.eye(6), self._mass, strict=True))
        self._turn, self._axes = np.zeros(9), np.eye(6)
        self._turn_matrix = self._turn.reshape(3, 3)
        self._root, self._given_damping, self._is_derived = np.zeros((3, 6))
        self._stretch, self._rate, self._most, self._modal_damping = np.zeros((4, 6))
        self._roots, self._turned, self._modal = np.zeros((3, 6, 6))
        self._settings: CartesianSettings | None = None

    def start(self, q: np.ndarray, dq: np.ndarray) -> None:
        """Start at joint positions and velocities (k,)."""
        self.q[:], self.dq[:], self.rest[:] = q, dq, q
        self.wrench[:] = 0.0

    def update(
        self, reference: PoseReference, settings: CartesianSettings, timestep: float
    ) -> None:
        """Compute the efforts; the chain is located at `q`."""
        chain, error, twist = self._chain, self._error, self._twist
        if settings is not self._settings:
            self._configure(settings)
        reference.error(chain.position, chain.quat, error)
        linear = _excess(self._linear, settings.max_translation_error)
        angular = _excess(self._angular, settings.max_rotation_error)
        excess = max(linear, angular)
        if reference.follows_twist and excess > 1.0:  # it waits for a frame that cannot follow
            reference.pull(error, 1.0 - 1.0 / excess)
        self._linear /= linear
        self._angular /= angular
        np.matmul(chain.jacobian, self.dq, out=twist)
        np.subtract(reference.twist, twist, out=twist)
        self._find_mass()
        self._add_spring(settings, timestep)
        chain.bias(self.dq, self._bias)
        share = self._find_inertial(reference, settings)
        if share < 1.0:
            reference.accelerate_less(max(share, _LEAST_SHARE), timestep)
        effort = self._effort
        np.matmul(self._force, chain.jacobian, out=effort)
        effort += self._inertial
        self._add_spare(settings.nullspace_stiffness)
        effort += self._bias

    def _configure(self, settings: CartesianSettings) -> None:
        """Take stiffness and damping of the settings."""
        self._settings = settings
        damping = settings.damping_translation + settings.damping_rotation
        self._root[:] = np.sqrt(settings.stiffness_translation + settings.stiffness_rotation)
        self._roots[:] = np.outer(self._root, self._root)
        self._given_damping[:] = damping
        self._is_derived[:] = self._given_damping == 0.0
        self._axes[:] = np.eye(6)

    def _find_mass(self) -> None:
        """Compute the inertia that the frame presents, (J M^-1 J^T)^-1."""
        chain, mobility, factor = self._chain, self._mobility, self._factor
        chain.inertia(self._inertia)
        factor[:] = self._inertia
        mujoco.mju_cholFactor(factor, 0.0)
        for row, out in self._solves:
            mujoco.mju_cholSolve(out, factor, row)
        np.matmul(self._moved, self._moving, out=mobility)
        factor = self._mobility_factor
        factor[:] = mobility
        self._diagonal += _REGULAR * float(self._diagonal.sum())
        mujoco.mju_cholFactor(factor, 0.0)
        for unit, out in self._inversions:
            mujoco.mju_cholSolve(out, factor, unit)

    def _add_spring(self, settings: CartesianSettings, timestep: float) -> None:
        """Write the wrench of spring and damper, and the commanded one, to `force`."""
        axes, force, part = self._axes, self._force, self._part
        if settings.axes == "tool":  # as columns in the base
            mujoco.mju_quat2Mat(self._turn, self._chain.quat)
            axes[:3, :3] = axes[3:, 3:] = self._turn_matrix
        stretch, rate, root = self._stretch, self._rate, self._root
        np.matmul(self._error, axes, out=stretch)
        np.matmul(self._twist, axes, out=rate)
        np.multiply(rate, self._given_damping, out=force)
        # Modes of spring and mass: with y = root·e and B = root·mobility·root, the modes are the
        # eigenvectors of B, and their squared frequencies its eigenvalues.
        np.matmul(self._mobility, axes, out=self._turned)
        np.matmul(axes.T, self._turned, out=self._modal)
        self._modal *= self._roots
        squares, modes = np.linalg.eigh(self._modal)
        stretch *= root
        rate *= root
        rate *= self._is_derived
        np.maximum(squares, _TINY, out=squares)
        most, damping = self._most, self._modal_damping
        np.divide(1.0 / timestep**2, squares, out=most)
        np.sqrt(squares, out=damping)
        np.divide(2.0 * settings.damping_ratio, damping, out=damping)
        np.multiply(most, timestep, out=squares)
        np.minimum(damping, squares, out=damping)
        np.minimum(most, 1.0, out=most)
        np.matmul(stretch, modes, out=part)
        part *= most
        np.matmul(modes, part, out=stretch)
        stretch *= root
        force += stretch
        np.matmul(rate, modes, out=part)
        part *= damping
        np.matmul(modes, part, out=rate)
        rate *= root
        rate *= self._is_derived
        force += rate
        np.matmul(axes, force, out=part)
        np.add(part, self.wrench, out=force)

    def _find_inertial(self, reference: PoseReference, settings: CartesianSettings) -> float:
        """Write the efforts that accelerate the frame as its reference to `inertial`.

        Returns:
            The share of them that the joints can exert, to which they are reduced; 1 is all.
        """
        chain, wanted, force = self._chain, self._twist, self._part
        chain.drift(self.dq, force)
        np.negative(force, out=wanted)
        if settings.feedforward:
            wanted += reference.acceleration
        np.matmul(self._mass, wanted, out=force)
        effort, size, room = self._inertial, self._joint, self._room
        np.matmul(force, self._moved, out=size)  # accelerations of the joints
        np.abs(size, out=size)
        share = settings.max_joint_acceleration / max(_TINY, float(size.max()))
        np.matmul(force, chain.jacobian, out=effort)
        np.abs(effort, out=size)
        size += _TINY
        np.abs(self._bias, out=room)
        np.subtract(self._most_effort, room, out=room)
        room /= size
        share = max(0.0, min(1.0, share, float(room.min())))
        effort *= share
        return share

    def _add_spare(self, stiffness: float) -> None:
        """Add the efforts of spare joints, which do not accelerate the frame."""
        if len(self.q) <= 6 or not stiffness:
            return
        spare, joint, part = self._spare, self._joint, self._part
        np.multiply(self._inertia_diagonal, stiffness, out=joint)
        np.sqrt(joint, out=joint)
        joint *= self.dq
        joint *= -2.0
        np.subtract(self.rest, self.q, out=spare)
        spare *= stiffness
        spare += joint
        self._effort += spare
        np.matmul(self._moved, spare, out=part)
        np.matmul(self._mass, part, out=self._force)
        np.matmul(self._force, self._chain.jacobian, out=spare)
        self._effort -= spare

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
        self._chain.bias(self.dq, self._effort)
        self.write(references)


def _excess(vector: np.ndarray, limit: float) -> float:
    """Return the ratio of a length to its limit; at least 1."""
    return max(1.0, sqrt(float(vector @ vector)) / limit)
