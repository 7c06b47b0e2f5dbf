"""Filters of entities: bounds and overlap, and the regular expressions of clients."""

import contextlib
import itertools
import math
import time

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

from mujoco_ros.bridge.simulation_interfaces.filters import (
    LONGEST,
    EntityFilter,
    Pattern,
    tags_filter,
    with_box,
    with_hull,
    with_sphere,
)
from mujoco_ros.rclpy_ext.service import RequestRejectedError
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


def cube(x: float, y: float = 0.0, z: float = 0.0, half: float = 1.0) -> BoundingBox:
    centre = np.array([x, y, z])
    return BoundingBox(centre - half, centre + half)


@pytest.mark.parametrize(("x", "overlaps"), [(0.0, True), (1.9, True), (2.0, True), (2.1, False)])
def test_boxes_overlap_if_they_do_along_all_axes(x, overlaps):
    assert with_box(cube(0.0))(cube(x)) == overlaps
    assert with_box(cube(0.0))(cube(0.0, x)) == overlaps
    assert with_box(cube(0.0))(cube(0.0, 0.0, x)) == overlaps


def test_a_sphere_reaches_less_far_at_the_corners_of_a_box():
    assert with_sphere(np.array([1.9, 0.0, 0.0]), 1.0)(cube(0.0))
    assert not with_sphere(np.array([1.9, 1.9, 1.9]), 1.0)(cube(0.0))
    assert with_sphere(np.array([1.5, 1.5, 1.5]), 1.0)(cube(0.0))


def test_a_hull_overlaps_where_its_own_box_is_not_enough():
    tetrahedron = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], dtype=float)
    overlaps = with_hull(tetrahedron)
    assert overlaps(cube(0.0))
    assert overlaps(cube(1.0, 1.0, 1.0, half=0.5))
    assert not overlaps(cube(3.0, 3.0, 3.0, half=0.9))  # within the box around it
    assert not overlaps(cube(-1.2, -1.2, -1.2))


def test_a_hull_of_a_boxs_corners_is_that_box():
    chance = np.random.default_rng(1)
    for _ in range(200):
        one, other = (cube(*chance.uniform(-2, 2, 3), half=chance.uniform(0.1, 2)) for _ in "ab")
        hull = np.array(list(itertools.product(*zip(one.low, one.high, strict=True))))
        assert with_hull(hull)(other) == with_box(one)(other)


def test_small_gaps_between_hulls_are_detected():
    chance = np.random.default_rng(2)
    for _ in range(100):
        points = chance.normal(size=(30, 3))
        normal = chance.normal(size=3)
        normal /= np.linalg.norm(normal)
        box = cube(0.0, half=0.5)
        reach = 0.5 * np.abs(normal).sum()
        moved = points + (reach - (points @ normal).min()) * normal
        assert not with_hull(moved + 1e-6 * normal)(box)
        deepest = moved[np.argmin(moved @ normal)]
        corner = 0.5 * np.sign(normal)
        assert with_hull(moved - (deepest - corner) - 1e-6 * normal)(box)


def test_a_flat_hull_overlaps_like_any_other():
    triangle = with_hull(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=float))
    assert triangle(cube(0.0, 0.0, 0.5))
    assert not triangle(cube(0.0, 0.0, 1.5))


@pytest.mark.parametrize(
    ("expression", "matching", "other"),
    [
        ("box", ("box", "box_1", "my_box"), ("bo", "BOX", "")),
        ("^box$", ("box",), ("box_1", "my_box")),
        ("^box_[0-9]+$", ("box_1", "box_42"), ("box_", "box_x")),
        ("^(left|right)_arm", ("left_arm", "right_arm_2"), ("arm", "my_left_arm")),
        ("^a{2,3}$", ("aa", "aaa"), ("a", "aaaa")),
        ("^[^0-9]*$", ("", "abc"), ("a1",)),
        ("^[[:alpha:]_]+$", ("left_arm",), ("arm1",)),
        ("^[]a-]+$", ("]-a",), ("b",)),
        (r"^a\.b$", ("a.b",), ("axb",)),
    ],
)
def test_an_expression_matches_as_posix_defines(expression, matching, other):
    pattern = Pattern(expression)
    for text in matching:
        assert pattern.search(text), text
    for text in other:
        assert not pattern.search(text), text


@pytest.mark.parametrize(
    "expression", ["(?x)a{9 9 9 9 9 9 9}", "(?:a)", "(?R)", "(?e)a", r"\\(?x)a{9 9 9 9 9}"]
)
def test_groups_that_posix_does_not_have_are_refused(expression):
    with pytest.raises(RequestRejectedError, match=r"nothing before '\?'"):
        Pattern(expression)


@pytest.mark.parametrize("expression", ["(", ")", "*", "[a", "[z-a]", "a\\", "(" * LONGEST])
def test_a_malformed_expression_is_named(expression):
    with pytest.raises(RequestRejectedError, match="is malformed"):
        Pattern(expression)


def test_a_long_expression_is_refused():
    with pytest.raises(RequestRejectedError, match=f"5000 characters; limit {LONGEST}"):
        Pattern("a" * 5000)


@pytest.mark.parametrize("expression", ["((a{200}){200}){200}", "(a{1,99}){2,99}", "a{9,2000}"])
def test_repeats_that_would_fill_the_memory_are_refused(expression):
    with pytest.raises(RequestRejectedError, match="repeats; 1000 are possible"):
        Pattern(expression)


@pytest.mark.parametrize(
    "expression",
    ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(a*)*$", "(.*a){12}", "((a{10}){9}){9}$"],
)
def test_no_expression_takes_longer_than_its_budget(expression):
    began = time.process_time()
    pattern = Pattern(expression)
    with contextlib.suppress(RequestRejectedError):
        for _ in range(100):
            pattern.search("a" * 64 + "b")
    assert time.process_time() - began < 1.0


def test_an_expression_that_exceeds_its_budget_is_reported():
    with pytest.raises(RequestRejectedError, match="takes too long to match"):
        Pattern(r"^(a|aa|a)+\1$").search("a" * 200 + "b")


def test_the_time_that_other_processes_take_is_not_counted(monkeypatch):
    pattern = Pattern("^box")
    search, interruptions = pattern._compiled.search, iter(range(3))

    class Interrupted:
        """A search that the scheduler interrupts for longer than the budget, three times."""

        def search(self, *args: object, **options: object) -> object:
            if next(interruptions, None) is not None:
                raise TimeoutError
            return search(*args, **options)

    monkeypatch.setattr(pattern, "_compiled", Interrupted())
    assert pattern.search("box_1")
