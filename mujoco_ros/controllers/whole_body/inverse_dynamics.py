"""Joint torques and contact forces that fulfil weighted tasks."""

from collections.abc import Sequence

import numpy as np

from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.whole_body.ground_contact import GroundContact
from mujoco_ros.controllers.whole_body.tasks import WholeBodyTask
from mujoco_ros.controllers.whole_body.whole_body_control import (
    EQUAL,
    SOFT,
    UNLIMITED,
    WholeBodyProgram,
)
from mujoco_ros.model.errors import UserInputError

_HORIZON = 0.05
"""Time in which a joint reaches the limit of its velocity or its position at the earliest [s]."""
_SIDES = np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])  # of a friction pyramid


class InverseDynamicsControl(WholeBodyProgram):
    """A floating-base robot that moves by contact forces, within its torques.

    At each tick, the accelerations a of base and joints and the forces f of the contacts minimise
    Σ wᵢ (Jᵢ a + Jᵢ' v − aᵢ)² + r |a|² + s |f|². The first six rows of M a + h = Jᵀ f + (0, τ) are
    equations, the others limit the torques τ. Forces are in the friction pyramids of their
    contacts. A task whose velocity is v and shall be vᵢ accelerates with
    aᵢ = rate (vᵢ − v) + acceleration. Contacts are tasks with a large weight, and limits of joints
    yield to limits of torques, so that the program always has a solution.

    The references of the joints are integrals of the accelerations, which leak to what is measured,
    similar to M. A. Hopkins et al., Optimization-Based Whole-Body Control of a Series Elastic
    Humanoid Robot, International Journal of Humanoid Robotics 13(1), 2016, section 5. They make the
    PD law of the joints damp what the model lacks; the torques are its feed-forward.

    Attributes:
        body: The measured configuration.
        velocity: Measured velocities of all degrees of freedom.  # (6 + n,)
        acceleration: Accelerations since the last step.  # (6 + n,)
        torque: Torques of the joints [Nm or N].  # (n,)
        q: Reference positions of the joints [rad or m].  # (n,)
        dq: Reference velocities of the joints [rad/s or m/s].  # (n,)
    """

    def __init__(
        self,
        robot: RobotModel,
        part: str,
        tasks: Sequence[WholeBodyTask],
        contacts: Sequence[GroundContact],
        *,
        period: float,
        joints: Sequence[str] = (),
        damping: float = 1e-6,
        force_damping: float = 1e-4,
        torque_share: float = 0.9,
        velocity_leak: float = 0.02,
        position_leak: float = 0.1,
    ) -> None:
        """Begin in the initial configuration; call `update` before a `step`.

        Args, besides the arguments of `WholeBodyProgram`:
            tasks: The tasks besides the contacts, which are tasks, too.
            contacts: The contacts; each may become active and inactive at any tick.
            damping: Weight r of the accelerations.
            force_damping: Weight s of the forces [1/N²].
            torque_share: Part of the joints' efforts that is used; the rest is for the PD law.
            velocity_leak: Time constant with which reference velocities approach measured ones [s].
            position_leak: The same of positions [s].
        """
        self.contacts = tuple(contacts)
        self._fixed = tuple(contact.task for contact in self.contacts)
        points = sum(contact.points for contact in self.contacts)
        super().__init__(
            *(robot, part),
            period=period,
            joints=joints,
            others=3 * points,
            rows=6 + len(joints or robot.joints) + len(_SIDES) * points,
        )
        if not 0.0 < torque_share <= 1.0:
            raise UserInputError(f"torque_share must be above 0, at most 1, got {torque_share:g}")
        for name, leak in (("velocity_leak", velocity_leak), ("position_leak", position_leak)):
            if not leak >= period:
                raise UserInputError(f"{name} must be at least the period {period:g}, got {leak:g}")
        self._leaks = velocity_leak, position_leak
        size, n = self.body.size, len(self.joints)
        self.velocity, self.acceleration = np.zeros(size), np.zeros(size)
        self.torque, self.dq, self.q = np.zeros(n), np.zeros(n), self.body.q.copy()
        # Greatest torques [Nm or N] (n,)
        self.torque_limit = np.minimum(torque_share * robot.effort[self.joints], UNLIMITED)
        self._fastest = np.minimum(robot.velocity[self.joints], _HORIZON * UNLIMITED)
        self._slowest = -self._fastest
        self._bias = np.zeros(size)
        variables = size + 3 * points
        self._damping = damping * np.eye(size)
        np.fill_diagonal(self._hessian[size:, size:], force_damping)
        self._sense[6:size] = SOFT
        self._sense[variables : variables + 6] = EQUAL
        self._prepare_contacts(size)
        self._is_started = False
        self.tasks = tuple(tasks)

    def _prepare_contacts(self, size: int) -> None:
        """Write the friction pyramids, which do not change."""
        row, column = size, size
        for contact in self.contacts:
            contact.bind(size)
            for _ in range(contact.points):
                sides = self._rows[row : row + len(_SIDES), column : column + 3]
                sides[:, :2], sides[:, 2] = _SIDES, -contact.friction
                self._highest[len(self._hessian) + row :][: len(_SIDES)] = 0.0
                row, column = row + len(_SIDES), column + 3

    def start(self) -> None:
        """Begin with the next update."""
        self._is_started = False
        self._program = None

    def update(
        self, position: np.ndarray, quat_wxyz: np.ndarray, q: np.ndarray, velocity: np.ndarray
    ) -> None:
        """Set the measured pose of the base, positions (n,) and velocities (6 + n,).

        Velocities are linear along the axes of ``world`` and angular along the base's own axes,
        then of the joints that move, like the positions.
        """
        self.body.update(position, quat_wxyz, q)
        self.body.update_velocity(velocity)
        self.velocity[:] = velocity
        if not self._is_started:
            self._is_started = True
            self.q[:], self.dq[:] = q, 0.0

    def step(self) -> None:
        """Compute accelerations, forces and torques, and move the references by a period.

        ArithmeticError if the solver fails, e.g. because a target is not finite.
        """
        body, size = self.body, self.body.size
        self._compute_tasks()
        self._accelerate_tasks()
        hessian, gradient = self._hessian, self._gradient
        self._weigh_tasks(hessian[:size, :size], gradient[:size])
        hessian[:size, :size] += self._damping
        body.mass_matrix(self._rows[:size, :size])
        body.bias_forces(self._bias)
        self._compute_forces(size)
        self._limit(size)
        variables = self._solve("torques")
        self.acceleration[:] = variables[:size]
        np.matmul(self._rows[6:size], variables, out=self.torque)
        self.torque += self._bias[6:]
        first = size
        for contact in self.contacts:
            last = first + 3 * contact.points
            contact.forces[:] = variables[first:last].reshape(-1, 3)
            first = last
        self._integrate()

    def _accelerate_tasks(self) -> None:
        """Replace the velocities of the tasks by accelerations."""
        body, targets, drift = self.body, self._targets, self._drift
        targets -= self._jacobians @ self.velocity
        for task, rows in self._used:
            task.drift(body, drift[rows])
            targets[rows] *= task.rate
            targets[rows] += task.acceleration
        targets -= drift

    def _compute_forces(self, size: int) -> None:
        """Write the forces of the contacts into the equations of motion."""
        first = size
        for contact in self.contacts:
            last = first + 3 * contact.points
            contact.compute(self.body)
            np.negative(contact.jacobian.T, out=self._rows[:size, first:last])
            self._lowest[first + 2 : last : 3] = contact.least if contact.is_active else 0.0
            self._highest[first + 2 : last : 3] = min(contact.most, UNLIMITED)
            first = last

    def _limit(self, size: int) -> None:
        first = len(self._hessian)
        high, low = self._highest[first : first + size], self._lowest[first : first + size]
        np.negative(self._bias, out=high)
        low[:] = high
        high[6:] += self.torque_limit
        low[6:] -= self.torque_limit
        q, dq = self.body.q, self.velocity[6:]
        high, low = self._highest[6:size], self._lowest[6:size]
        np.subtract(self._upper, q, out=high)
        np.subtract(self._lower, q, out=low)
        for bound, least, most in ((high, 0.0, self._fastest), (low, self._slowest, 0.0)):
            bound /= _HORIZON
            np.minimum(bound, most, out=bound)
            np.maximum(bound, least, out=bound)
            bound -= dq
            bound /= _HORIZON

    def _integrate(self) -> None:
        period, (velocity_leak, position_leak) = self.period, self._leaks
        q, dq = self.q, self.dq
        dq += period * self.acceleration[6:]
        dq += (period / velocity_leak) * (self.velocity[6:] - dq)
        q += period * dq
        q += (period / position_leak) * (self.body.q - q)
        np.minimum(q, self._upper, out=q)
        np.maximum(q, self._lower, out=q)
