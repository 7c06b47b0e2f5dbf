"""Joint velocities that fulfil weighted tasks within the limits of the joints."""

from collections.abc import Sequence

import numpy as np

from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.whole_body.distance_limit import DistanceLimit
from mujoco_ros.controllers.whole_body.program import SOFT, UNLIMITED, WholeBodyProgram
from mujoco_ros.controllers.whole_body.tasks import WholeBodyTask

_MARGIN = 0.95
"""Part of the velocity limits that is used, for interpolation between ticks."""


class WholeBodyControl(WholeBodyProgram):
    """A floating-base robot whose joints follow tasks.

    At each tick, the velocities v of base and joints minimise Σ wᵢ (Jᵢ v − vᵢ)² + r |v|², within
    the limits of position and velocity of the joints, and of the distances of bodies. They are
    integrated into a configuration, which is the reference of position-controlled joints. Contacts
    are frame tasks with a large weight, and distances yield to the limits of the joints, so that
    the program always has a solution.

    Attributes:
        body: The reference configuration.
        distances: The limits of distances.
        velocity: Velocities of the last tick.  # (6 + n,)
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
        self.velocity = np.zeros(size)
        self._damping = damping * np.eye(size)
        self.distances = distances
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
