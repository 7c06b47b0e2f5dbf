"""Delays of commands, as of a fieldbus, and of the poses of objects, as of a camera."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Generic, TypeVar

import numpy as np

from mujoco_ros.controllers.evaluation.observation_noise import ObservationFilter
from mujoco_ros.controllers.interface.observation import Observation, Pose

CommandFilter = Callable[[float, np.ndarray], np.ndarray]
"""Returns the commands (3, n) that act after the tick at a time [s], given those of the tick."""
_ROUNDING = 1e-6
"""Of the times of ticks [s]."""
_T = TypeVar("_T")


def delayed_commands(delay: float) -> CommandFilter:
    """Return a filter that delays commands by `delay` [s]; the first ones act at once."""
    line: _DelayLine[np.ndarray] = _DelayLine(delay)
    return lambda time, values: line.pass_through(time, values.copy())[1]


def delayed_poses(delay: float, inner: ObservationFilter) -> ObservationFilter:
    """Return a filter that delays the poses of objects by `delay` [s], after an inner filter.

    `Observation.object_times` has the times of the measurements. The first poses are those of the
    first observation, until later ones are old enough. Each of several robots has its own poses.
    """
    lines: dict[str, _DelayLine[Mapping[str, Pose]]] = {}

    def of_one(seen: Observation, robot: str = "") -> Observation:
        line = lines.setdefault(robot, _DelayLine(delay))
        time, objects = line.pass_through(seen.time, seen.objects)
        return replace(seen, objects=objects, object_times=dict.fromkeys(objects, time))

    def apply(observation: Observation) -> Observation:
        seen = inner(observation)
        if not seen.robots:
            return of_one(seen)
        return Observation.of_several(
            {name: of_one(own, name) for name, own in seen.robots.items()}
        )

    return apply if delay > 0.0 else inner


class _DelayLine(Generic[_T]):
    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._samples: deque[tuple[float, _T]] = deque()

    def pass_through(self, time: float, value: _T) -> tuple[float, _T]:
        """Add a value; return the newest that is old enough, or the first one, with its time."""
        samples = self._samples
        samples.append((time, value))
        while len(samples) > 1 and samples[1][0] <= time - self._delay + _ROUNDING:
            samples.popleft()
        return samples[0]
