"""Filters of entities."""

import math

import numpy as np
import pytest
from geometry_msgs.msg import Vector3
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    EntityFilters,
    EntityInfo,
    Result,
    TagsFilter,
)
from simulation_interfaces.srv import GetEntities
from threads import RecordingResponder

from mujoco_ros.bridge.simulation_interfaces.filters import EntityFilter, tags_filter
from mujoco_ros.sim.observer import BoundingBox

ROBOT = EntityCategory(category=EntityCategory.CATEGORY_ROBOT)
STATIC = EntityCategory(category=EntityCategory.CATEGORY_STATIC_OBJECT)
INFO = EntityInfo(category=ROBOT, tags=["red", "big"])
ANY, ALL = TagsFilter.FILTER_MODE_ANY, TagsFilter.FILTER_MODE_ALL


def vectors(*points: tuple[float, float, float]) -> list[Vector3]:
    return [Vector3(x=x, y=y, z=z) for x, y, z in points]


def test_an_empty_filter_matches_every_entity():
    nothing = EntityFilter(EntityFilters())
    assert nothing.passes("anything", EntityInfo())
    assert nothing.overlaps is None
    assert nothing.holds(None)


def test_an_entity_matches_only_if_every_condition_holds():
    right = {"filter": "^ar", "categories": [STATIC, ROBOT], "tags": TagsFilter(tags=["red"])}
    assert EntityFilter(EntityFilters(**right)).passes("arm", INFO)
    for wrong in (
        {"filter": "^ra"},
        {"categories": [STATIC]},
        {"tags": TagsFilter(tags=["blue"])},
    ):
        assert not EntityFilter(EntityFilters(**right | wrong)).passes("arm", INFO)


@pytest.mark.parametrize(
    ("tags", "mode", "passes"),
    [
        ([], ANY, True),
        ([], ALL, True),
        (["red", "blue"], ANY, True),
        (["red", "blue"], ALL, False),
        (["red", "big"], ALL, True),
        (["blue"], ANY, False),
    ],
)
def test_a_filter_matches_all_tags_or_any_tag(tags, mode, passes):
    assert tags_filter(TagsFilter(tags=tags, filter_mode=mode))(INFO.tags) == passes


@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(type=Bounds.TYPE_BOX, points=vectors((2, 2, 2), (0, 0, 0))),
        Bounds(type=Bounds.TYPE_SPHERE, points=vectors((0, 0, 0), (1, 0, 0))),
        Bounds(type=Bounds.TYPE_CONVEX_HULL, points=vectors((0, 0, 0), (1, 0, 0), (0, 1, 0))),
    ],
)
def test_a_filter_by_bounds_matches_overlapping_entities_with_bounds(bounds):
    wanted = EntityFilter(EntityFilters(bounds=bounds))
    near, far = BoundingBox(-np.ones(3), np.ones(3)), BoundingBox(np.full(3, 4.0), np.full(3, 5.0))
    assert wanted.holds(near)
    assert not wanted.holds(far)
    assert not wanted.holds(None)


@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        (EntityFilters(filter="("), "filter: '(' is malformed"),
        (EntityFilters(tags=TagsFilter(filter_mode=7)), "filter_mode must be 0 (any) or 1 (all)"),
        (EntityFilters(bounds=Bounds(type=Bounds.TYPE_BOX)), "bounds of type 1 with 0 points"),
        (EntityFilters(bounds=Bounds(type=9)), "bounds of type 9"),
        (
            EntityFilters(
                bounds=Bounds(type=Bounds.TYPE_SPHERE, points=vectors((0, 0, 0), (-1, 0, 0)))
            ),
            "bounds of type 3",
        ),
        (
            EntityFilters(
                bounds=Bounds(type=Bounds.TYPE_BOX, points=vectors((0, 0, 0), (math.nan, 0, 0)))
            ),
            "x of the bounds must be within",
        ),
    ],
)
def test_an_invalid_filter_is_rejected_with_the_reason(filters, reason):
    responder = RecordingResponder(GetEntities.Response())
    responder.attempt(lambda: EntityFilter(filters))
    code, message = responder.result
    assert code == Result.RESULT_OPERATION_FAILED
    assert reason in message
