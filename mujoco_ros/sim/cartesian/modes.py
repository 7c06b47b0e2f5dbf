"""The modes of the Cartesian controller: joint positions, or efforts of a spring and a damper."""

from math import sqrt
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.control.cartesian import CartesianSettings
from mujoco_ros.control.references import References, as_slice
from mujoco_ros.sim.cartesian.chain import FrameChain
from mujoco_ros.sim.cartesian.pose_reference import PoseReference

_DAMPING = 0.01  # damping of the least squares where the frame is at its reference [m]
_DAMPING_BY_ERROR = 4.0
"""Growth of the squared damping with the squared error: near a singularity, and out of reach, the
motion becomes slow instead of fast (as in Sugihara's Levenberg-Marquardt method)."""
_ROUNDS = 4  # largest number of solutions: after each, joints beyond their bounds are held there


def joint_velocities(
    jacobian: np.ndarray,
    twist: np.ndarray,
    preferred: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    *,
    weight: float,
    error: float,
) -> np.ndarray:
    """Return the joint velocities that move a frame with a twist, by damped least squares.  # (k,)

    A joint at its bound, the smallest or the largest velocity (k,), is held there, and the others
    take over its part of the motion. The preferred velocities (k,) are wanted where the frame
    leaves a choice. `weight` is a length that makes angles comparable to distances [m], and `error`
    the distance of the frame from its reference, with weighted angles [m].
    """
    scaled, wanted = jacobian.copy(), twist.copy()
    scaled[3:] *= weight
    wanted[3:] *= weight
    damping = _DAMPING**2 + _DAMPING_BY_ERROR * error**2
    free, velocities, solved = np.ones(len(preferred)), preferred.copy(), np.empty(6)
    for _ in range(_ROUNDS):
        rest = wanted - scaled @ velocities
        moving = scaled * free
        matrix = moving @ scaled.T
        matrix.reshape(-1)[::7] += damping
        mujoco.mju_cholFactor(matrix, 0.0)
        mujoco.mju_cholSolve(solved, matrix, rest)
        velocities += solved @ moving
        beyond = (velocities > upper) | (velocities < lower)
        if not (beyond & (free > 0)).any():
            break
        free[beyond] = 0.0
        velocities = np.where(free > 0, preferred, limited(velocities, lower, upper))
    return limited(velocities, lower, upper)


def limited(values: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return limited values, several times faster than `numpy.clip`."""
    result: np.ndarray = np.minimum(np.maximum(values, lower), upper)
    return result


_CORRECTION = 20.0  # rate at which the frame returns to its reference [1/s]
_NEAR_M = 0.05  # largest error that speeds up the return: targets may be out of reach
_SMOOTHING_S = 0.005  # time constant of the joint velocities: their accelerations become efforts
_USED = 0.9
"""Fraction of the largest effort of a joint that the motion, or its feed-forward, may take."""
_LEAST_SHARE = 0.1
"""Smallest share of its acceleration that the reference keeps, to end its motion in any case."""
_TINY = 1e-12
_SLOWEST = 0.1  # speed that a joint may have in any case [rad/s or m/s]
_LEAD_M = 0.005
"""How far the reference of a velocity may be ahead of the frame, when joints are at their limits.
Angles count by the weight of the rotation."""


class JointMotion:
    """Pose mode: differential inverse kinematics on the references of the joints."""

    def __init__(self, chain: FrameChain) -> None:
        joints, count = chain.joints, len(chain.joints.names)
        self._chain, self._at = chain, as_slice(joints.indices)
        # Desired positions and velocities, and where spare joints return to; then efforts (k,)
        self.q, self.dq, self.rest, self._bias, self._effort = np.zeros((5, count))
        self._last_twist = np.zeros(6)
        self._most_effort = _USED * joints.max_effort

    @property
    def state(self) -> tuple[np.ndarray, ...]:
        """The arrays from which the motion continues."""
        return self.q, self.dq, self.rest, self._last_twist, self._bias

    def start(self, q: np.ndarray, dq: np.ndarray) -> None:
        """Start at joint positions and velocities (k,)."""
        joints = self._chain.joints
        np.clip(q, joints.lower, joints.upper, out=self.q)
        self.dq[:], self.rest[:] = dq, self.q
        self._bias[:] = self._last_twist[:] = 0.0

    def update(
        self, reference: PoseReference, settings: CartesianSettings, timestep: float
    ) -> None:
        """Advance the joints by a step towards the reference; the chain is located at `q`."""
        chain, weight = self._chain, settings.rotation_weight
        error = reference.error(chain.position, chain.quat)
        linear, angular = error[:3], error[3:]
        far = sqrt(float(linear @ linear) + weight**2 * float(angular @ angular))
        if reference.follows_twist and far > _LEAD_M:
            reference.pull(error, 1.0 - _LEAD_M / far)
            error *= _LEAD_M / far
            far = _LEAD_M
        near = min(far, _NEAR_M)
        # The smoothing delays the joints: by that much ahead.
        ahead = (reference.twist - self._last_twist) * (_SMOOTHING_S / timestep)
        twist = error * (_CORRECTION * (near / far if far else 0.0)) + reference.twist + ahead
        self._last_twist[:] = reference.twist
        spare = settings.nullspace_rate if len(self.q) > 6 or not weight else 0.0
        preferred = (self.rest - self.q) * spare
        most = self._largest_speeds(settings.max_joint_velocity, timestep)
        upper = self._braking_speeds(chain.joints.upper, settings.max_joint_acceleration, timestep)
        lower = -self._braking_speeds(chain.joints.lower, settings.max_joint_acceleration, timestep)
        desired = joint_velocities(
            chain.jacobian, twist, preferred, lower, upper, weight=weight, error=near
        )
        excess = float((np.abs(desired) / most).max())
        if excess > 1.0:  # slower, along the same path
            desired /= excess
            reference.slow_down(1.0 / excess, timestep)
        change = (desired - self.dq) * min(1.0, timestep / _SMOOTHING_S)
        largest = settings.max_joint_acceleration * timestep
        change /= max(1.0, float(np.abs(change).max()) / largest)
        change *= self._find_efforts(change, timestep)
        self.dq[:] = limited(limited(self.dq + change, lower, upper), -most, most)
        moved = self.q + self.dq * timestep
        self.q[:] = limited(moved, chain.joints.lower, chain.joints.upper)

    def _find_efforts(self, change: np.ndarray, timestep: float) -> float:
        """Compute the efforts of a change of the velocities; return the share that is possible."""
        self._bias[:] = self._chain.bias(self.dq)
        inertial = self._chain.inertial(change / timestep)
        room = self._most_effort - np.sign(inertial) * self._bias
        room /= np.abs(inertial) + _TINY
        share = min(1.0, max(_LEAST_SHARE, float(room.min())))
        self._effort[:] = self._bias + inertial * share
        return share

    def _largest_speeds(self, velocity: float, timestep: float) -> np.ndarray:
        """Return the largest speeds (k,), at which no servo exceeds its largest effort.

        With the discrete integrator, a servo's effort contains the distance moved in the step.
        """
        most: np.ndarray = np.minimum(self._chain.joints.max_velocity, velocity)
        if self._chain.is_discrete:
            room = self._most_effort - np.abs(self._bias)
            reach = room / np.maximum(self._chain.stiffness() * timestep, _TINY)
            np.minimum(most, np.maximum(reach, _SLOWEST), out=most)
        return most

    def _braking_speeds(self, end: np.ndarray, acceleration: float, timestep: float) -> np.ndarray:
        """Return the speeds at which every joint can brake before its limit `end`.  # (k,)"""
        room = np.abs(end - self.q)  # q is within the limits
        speeds: np.ndarray = np.minimum(np.sqrt(room * (2.0 * acceleration)), room / timestep)
        return speeds

    def write(self, references: References, settings: CartesianSettings) -> None:
        """Write the references of the joints."""
        joints, at = self._chain.joints, self._at
        position, effort = self.q, self._effort * joints.takes_effort
        if settings.feedforward:
            # A position servo lags by what its damping and the load take: it gets that ahead.
            kp, kd = self._chain.servo_gains()
            lag = kd * self.dq + self._effort
            position = self.q + np.divide(lag, kp, out=np.zeros(len(kp)), where=kp > 0)
        else:
            effort[:] = 0.0
        references.q[at] = limited(position, joints.lower, joints.upper)
        references.dq[at], references.tau[at] = self.dq, effort

    def settle(self, references: References, settings: CartesianSettings) -> None:
        """Hold the joints where they are to be, with the efforts that carry them there."""
        self.dq[:] = 0.0
        self._chain.read()
        self._chain.locate(self.q)
        self._effort[:] = self._chain.bias(self.dq)
        self.write(references, settings)


_REGULAR = 1e-6
"""Regularization of the mobility of the frame, relative to its trace: near a singularity."""


class Impedance:
    """Impedance mode: a spring and a damper between the frame and its reference.

    The inertia that the frame presents is accelerated as the reference is, so that the motion does
    not stretch the spring. Gravity, Coriolis forces and damping are compensated. The PD law of the
    joints is off: integrators that treat it implicitly would add damping and inertia.
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
