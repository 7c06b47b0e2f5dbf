"""Joint references that move a frame along its reference: damped least squares within limits."""

from math import sqrt

import mujoco
import numpy as np

from mujoco_ros.control.cartesian import CartesianSettings
from mujoco_ros.control.references import References, as_slice
from mujoco_ros.sim.cartesian.chain import FrameChain
from mujoco_ros.sim.cartesian.pose_reference import PoseReference

_DAMPING = 0.01
"""Damping of the least squares where the frame is at its reference [m]."""
_DAMPING_BY_ERROR = 4.0
"""Growth of the squared damping with the squared error: near a singularity, and out of reach, the
motion becomes slow instead of fast (as in Sugihara's Levenberg-Marquardt method)."""
_ROUNDS = 4
"""Largest number of solutions: after each, joints beyond their bounds are held there."""


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


_CORRECTION = 20.0
"""Rate at which the frame returns to its reference [1/s]."""
_NEAR_M = 0.05
"""Largest error that speeds up the return: targets may be out of reach."""
_SMOOTHING_S = 0.005
"""Time constant of the joint velocities: their accelerations become efforts."""
_USED = 0.9
"""Fraction of the largest effort of a joint that the motion may take."""
_LEAST_SHARE = 0.1
_TINY = 1e-12
_SLOWEST = 0.1
"""Speed that a joint may have in any case [rad/s or m/s]."""
_LEAD_M = 0.005
"""How far the reference of a velocity may be ahead of the frame, when joints are at their limits.
Angles count by the weight of the rotation."""


class JointMotion:
    """Pose mode: differential inverse kinematics on the references of the joints.

    The frame is where the references of the joints place it, so that the motion does not depend on
    how well the joints follow.
    """

    def __init__(self, chain: FrameChain) -> None:
        joints, count = chain.joints, len(chain.joints.names)
        self._chain, self._at = chain, as_slice(joints.indices)
        # Desired positions and velocities, and where spare joints return to; then efforts (k,)
        self.q, self.dq, self.rest, self._bias, self._effort = np.zeros((5, count))
        self._last_twist = np.zeros(6)
        self._most_effort = _USED * joints.max_effort
        is_servo = joints.servo_kp > 0
        self._compliance = np.divide(1.0, joints.servo_kp, out=np.zeros(count), where=is_servo)

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
        """Return the largest speeds, at which no servo exceeds its largest effort.  # (k,)

        With the discrete integrator, the effort of a servo at the begin of a step contains the
        distance that the joint moves in the step.
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
            ahead = (joints.servo_kd * self.dq + self._effort) * self._compliance
            position = ahead + self.q
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
