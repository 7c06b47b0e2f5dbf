"""Motions that start within the margin of an obstacle must lead away from it."""

from collections.abc import Iterable, Iterator

import numpy as np

from mujoco_ros.controllers.planning.collisions.collision_checker import CollisionChecker
from mujoco_ros.controllers.planning.errors import CollisionError

_RESOLUTION = 1e-3
"""Longest motion of a point between two checks within the margin [m]."""
_MAX_DEPTH = 1e-3
"""Deepest overlap at the start [m]: contacts are soft, and measurements are not exact."""
_TOLERANCE = 2e-4
"""A distance may decrease by this much on the escape [m]."""
_RANGES = (0.02, 0.05, 0.1, 0.2)
"""Ranges of the joints for random escapes [rad or m]."""
_TRIES = 40
"""Random escapes per range."""


def refinement(checker: CollisionChecker) -> int:
    """Return the factor on the number of checks for the part within the margin."""
    return int(np.ceil(2.0 * checker.scene.margin / _RESOLUTION))


def first_clear(
    checker: CollisionChecker, configurations: Iterable[np.ndarray], margin_scale: float = 1.0
) -> int | None:
    """Return the index of the first configuration of a path that keeps the margin.

    Before it, the distances of pairs that are within the margin at the start only increase, and no
    other pair comes within the margin.

    Args:
        checker: Collision checks.
        configurations: The path, in steps refined by `refinement`.
        margin_scale: Factor on the margin.

    Returns:
        The index, or None if there is no such configuration.
    """
    least: dict[tuple[int, int], float] = {}
    for number, q in enumerate(configurations):
        now = checker.pairs_within(q, margin_scale)
        if not now:
            return number
        if number == 0:
            least = dict.fromkeys(now, -_MAX_DEPTH)
        if any(distance < least.get(pair, np.inf) for pair, distance in now.items()):
            return None
        least = {pair: max(least[pair], now[pair] - _TOLERANCE) for pair in now}
    return None


def escape(
    checker: CollisionChecker, start: np.ndarray, goal: np.ndarray, *, seed: int
) -> np.ndarray:
    """Return a configuration that keeps the margin and is on a straight escape from `start`.

    Its direction is towards `goal` if that leads away, else random.

    Raises:
        CollisionError: There is a deep collision at the start, or no escape.
    """
    for target in _targets(checker, start, goal, np.random.default_rng(seed)):
        steps = checker.step_count(start, target) * refinement(checker)
        line = [start + part * (target - start) for part in np.linspace(0.0, 1.0, 1 + steps)]
        number = first_clear(checker, line)
        if number is not None:
            return np.asarray(line[number])
    raise CollisionError(f"at the start {checker.deepest_pair(start)}")


def _targets(
    checker: CollisionChecker, start: np.ndarray, goal: np.ndarray, random: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield configurations near `start`, the closest first."""
    far = float(np.abs(goal - start).max())
    yield start + min(1.0, _RANGES[-1] / max(far, 1e-9)) * (goal - start)
    for reach in _RANGES:
        for _ in range(_TRIES):
            target = start + random.uniform(-reach, reach, len(start))
            target = np.clip(target, checker.chain.lower, checker.chain.upper)
            if checker.is_free(target):
                yield target
