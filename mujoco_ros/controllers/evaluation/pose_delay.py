"""Delay of the poses of objects, as of a camera or a marker tracker."""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from mujoco_ros.controllers.evaluation.observation_noise import ObservationFilter
from mujoco_ros.controllers.interface.observation import Observation, Pose

_ROUNDING = 1e-6
"""Of the times of ticks [s]."""
_Sample = tuple[float, Mapping[str, Pose]]


def delayed(delay: float, inner: ObservationFilter) -> ObservationFilter:
    """Return a filter that delays the poses of objects by `delay` [s], after an inner filter.

    `Observation.object_times` has the times of the measurements. The first poses are those of the
    first observation, until later ones are old enough. Each of several robots has its own poses.
    """
    single = _Delay(delay)
    several: dict[str, _Delay] = {}

    def apply(observation: Observation) -> Observation:
        seen = inner(observation)
        if not seen.robots:
            return single.apply(seen)
        return Observation.of_several(
            {
                name: several.setdefault(name, _Delay(delay)).apply(own)
                for name, own in seen.robots.items()
            }
        )

    return apply if delay > 0.0 else inner


class _Delay:
    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._samples: deque[_Sample] = deque()

    def apply(self, seen: Observation) -> Observation:
        samples = self._samples
        samples.append((seen.time, seen.objects))
        while len(samples) > 1 and samples[1][0] <= seen.time - self._delay + _ROUNDING:
            samples.popleft()
        time, objects = samples[0]
        return replace(seen, objects=objects, object_times=dict.fromkeys(objects, time))
