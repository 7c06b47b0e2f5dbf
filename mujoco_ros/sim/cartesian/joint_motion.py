"""Joint references that move a frame along its reference: damped least squares within limits."""

from math import sqrt

import mujoco
import numpy as np

from mujoco_ros.control.cartesian.settings import CartesianSettings
from mujoco_ros.control.index_ranges import as_slice
from mujoco_ros.control.references import References
from mujoco_ros.sim.cartesian.chain import FrameChain
from mujoco_ros.sim.cartesian.pose_reference import PoseReference

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
            limit_in_place(out, lower, upper)
            free[self._above] = 0.0
            np.copyto(out, preferred, where=free > 0)
        limit_in_place(out, lower, upper)
        return out


def limit_in_place(values: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """Limit values in place, several times faster than `numpy.clip`."""
    np.maximum(values, lower, out=values)
    np.minimum(values, upper, out=values)


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

    Attributes:
        q: Desired positions.  # (k,)
        dq: Desired velocities.  # (k,)
        rest: Positions that spare joints return to.  # (k,)
    """

    def __init__(self, chain: FrameChain) -> None:
        """Move the joints of a chain."""
        count = len(chain.joints.names)
        self.q, self.dq, self.rest = np.zeros((3, count))
        self._chain = chain
        self._inverse = VelocityKinematics(count)
        self._bounds = np.zeros((2, count))
        self._lower, self._upper = self._bounds
        self._ddq, self._preferred, self._room = np.zeros((3, count))
        self._effort, self._bias, self._inertial, self._most = np.zeros((4, count))
        self._size = np.zeros(count)
        self._most_effort = _USED * chain.joints.max_effort
        self._error, self._twist, self._last_twist, self._change = np.zeros((4, 6))
        self._linear, self._angular = self._error[:3], self._error[3:]
        joints = chain.joints
        self._at = as_slice(joints.indices)
        self._is_servo = joints.servo_kp > 0
        self._compliance = np.divide(
            1.0, joints.servo_kp, out=np.zeros(count), where=self._is_servo
        )

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
        chain, error, weight = self._chain, self._error, settings.rotation_weight
        reference.error(chain.position, chain.quat, error)
        linear, angular = self._linear, self._angular
        far = float(linear @ linear) + weight**2 * float(angular @ angular)
        far = sqrt(far)
        if reference.follows_twist and far > _LEAD_M:
            reference.pull(error, 1.0 - _LEAD_M / far)
            error *= _LEAD_M / far
            far = _LEAD_M
        near = min(far, _NEAR_M)
        np.multiply(error, _CORRECTION * (near / far if far else 0.0), out=self._twist)
        self._twist += reference.twist
        # The smoothing delays the joints: by that much ahead.
        np.subtract(reference.twist, self._last_twist, out=self._change)
        self._change *= _SMOOTHING_S / timestep
        self._twist += self._change
        self._last_twist[:] = reference.twist
        spare = settings.nullspace_rate if len(self.q) > 6 or not weight else 0.0
        np.subtract(self.rest, self.q, out=self._preferred)
        self._preferred *= spare
        most = self._find_most(settings.max_joint_velocity, timestep)
        self._bound(settings.max_joint_acceleration, timestep)
        desired = self._inverse.solve(
            chain.jacobian,
            self._twist,
            self._preferred,
            self._bounds,
            weight=weight,
            error=near,
        )
        np.abs(desired, out=self._room)
        self._room /= most
        excess = float(self._room.max())
        if excess > 1.0:  # slower, along the same path
            desired /= excess
            reference.slow_down(1.0 / excess, timestep)
        desired -= self.dq
        desired *= min(1.0, timestep / _SMOOTHING_S)
        change = settings.max_joint_acceleration * timestep
        np.abs(desired, out=self._room)
        desired /= max(1.0, float(self._room.max()) / change)
        self._find_efforts(desired, timestep)
        self.dq += desired
        limit_in_place(self.dq, self._lower, self._upper)
        np.minimum(self.dq, most, out=self.dq)
        np.negative(most, out=most)
        np.maximum(self.dq, most, out=self.dq)
        np.multiply(self.dq, timestep, out=self._room)
        self.q += self._room
        limit_in_place(self.q, chain.joints.lower, chain.joints.upper)

    def _find_efforts(self, change: np.ndarray, timestep: float) -> None:
        """Compute the efforts of a change of the velocities, and reduce it to what is possible."""
        effort, inertial, most = self._effort, self._inertial, self._most_effort
        self._chain.bias(self.dq, self._bias)
        np.divide(change, timestep, out=self._ddq)
        self._chain.inertial(self._ddq, inertial)
        room, size = self._room, self._size
        np.sign(inertial, out=room)
        room *= self._bias
        np.subtract(most, room, out=room)
        np.abs(inertial, out=size)
        size += _TINY
        room /= size
        share = min(1.0, max(_LEAST_SHARE, float(room.min())))
        change *= share
        inertial *= share
        np.add(self._bias, inertial, out=effort)

    def _find_most(self, velocity: float, timestep: float) -> np.ndarray:
        """Return the largest speeds, at which no servo exceeds its largest effort.  # (k,)

        With the discrete integrator, the effort of a servo at the begin of a step contains the
        distance that the joint moves in the step.
        """
        joints, most = self._chain.joints, self._most
        if not self._chain.is_discrete:
            np.minimum(joints.max_velocity, velocity, out=most)
            return most
        self._chain.stiffness(self._room)
        self._room *= timestep
        np.abs(self._bias, out=most)
        np.subtract(self._most_effort, most, out=most)
        np.maximum(self._room, _TINY, out=self._room)
        most /= self._room
        np.maximum(most, _SLOWEST, out=most)
        np.minimum(most, joints.max_velocity, out=most)
        np.minimum(most, velocity, out=most)
        return most

    def _bound(self, acceleration: float, timestep: float) -> None:
        """Compute the velocities at which every joint can brake before its limits."""
        joints, room = self._chain.joints, self._room
        lower, upper = self._lower, self._upper
        for bound, end in ((upper, joints.upper), (lower, joints.lower)):
            np.subtract(end, self.q, out=room)
            np.abs(room, out=room)  # q is within the limits
            np.multiply(room, 2.0 * acceleration, out=bound)
            np.sqrt(bound, out=bound)
            room /= timestep
            np.minimum(bound, room, out=bound)
        np.negative(lower, out=lower)

    def write(self, references: References, settings: CartesianSettings) -> None:
        """Write the references of the joints."""
        joints, effort = self._chain.joints, self._effort
        at = self._at
        # A position servo lags behind by what its damping and the load take: it gets that ahead.
        ahead = self._room
        np.multiply(joints.servo_kd, self.dq, out=ahead)
        ahead += effort
        ahead *= self._compliance
        if not settings.feedforward:
            effort[:] = ahead[:] = 0.0
        ahead += self.q
        limit_in_place(ahead, joints.lower, joints.upper)
        references.q[at] = ahead
        references.dq[at] = self.dq
        effort *= joints.takes_effort
        references.tau[at] = effort

    def settle(self, references: References, settings: CartesianSettings) -> None:
        """Hold the joints where they are to be, with the efforts that carry them there."""
        self.dq[:] = 0.0
        self._chain.read()
        self._chain.locate(self.q)
        self._chain.bias(self.dq, self._effort)
        self.write(references, settings)
