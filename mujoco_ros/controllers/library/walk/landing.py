"""Contact of the swing foot that comes early or late."""

import numpy as np

from mujoco_ros.controllers.library.walk.swing import APPROACH_VELOCITY, TOUCHDOWN

_EARLIEST = 0.5
"""Part of the swing before which the foot is still rising, so that a load is not the ground."""
_TOUCH, _REST, _LOST = 0.1, 0.08, 0.02
"""Load at which the foot has landed, load while it waits for the end of the swing, and load below
which it has lost the ground again, as parts of the weight."""
_DEEPEST = 0.04
"""Largest depth of this search [m]."""
_COMPLIANCE = 1e-4
"""Vertical velocity of a landed foot per error of its load [m/(s N)]."""
_FASTEST = 0.1
"""Largest such velocity [m/s]."""
_SMOOTH = 2.0
"""Largest change of the vertical velocity [m/s²]: a stiff leg that follows a jump bounces."""


class Landing:
    """Stops the swing foot where it touches the ground, and lowers it until it does.

    Attributes:
        has_landed: Whether the foot is on the ground.
        position: Position of the sole at the last step [m].  # (3,)
    """

    def __init__(self, weight: float) -> None:
        """Use the weight of the robot [N]."""
        self._weight = weight
        self.position = np.zeros(3)
        self.begin()
        self.has_landed = True

    def begin(self) -> None:
        """Begin a swing."""
        self.has_landed = False
        self._depth = self._velocity = 0.0

    def step(self, planned: np.ndarray, progress: float, load: float, period: float) -> None:
        """Continue by a tick.

        Args:
            planned: Position of the sole in the swing [m].  # (3,)
            progress: Part of the swing that is over.
            load: Measured vertical force on the foot [N].
            period: [s]
        """
        if not self.has_landed and progress > _EARLIEST and load > _TOUCH * self._weight:
            self.has_landed = True
        if self.has_landed:
            self.position[2] += self._comply(load, period)
            return
        if progress > TOUCHDOWN:
            self._lower(period)
        self.position[:] = planned
        self.position[2] -= self._depth

    def search(self, load: float, period: float) -> float:
        """Return by how much the foot moves down in double support, if it has not landed [m].

        Args:
            load: Measured vertical force on the foot [N].
            period: [s]
        """
        if not self.has_landed and load > _TOUCH * self._weight:
            self.has_landed = True
        if self.has_landed:
            return -min(0.0, self._comply(load, period))
        return self._lower(period)

    def _lower(self, period: float) -> float:
        """Return by how much the foot is lowered in a tick, at most to the largest depth [m]."""
        down = max(0.0, min(APPROACH_VELOCITY * period, _DEEPEST - self._depth))
        self._depth += down
        return down

    def _comply(self, load: float, period: float) -> float:
        """Return by how much a foot that has landed moves up in a tick [m].

        If only a corner has touched, and has slipped, it continues down.
        """
        velocity = min(_COMPLIANCE * (load - _REST * self._weight), _FASTEST)
        missing = 1.0 - load / (_LOST * self._weight)
        if missing > 0.0:
            velocity = -APPROACH_VELOCITY * min(missing, 1.0) if self._depth < _DEEPEST else 0.0
        step = _SMOOTH * period
        self._velocity += min(max(velocity - self._velocity, -step), step)
        up = self._velocity * period
        self._depth += max(0.0, -up)
        return up
