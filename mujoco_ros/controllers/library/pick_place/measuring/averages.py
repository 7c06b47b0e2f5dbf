"""Averages of noisy measurements at rest, and whether they are complete."""

from collections import deque
from math import inf, sqrt

import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.model.pose import Pose

_MIN_SAMPLES = 4
_STILL = 0.001
"""Largest motion of an object at rest during its measurement [m], beyond the noise."""
_SIGNIFICANT = 3.5
"""Standard errors beyond which a difference is not noise."""


class Average:
    """Mean of a number, and its standard error."""

    def __init__(self) -> None:
        self.count = 0
        self._sum = self._squares = 0.0

    def add(self, value: float) -> None:
        """Add a measurement."""
        self.count += 1
        self._sum += value
        self._squares += value * value

    @property
    def mean(self) -> float:
        """The mean; NaN without measurements."""
        return self._sum / self.count if self.count else float("nan")

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; inf with fewer than two measurements."""
        if self.count < 2:
            return inf
        variance = (self._squares - self._sum * self._sum / self.count) / (self.count - 1)
        return sqrt(max(variance, 0.0) / self.count)


class PoseAverage:
    """Mean pose of an object at rest.

    Repeated measurements, and those from before a time, do not count. The window moves on while the
    object moves.
    """

    def __init__(self, since: float, duration: float) -> None:
        """Average measurements of the last `duration` [s], all made after `since` [s]."""
        self._since, self._duration = since, duration
        self._samples: deque[tuple[float, np.ndarray, np.ndarray]] = deque()

    def add(self, context: StateContext, name: str) -> None:
        """Add the observed pose of an object, if it has one."""
        observation = context.observation
        pose = observation.objects.get(name)
        if pose is None:
            return
        time, samples = observation.object_times.get(name, observation.time), self._samples
        if time < self._since or (samples and time <= samples[-1][0]):
            return
        quat = pose.quat_wxyz
        if samples and quat @ samples[0][2] < 0.0:
            quat = -quat
        samples.append((time, pose.position, quat))
        while samples[-1][0] - samples[0][0] > self._duration + 0.5 * context.period:
            samples.popleft()

    def pose(self, period: float) -> Pose | None:
        """Return the mean pose; None until the window is full and the object at rest in it.

        Args:
            period: Time between two ticks [s].
        """
        samples = self._samples
        count = len(samples)
        if count < _MIN_SAMPLES or samples[-1][0] - samples[0][0] < self._duration - 1.5 * period:
            return None
        positions = np.array([it[1] for it in samples])
        half = count // 2
        first, second = positions[:half], positions[half:]
        motion = np.linalg.norm(first.mean(0) - second.mean(0))
        variance = (first.var(0).sum() + second.var(0).sum()) / 2.0
        if motion > _STILL + _SIGNIFICANT * sqrt(4.0 * variance / count):
            return None
        quat = np.sum([it[2] for it in samples], axis=0)
        return Pose(position=positions.mean(0), quat_wxyz=quat / np.linalg.norm(quat))
