"""Motions that begin nearer to something than they may come: they must lead away from it."""

from collections.abc import Iterable, Iterator

import numpy as np

from mujoco_ros.controllers.planning.collisions.collisions import Collisions
from mujoco_ros.controllers.planning.errors import CollisionError

_FINE = 1e-3
"""How far a point moves at most between two looks at what is left [m]."""
_DENT = 1e-3
"""How deep a start may be in something [m]: contacts are soft, and measurements are not exact."""
_BACK = 2e-4
"""How much nearer it may come again on its way [m]."""
_REACHES = (0.02, 0.05, 0.1, 0.2)
"""How far joints go to leave something [rad or m]."""
_TRIES = 40
"""For each of these."""


def finer(collisions: Collisions) -> int:
    """Return into how many parts to divide a step while something is left."""
    return int(np.ceil(2.0 * collisions.surroundings.margin / _FINE))


def left(collisions: Collisions, postures: Iterable[np.ndarray], share: float = 1.0) -> int | None:
    """Return from which posture on a share of the margin is kept.

    Whatever is nearer at the first posture may get farther only, and nothing else may come near.

    Args:
        collisions: Tells the distances.
        postures: The way, in steps as small as `finer` says.
        share: Of the margin.

    Returns:
        The number of the posture; None if something comes nearer before, overlaps at the start, or
        if the margin is never kept.
    """
    least: dict[tuple[int, int], float] = {}
    for number, q in enumerate(postures):
        now = collisions.near(q, share)
        if not now:
            return number
        if number == 0:
            least = dict.fromkeys(now, -_DENT)
        if any(distance < least.get(pair, np.inf) for pair, distance in now.items()):
            return None
        least = {pair: max(least[pair], now[pair] - _BACK) for pair in now}
    return None


def way_out(
    collisions: Collisions, start: np.ndarray, goal: np.ndarray, *, seed: int
) -> np.ndarray:
    """Return a posture that keeps the margin, and to which a straight way leads from `start`.

    Towards `goal` if that leads away from what is near, else anywhere.

    Raises:
        CollisionError: Something overlaps at the start, or no way leads out.
    """
    for there in _ways(collisions, start, goal, np.random.default_rng(seed)):
        steps = collisions.steps(start, there) * finer(collisions)
        way = [start + part * (there - start) for part in np.linspace(0.0, 1.0, 1 + steps)]
        number = left(collisions, way)
        if number is not None:
            return np.asarray(way[number])
    raise CollisionError(f"at the start {collisions.touching(start)}")


def _ways(
    collisions: Collisions, start: np.ndarray, goal: np.ndarray, random: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield postures near `start`, the nearer ones first."""
    far = float(np.abs(goal - start).max())
    yield start + min(1.0, _REACHES[-1] / max(far, 1e-9)) * (goal - start)
    for reach in _REACHES:
        for _ in range(_TRIES):
            there = start + random.uniform(-reach, reach, len(start))
            there = np.clip(there, collisions.chain.lower, collisions.chain.upper)
            if collisions.free(there):
                yield there
