"""Joint velocities that fulfil weighted tasks within the limits of the joints."""

from collections.abc import Sequence

import daqp
import numpy as np

from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.whole_body.distance_limit import DistanceLimit
from mujoco_ros.controllers.whole_body.whole_body_task import WholeBodyTask
from mujoco_ros.model.errors import UserInputError, unknown

_UNLIMITED = 1e30
"""What DAQP takes for infinity."""
_SOFT = 8
"""What DAQP takes for a constraint that may be violated where no solution fulfils all of them."""
_MARGIN = 0.95
"""Part of the velocity limits that is used, for interpolation between ticks."""


class WholeBodyControl:
    """A floating-base robot whose joints follow tasks.

    At each tick, the velocities v of base and joints minimise Σ wᵢ (Jᵢ v − vᵢ)² + r |v|², within
    the limits of position and velocity of the joints, and of the distances of bodies. They are
    integrated into a configuration, which is the reference of position-controlled joints. Contacts
    are frame tasks with a large weight, and distances yield to the limits of the joints, so that
    the program always has a solution.

    Attributes:
        body: The reference configuration.
        joints: Indices of the robot's joints that move.  # (n,)
        distances: The limits of distances.
        velocity: Velocities of the last tick.  # (6 + n,)
        period: Time between two ticks [s].
    """

    def __init__(
        self,
        robot: RobotModel,
        part: str,
        tasks: Sequence[WholeBodyTask],
        *,
        period: float,
        joints: Sequence[str] = (),
        distances: Sequence[DistanceLimit] = (),
        damping: float = 1e-6,
    ) -> None:
        """Begin in the initial configuration.

        Args:
            robot: The robot.
            part: Name of a body of the robot, without its prefix.
            tasks: The tasks.
            period: Time between two ticks [s].
            joints: Names of the joints that move; empty for all. The others stay in their initial
                positions.
            distances: Pairs of bodies that stay apart.
            damping: Weight r of the velocities.

        Raises:
            UserInputError: A joint or a body does not exist, or the robot has no floating base.
        """
        if not period > 0.0:
            raise UserInputError(f"period must be positive, got {period:g}")
        for name in joints:
            if name not in robot.joints:
                raise unknown("joint", name, robot.joints)
        names = joints or robot.joints
        self.joints = chosen = np.array([robot.joints.index(name) for name in names])
        self.period = period
        part = robot.prefix + part
        self.body = body = FloatingBaseKinematics(
            robot.model, robot.qpos[chosen], robot.dof[chosen], part
        )
        body.data.qpos[robot.qpos] = robot.home
        body.refresh()
        self._lower, self._upper = robot.lower[chosen], robot.upper[chosen]
        self._fastest = np.minimum(_MARGIN * robot.velocity[chosen], _UNLIMITED)
        self._slowest = -self._fastest
        size = body.size
        self.velocity = np.zeros(size)
        self._hessian, self._gradient = np.zeros((size, size)), np.zeros(size)
        self._damping = damping * np.eye(size)
        self.distances = tuple(distances)
        for distance in self.distances:
            distance.resolve(body, robot.prefix)
        rows = size + len(self.distances)
        self._highest, self._lowest = np.full(rows, _UNLIMITED), np.full(rows, -_UNLIMITED)
        self._rows = np.zeros((len(self.distances), size))
        self._rows[:, 0] = 1.0  # without a bound
        self._sense = np.zeros(rows, dtype=np.int32)
        self._sense[size:] = _SOFT
        self._program: daqp.Model | None = None
        self.tasks = tuple(tasks)

    @property
    def tasks(self) -> tuple[WholeBodyTask, ...]:
        """The tasks; new ones take effect at the next step."""
        return self._tasks

    @tasks.setter
    def tasks(self, tasks: Sequence[WholeBodyTask]) -> None:
        rows, size = sum(task.rows for task in tasks), self.body.size
        self._tasks = tuple(tasks)
        self._jacobians, self._targets = np.zeros((rows, size)), np.zeros(rows)
        self._scaled, self._wanted = np.zeros((rows, size)), np.zeros(rows)
        self._weights = np.zeros(rows)
        first = 0
        for task in self._tasks:
            last = first + task.rows
            task.bind(self._jacobians[first:last], self._targets[first:last])
            first = last

    def start(self, position: np.ndarray, quat_wxyz: np.ndarray, q: np.ndarray) -> None:
        """Begin in a configuration; q are the joints that move.  # (n,)"""
        self.body.update(position, quat_wxyz, np.clip(q, self._lower, self._upper))
        self.velocity[:] = 0.0
        self._program = None

    def step(self) -> None:
        """Compute the velocities of the next period, and move the reference configuration.

        Raises:
            ArithmeticError: The solver fails, e.g. because a target is not finite.
        """
        body, period = self.body, self.period
        first = 0
        for task in self.tasks:
            task.compute(body, period)
            np.sqrt(task.weight, out=self._weights[first : first + task.rows])
            first += task.rows
        np.multiply(self._jacobians, self._weights[:, None], out=self._scaled)
        np.multiply(self._targets, self._weights, out=self._wanted)
        np.matmul(self._scaled.T, self._scaled, out=self._hessian)
        self._hessian += self._damping
        np.matmul(self._wanted, self._scaled, out=self._gradient)
        np.negative(self._gradient, out=self._gradient)
        self._limit(body.q, period)
        for number, distance in enumerate(self.distances):
            lowest = distance.compute(body, self._rows[number])
            self._lowest[body.size + number] = -_UNLIMITED if lowest is None else lowest
        velocity = self._solve()
        self.velocity[:] = velocity
        body.integrate(self.velocity, period)

    @property
    def q(self) -> np.ndarray:
        """Reference positions of the joints that move [rad or m].  # (n,)"""
        return self.body.q

    @property
    def dq(self) -> np.ndarray:
        """View of the reference velocities of the joints that move [rad/s or m/s].  # (n,)"""
        return self.velocity[6:]

    def _limit(self, q: np.ndarray, period: float) -> None:
        size, fastest = self.body.size, self._fastest
        high, low = self._highest[6:size], self._lowest[6:size]
        np.subtract(self._upper, q, out=high)
        high /= period
        np.minimum(high, fastest, out=high)
        np.maximum(high, 0.0, out=high)
        np.subtract(self._lower, q, out=low)
        low /= period
        np.maximum(low, self._slowest, out=low)
        np.minimum(low, 0.0, out=low)

    def _solve(self) -> np.ndarray:
        if not (np.isfinite(self._gradient).all() and np.isfinite(self._hessian).all()):
            raise ArithmeticError("a target of whole-body control is not a finite number")
        program = self._program
        if program is None:
            self._program = program = daqp.Model()
            flag, _ = program.setup(
                *(self._hessian, self._gradient, self._rows, self._highest, self._lowest),
                self._sense,
            )
        else:
            rows = {"A": self._rows} if self.distances else {}
            flag = program.update(
                H=self._hessian,
                f=self._gradient,
                bupper=self._highest,
                blower=self._lowest,
                **rows,
            )
        if flag >= 0:
            velocity, _, flag, _ = program.solve()
            if flag > 0:
                return np.asarray(velocity)
        self._program = None
        raise ArithmeticError(f"whole-body control found no velocities (DAQP: {flag})")
