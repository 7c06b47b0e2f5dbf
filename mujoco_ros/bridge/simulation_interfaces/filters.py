"""Filters of entities, named poses and worlds in requests."""

import itertools
import math
import re
import time
from collections.abc import Callable, Sequence

import numpy as np
from simulation_interfaces.msg import Bounds, EntityFilters, EntityInfo, TagsFilter

from mujoco_ros.bridge.simulation_interfaces.entities.messages import read_points
from mujoco_ros.rclpy_ext.service import RequestRejectedError
from mujoco_ros.sim.observer import BoundingBox

LONGEST = 500  # characters
MOST_REPEATS = 1000
BUDGET_S = 0.05  # processor time
_COUNT = re.compile(r"\{(?:\d*,)?(\d+)")


class Pattern:
    """A compiled expression: POSIX extended, as simulation_interfaces requires.

    Any client can send one, and some expressions need exponential time; so all searches of a
    pattern share one budget of processor time. They release the GIL.
    """

    def __init__(self, expression: str) -> None:
        if len(expression) > LONGEST:
            raise RequestRejectedError(f"filter: {len(expression)} characters; limit {LONGEST}")
        if "(?" in expression:  # the library's own groups, some of which bypass these checks
            raise RequestRejectedError(f"filter: '{expression}' is malformed: nothing before '?'")
        # The library expands counted repeats, and nested ones multiply.
        repeats = math.prod(max(1, int(count)) for count in _COUNT.findall(expression))
        if repeats > MOST_REPEATS:
            raise RequestRejectedError(f"filter: {repeats} repeats; {MOST_REPEATS} are possible")
        import regex  # which few clients need

        try:
            self._compiled = regex.compile(expression, regex.POSIX)
        except (regex.error, OverflowError, RecursionError) as error:
            raise RequestRejectedError(f"filter: '{expression}' is malformed: {error}") from error
        self._left_s = BUDGET_S

    def search(self, text: str) -> bool:
        """Return whether the expression matches in `text`, unless the budget is used up."""
        while self._left_s > 0:
            # The library limits wall time, of which other processes may have taken a part.
            began = time.thread_time()
            try:
                return bool(self._compiled.search(text, concurrent=True, timeout=self._left_s))
            except TimeoutError:
                pass
            finally:
                self._left_s -= time.thread_time() - began
        raise RequestRejectedError(f"filter: '{self._compiled.pattern}' takes too long to match")


_MOST_ROUNDS = 100
_TOUCHING = 1e-12
_TINY = 1e-14
Overlaps = Callable[[BoundingBox], bool]


def with_box(bounds: BoundingBox) -> Overlaps:
    """Return the function that decides whether a box overlaps with another one."""
    return lambda box: bool(np.all(bounds.low <= box.high) and np.all(box.low <= bounds.high))


def with_sphere(centre: np.ndarray, radius: float) -> Overlaps:
    """Return the function that decides whether a box overlaps with a sphere."""

    def overlaps(box: BoundingBox) -> bool:
        nearest = np.clip(centre, box.low, box.high)
        return bool(np.sum((nearest - centre) ** 2) <= radius**2)

    return overlaps


def with_hull(points: np.ndarray) -> Overlaps:
    """Return the function that decides whether a box overlaps with the hull of points (n, 3)."""
    return lambda box: (
        not _separated(
            points, np.array(list(itertools.product(*zip(box.low, box.high, strict=True))))
        )
    )


def _separated(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether a plane separates the hulls of two sets of points.  # (n, 3), (m, 3).

    `gap` converges to the shortest vector from b's hull to a's, which is the point nearest to the
    origin in the hull of the differences (Wolfe's algorithm); the plane normal to it is tested.
    """
    corners, weights = (a[:1] - b[0]), np.ones(1)
    for _ in range(_MOST_ROUNDS):
        gap = weights @ corners
        extreme = a[np.argmin(a @ gap)] - b[np.argmax(b @ gap)]
        if gap @ extreme > 0.0:
            return True
        if gap @ (gap - extreme) <= _TOUCHING * (gap @ gap + extreme @ extreme):
            return False
        corners, weights = _nearest(np.vstack([corners, extreme]), np.append(weights, 0.0))
    return False


def _nearest(corners: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners and weights whose mean is nearest to the origin in their hull."""
    while True:
        count = len(corners)
        system = np.ones((count + 1, count + 1))
        system[:count, :count] = corners @ corners.T
        system[count, count] = 0.0
        flat = np.linalg.lstsq(system, np.append(np.zeros(count), 1.0))[0][:count]
        outside = flat <= 0.0
        if not outside.any() or count == 1:
            return corners, flat
        reach = np.min(weights[outside] / (weights[outside] - flat[outside] + _TINY))
        weights = (1.0 - reach) * weights + reach * flat
        keep = weights > _TINY
        if keep.all():
            keep[np.argmin(weights)] = False
        corners, weights = corners[keep], weights[keep] / weights[keep].sum()


class EntityFilter:
    """A filter of entities; an empty field of the message passes all."""

    def __init__(self, filters: EntityFilters) -> None:
        self._pattern = Pattern(filters.filter) if filters.filter else None
        self._categories = {category.category for category in filters.categories}
        self._tags = tags_filter(filters.tags)
        # Returns whether an entity's box, in the world frame, overlaps with the requested bounds;
        # None if there are none
        self.overlaps: Overlaps | None = None
        bounds = getattr(filters, "bounds", Bounds())  # older versions have none
        if bounds.type != Bounds.TYPE_EMPTY:
            self.overlaps = _overlaps(bounds)

    def passes(self, name: str, info: EntityInfo) -> bool:
        """Return whether an entity passes, apart from its bounds."""
        if self._categories and info.category.category not in self._categories:
            return False
        if not self._tags(info.tags):
            return False
        return self._pattern is None or self._pattern.search(name)

    def holds(self, box: BoundingBox | None) -> bool:
        """Return whether the box of an entity passes; None overlaps with no bounds."""
        return self.overlaps is None or (box is not None and self.overlaps(box))


def tags_filter(message: TagsFilter) -> Callable[[Sequence[str]], bool]:
    """Return the function that decides whether tags pass."""
    wanted = set(message.tags)
    if message.filter_mode not in (TagsFilter.FILTER_MODE_ANY, TagsFilter.FILTER_MODE_ALL):
        raise RequestRejectedError(
            f"tags: filter_mode must be 0 (any) or 1 (all), got {message.filter_mode}"
        )
    if message.filter_mode == TagsFilter.FILTER_MODE_ALL:
        return lambda tags: wanted <= set(tags)
    return lambda tags: not wanted or not wanted.isdisjoint(tags)


def _overlaps(bounds: Bounds) -> Overlaps:
    try:
        points = read_points(bounds)
    except ValueError as error:
        raise RequestRejectedError(str(error)) from error
    count = len(points)
    if bounds.type == Bounds.TYPE_BOX and count == 2:
        return with_box(BoundingBox(points.min(axis=0), points.max(axis=0)))
    if bounds.type == Bounds.TYPE_SPHERE and count == 2 and points[1, 0] >= 0:
        return with_sphere(points[0], float(points[1, 0]))
    if bounds.type == Bounds.TYPE_CONVEX_HULL and count >= 3:
        return with_hull(points)
    raise RequestRejectedError(
        f"bounds of type {bounds.type} with {count} points: give a box (type 1) two corners, a "
        "hull (2) three points or more, a sphere (3) its centre and, in x, its radius"
    )
