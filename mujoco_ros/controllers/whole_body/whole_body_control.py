"""Joint velocities that fulfil weighted tasks within the limits of the joints.

Its base, the quadratic program of a robot and weighted tasks, is also of inverse dynamics.
"""

from collections.abc import Sequence

import daqp
import numpy as np

from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.whole_body.distance_limit import DistanceLimit
from mujoco_ros.controllers.whole_body.tasks import WholeBodyTask
from mujoco_ros.model.errors import UserInputError, unknown

_MARGIN = 0.95  # part of the velocity limits that is used, for interpolation between ticks
UNLIMITED = 1e30
"""What DAQP takes for infinity."""
SOFT, EQUAL = 8, 5
"""What DAQP takes for a constraint that may be violated where no solution fulfils all of them, and
for an equality."""


class WholeBodyProgram:
    """A quadratic program in memory that is allocated once.

    Its variables are one for each degree of freedom, then others. Its bounds are first of the
    variables, then of the rows.
    """

    _fixed: tuple[WholeBodyTask, ...] = ()
    """Tasks of a control itself, which follow the others."""

    def __init__(
        self,
        robot: RobotModel,
        part: str,
        *,
        period: float,
        joints: Sequence[str] = (),
        others: int = 0,
        rows: int = 0,
    ) -> None:
        """Begin in the initial configuration.

        Args:
            part: Name of a body of the robot, without its prefix.
            period: Time between two ticks [s].
            joints: Names of the joints that move; empty for all. The others stay in their initial
                positions.
            others: Number of variables after the degrees of freedom.
            rows: Number of constraints besides bounds of the variables.
        """
        if not period > 0.0:
            raise UserInputError(f"period must be positive, got {period:g}")
        for name in joints:
            if name not in robot.joints:
                raise unknown("joint", name, robot.joints)
        names = joints or robot.joints
        # Indices of the robot's joints that move (n,)
        self.joints = chosen = np.array([robot.joints.index(name) for name in names])
        self.period = period  # time between two ticks [s]
        # Kinematics of the robot
        self.body = body = FloatingBaseKinematics(
            robot.model, robot.qpos[chosen], robot.dof[chosen], robot.prefix + part
        )
        body.data.qpos[robot.qpos] = robot.home
        body.refresh()
        self._lower, self._upper = robot.lower[chosen], robot.upper[chosen]
        size = body.size + others
        self._hessian, self._gradient = np.zeros((size, size)), np.zeros(size)
        self._rows = np.zeros((rows, size))
        total = size + rows
        self._highest, self._lowest = np.full(total, UNLIMITED), np.full(total, -UNLIMITED)
        self._sense = np.zeros(total, dtype=np.int32)
        self._program: daqp.Model | None = None
        self.tasks = ()

    @property
    def tasks(self) -> tuple[WholeBodyTask, ...]:
        """The tasks; new ones take effect at the next step."""
        return self._tasks[: len(self._tasks) - len(self._fixed)]

    @tasks.setter
    def tasks(self, tasks: Sequence[WholeBodyTask]) -> None:
        self._tasks = (*tasks, *self._fixed)
        rows, size = sum(task.rows for task in self._tasks), self.body.size
        self._jacobians, self._targets = np.zeros((rows, size)), np.zeros(rows)
        self._scaled, self._wanted = np.zeros((rows, size)), np.zeros(rows)
        self._weights, self._drift = np.zeros(rows), np.zeros(rows)
        self._used: list[tuple[WholeBodyTask, slice]] = []
        first = 0
        for task in self._tasks:
            last = first + task.rows
            task.bind(self._jacobians[first:last], self._targets[first:last])
            first = last

    def _compute_tasks(self) -> None:
        """Compute weights, and Jacobians and targets of all tasks that have one."""
        first = 0
        self._used.clear()
        for task in self._tasks:
            last = first + task.rows
            np.sqrt(task.weight, out=self._weights[first:last])
            if task.weight.any():
                task.compute(self.body, self.period)
                self._used.append((task, slice(first, last)))
            else:
                self._targets[first:last] = 0.0
            first = last

    def _weigh_tasks(self, hessian: np.ndarray, gradient: np.ndarray) -> None:
        """Write the weighted squares of all errors into views of hessian and gradient."""
        np.multiply(self._jacobians, self._weights[:, None], out=self._scaled)
        np.multiply(self._targets, self._weights, out=self._wanted)
        np.matmul(self._scaled.T, self._scaled, out=hessian)
        np.matmul(self._wanted, self._scaled, out=gradient)
        np.negative(gradient, out=gradient)

    def _solve(self, result: str) -> np.ndarray:
        """Return the variables; ArithmeticError if there is no solution, i.e. no `result`."""
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
            rows = {"A": self._rows} if len(self._rows) else {}
            flag = program.update(
                H=self._hessian,
                f=self._gradient,
                bupper=self._highest,
                blower=self._lowest,
                **rows,
            )
        if flag >= 0:
            variables, _, flag, _ = program.solve()
            if flag > 0:
                return np.asarray(variables)
        self._program = None
        raise ArithmeticError(f"whole-body control found no {result} (DAQP: {flag})")


class WholeBodyControl(WholeBodyProgram):
    """A floating-base robot whose joints follow tasks.

    At each tick, the velocities v of base and joints minimise Σ wᵢ (Jᵢ v − vᵢ)² + r |v|², within
    the limits of position and velocity of the joints, and of the distances of bodies. They are
    integrated into a configuration, which is the reference of position-controlled joints. Contacts
    are frame tasks with a large weight, and distances yield to the limits of the joints, so that
    the program always has a solution.

    Attributes:
        body: The reference configuration.
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

        Args, besides the arguments of `WholeBodyProgram`:
            distances: Pairs of bodies that stay apart.
            damping: Weight r of the velocities.
        """
        distances = tuple(distances)
        super().__init__(robot, part, period=period, joints=joints, rows=len(distances))
        body, size = self.body, self.body.size
        fastest = np.minimum(_MARGIN * robot.velocity, UNLIMITED)
        self._fastest = fastest[self.joints]
        self._slowest = -self._fastest
        self.velocity = np.zeros(size)  # velocities of the last tick (6 + n,)
        self._damping = damping * np.eye(size)
        self.distances = distances  # the limits of distances
        for distance in distances:
            distance.resolve(body, robot.prefix)
        self._rows[:, 0] = 1.0  # without a bound
        self._sense[size:] = SOFT
        self.tasks = tuple(tasks)

    def start(self, position: np.ndarray, quat_wxyz: np.ndarray, q: np.ndarray) -> None:
        """Begin in a configuration; q are the joints that move.  # (n,)"""
        self.body.update(position, quat_wxyz, np.clip(q, self._lower, self._upper))
        self.velocity[:] = 0.0
        self._program = None

    def step(self) -> None:
        """Compute the velocities of the next period, and move the reference configuration.

        ArithmeticError if the solver fails, e.g. because a target is not finite.
        """
        body, period = self.body, self.period
        self._compute_tasks()
        self._weigh_tasks(self._hessian, self._gradient)
        self._hessian += self._damping
        self._limit(body.q, period)
        for number, distance in enumerate(self.distances):
            lowest = distance.compute(body, self._rows[number])
            self._lowest[body.size + number] = -UNLIMITED if lowest is None else lowest
        velocity = self._solve("velocities")
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
