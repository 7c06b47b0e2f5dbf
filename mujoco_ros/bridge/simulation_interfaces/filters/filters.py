"""Filters of entities, named poses and worlds in requests."""

from collections.abc import Callable, Sequence

from simulation_interfaces.msg import Bounds, EntityFilters, EntityInfo, TagsFilter

from mujoco_ros.bridge.simulation_interfaces.entities.messages import read_points
from mujoco_ros.bridge.simulation_interfaces.filters.overlap import (
    Overlaps,
    with_box,
    with_hull,
    with_sphere,
)
from mujoco_ros.bridge.simulation_interfaces.filters.pattern import Pattern, PatternError
from mujoco_ros.rclpy_ext.service import RequestRejectedError
from mujoco_ros.sim.observer import BoundingBox


class EntityFilter:
    """A filter of entities; an empty field of the message passes all.

    Attributes:
        overlaps: Returns whether an entity's box, in the world frame, overlaps with the requested
            bounds; None if there are none.
    """

    def __init__(self, filters: EntityFilters) -> None:
        """Read a message.

        Raises:
            RequestRejectedError: The expression or the bounds are malformed.
        """
        try:
            self._pattern = Pattern(filters.filter) if filters.filter else None
        except PatternError as error:
            raise RequestRejectedError(f"filter: {error}") from error
        self._categories = {category.category for category in filters.categories}
        self._tags = tags_filter(filters.tags)
        self.overlaps: Overlaps | None = None
        bounds = getattr(filters, "bounds", Bounds())  # older versions have none
        if bounds.type != Bounds.TYPE_EMPTY:
            self.overlaps = _overlaps(bounds)

    def passes(self, name: str, info: EntityInfo) -> bool:
        """Return whether an entity passes, apart from its bounds.

        Raises:
            RequestRejectedError: The expression takes too long to match.
        """
        if self._categories and info.category.category not in self._categories:
            return False
        if not self._tags(info.tags):
            return False
        try:
            return self._pattern is None or self._pattern.search(name)
        except PatternError as error:
            raise RequestRejectedError(f"filter: {error}") from error

    def holds(self, box: BoundingBox | None) -> bool:
        """Return whether the box of an entity passes; None overlaps with no bounds."""
        return self.overlaps is None or (box is not None and self.overlaps(box))


def tags_filter(message: TagsFilter) -> Callable[[Sequence[str]], bool]:
    """Return the function that decides whether tags pass.

    Raises:
        RequestRejectedError: The mode is unknown.
    """
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
