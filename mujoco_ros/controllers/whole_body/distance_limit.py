"""Least distances between bodies, as constraints of whole-body control."""

from dataclasses import KW_ONLY, dataclass, field
from itertools import product
from math import hypot, inf

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.kinematics.chain import tool_ids
from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.model.errors import UserInputError


@dataclass(eq=False)
class DistanceLimit:
    """Keeps two bodies of a robot apart, by the distance d of their collision geometry.

    Bodies nearer than `begins` approach each other with at most
    ``fastest · (d - least) / (begins - least)``; those nearer than `least` move apart.

    Source: B. Faverjon, P. Tournassoud, A Local Based Approach for Path Planning of Manipulators
    with a High Number of Degrees of Freedom, ICRA 1987 (the velocity damper).
    """

    first: str  # name of the one body, without the prefix
    second: str  # name of the other
    _: KW_ONLY
    least: float = 0.02  # least distance [m]
    begins: float = 0.08  # distance from which on velocities are limited [m]
    fastest: float = 0.5  # largest velocity of approach at this distance [m/s]
    # Distance at the last `compute`; inf above `begins` [m]
    distance: float = field(default=inf, init=False)

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise UserInputError(f"a distance needs two bodies, got '{self.first}' twice")
        if not 0.0 <= self.least < self.begins:
            raise UserInputError(
                f"least must be from 0 to less than begins {self.begins:g}, got {self.least:g}"
            )
        if not self.fastest > 0.0:
            raise UserInputError(f"fastest must be positive, got {self.fastest:g}")
        self._pairs: list[tuple[int, int, float]] = []
        self._points, self._nearest = np.zeros(6), np.zeros(6)

    def resolve(self, body: FloatingBaseKinematics, prefix: str) -> None:
        """Find the collision geometry of a robot; UserInputError if a body has none."""
        model, geoms = body.model, []
        for name in (self.first, self.second):
            _, number = tool_ids(model, prefix + name)
            collides = (model.geom_contype | model.geom_conaffinity) != 0
            found = np.flatnonzero((model.geom_bodyid == number) & collides).tolist()
            if not found:
                raise UserInputError(f"body '{name}' has no collision geometry")
            geoms.append(found)
        reach = model.geom_rbound
        self._pairs = [(a, b, float(reach[a] + reach[b])) for a, b in product(*geoms)]
        self._bodies = tuple(int(model.geom_bodyid[found[0]]) for found in geoms)
        self._jacobians = np.zeros((2, 6, body.size))

    def compute(self, body: FloatingBaseKinematics, row: np.ndarray) -> float | None:
        """Write what multiplies the velocities into `row` (6 + n,), and return its lower bound.

        That is the least rate of the distance [m/s]; None while the bodies are far apart.
        """
        model, data, points = body.model, body.data, self._points
        self.distance, centres = inf, data.geom_xpos
        for first, second, reach in self._pairs:
            x, y, z = (centres[second] - centres[first]).tolist()
            if hypot(x, y, z) - reach > self.begins:
                continue
            distance = mujoco.mj_geomDistance(model, data, first, second, self.begins, points)
            if distance < min(self.distance, self.begins):
                self.distance, self._nearest[:] = distance, points
        if self.distance >= self.begins:
            return None
        start, end = self._nearest[:3], self._nearest[3:]
        normal = end - start
        size = float(np.linalg.norm(normal))
        if size < 1e-9:
            return None  # the direction is unknown
        normal /= size if self.distance > 0.0 else -size
        one, other = self._jacobians
        body.jacobian(start, self._bodies[0], one)
        body.jacobian(end, self._bodies[1], other)
        np.subtract(other, one, out=other)
        np.matmul(normal, other[:3], out=row)
        left = (self.distance - self.least) / (self.begins - self.least)
        return -self.fastest * left
