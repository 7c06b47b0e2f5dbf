"""Queries of entities over the middleware."""

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
from simulator_client import PAUSED, SimulatorClient
from spawn_requests import BALL, BLOCK, at, spawn

OK, NOT_FOUND, FAILED = (
    Result.RESULT_OK,
    Result.RESULT_NOT_FOUND,
    Result.RESULT_OPERATION_FAILED,
)
ALL = ["arm", "box", "table", "pointer", "gate"]


def entities(yard: SimulatorClient, **filters) -> list[str]:
    response = yard.call("GetEntities", filters=EntityFilters(**filters))
    assert response.result.result == OK, response.result.error_message
    return list(response.entities)


def test_entities_are_robots_objects_and_the_other_bodies_of_the_world(yard: SimulatorClient):
    assert entities(yard) == ALL


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"filter": "^(a|b)"}, ["arm", "box"]),
        ({"filter": "nothing"}, []),
        ({"categories": [EntityCategory(category=EntityCategory.CATEGORY_ROBOT)]}, ["arm"]),
        (
            {"categories": [EntityCategory(category=EntityCategory.CATEGORY_STATIC_OBJECT)]},
            ["table"],
        ),
        (
            {"categories": [EntityCategory(category=EntityCategory.CATEGORY_DYNAMIC_OBJECT)]},
            ["box", "pointer", "gate"],
        ),
        (
            {
                "bounds": Bounds(
                    type=Bounds.TYPE_BOX, points=[Vector3(x=-1.0, y=1.0), Vector3(x=3.0, z=1.0)]
                )
            },
            ["arm", "box"],
        ),
        (
            {
                "bounds": Bounds(type=Bounds.TYPE_SPHERE, points=[Vector3(x=2.0), Vector3(x=0.5)]),
                "filter": "box",
            },
            ["box"],
        ),
        ({"tags": TagsFilter(tags=["red"])}, []),
    ],
)
def test_entities_are_listed_by_a_filter(yard: SimulatorClient, filters, names):
    assert entities(yard, **filters) == names
    response = yard.call("GetEntitiesStates", filters=EntityFilters(**filters))
    assert response.result.result == OK
    assert list(response.entities) == names
    assert len(response.states) == len(names)


def test_a_malformed_filter_is_refused_with_the_position_of_the_error(yard: SimulatorClient):
    for service in ("GetEntities", "GetEntitiesStates"):
        result = yard.call(service, filters=EntityFilters(filter="a(b")).result
        assert result.result == FAILED
        assert result.error_message == "filter: 'a(b' is malformed: missing ) at position 3"


def test_a_body_at_rest_has_its_initial_pose_and_no_velocity(yard: SimulatorClient):
    yard.ensure_state(PAUSED)
    response = yard.call("GetEntityState", entity="table")
    assert response.result.result == OK
    state = response.state
    assert state.header.frame_id == "world"
    position = state.pose.position
    assert (position.x, position.y, position.z) == (0.0, 2.0, 0.0)
    assert state.twist.linear == state.twist.angular == Vector3()
    assert state.acceleration.linear == Vector3()


def test_a_falling_body_has_a_velocity_and_the_acceleration_of_gravity(yard: SimulatorClient):
    yard.ensure_state(PAUSED)
    assert spawn(yard, text=BALL, initial_pose=at(z=50.0, x=1.0)).result.result == OK
    assert yard.step(100).result == OK
    state = yard.call("GetEntityState", entity="ball").state
    assert state.twist.linear.z == pytest.approx(-0.981)
    assert state.acceleration.linear.z == pytest.approx(-9.81)
    assert state.pose.position.z == pytest.approx(50.0 - 0.5 * 9.81 * 0.1**2, abs=1e-3)


def test_the_states_of_all_entities_have_one_time_stamp(yard: SimulatorClient):
    states = yard.call("GetEntitiesStates").states
    assert len({(s.header.stamp.sec, s.header.stamp.nanosec) for s in states}) == 1


def test_bounds_are_aligned_with_the_axes_of_the_entity(yard: SimulatorClient):
    assert spawn(yard, text=BLOCK, name="block", initial_pose=at(5.0, 5.0, 5.0)).result.result == OK
    response = yard.call("GetEntityBounds", entity="block")
    assert response.result.result == OK
    assert response.bounds.type == Bounds.TYPE_BOX
    high, low = response.bounds.points
    assert [high.x, high.y, high.z] == pytest.approx([0.1, 0.2, 0.3], abs=1e-3)
    assert [low.x, low.y, low.z] == pytest.approx([-0.1, -0.2, -0.3], abs=1e-3)
    assert yard.call("GetEntityBounds", entity="pointer").bounds.type == Bounds.TYPE_EMPTY


def test_the_info_of_an_entity_is_kept_until_it_is_deleted(yard: SimulatorClient):
    human = EntityInfo(
        category=EntityCategory(category=EntityCategory.CATEGORY_HUMAN),
        description="a visitor",
        tags=["red", "round"],
    )
    for _ in range(2):
        assert spawn(yard, text=BALL, name="visitor", initial_pose=at(z=1.0)).result.result == OK
        plain = yard.call("GetEntityInfo", entity="visitor").info
        assert plain.category.category == EntityCategory.CATEGORY_DYNAMIC_OBJECT
        assert (plain.description, list(plain.tags)) == ("", [])
        assert yard.call("SetEntityInfo", entity="visitor", info=human).result.result == OK
        assert yard.call("GetEntityInfo", entity="visitor").info == human
        assert entities(yard, tags=TagsFilter(tags=["red", "blue"])) == ["visitor"]
        assert entities(yard, tags=TagsFilter(tags=["red", "blue"], filter_mode=1)) == []
        assert entities(yard, categories=[human.category]) == ["visitor"]
        assert yard.call("DeleteEntity", entity="visitor").result.result == OK


def test_an_unknown_category_is_refused_with_the_valid_ones(yard: SimulatorClient):
    info = EntityInfo(category=EntityCategory(category=77))
    result = yard.call("SetEntityInfo", entity="box", info=info).result
    assert result.result == FAILED
    assert "category 77 is unknown; there are: 0 (object), 1 (robot)" in result.error_message


@pytest.mark.parametrize(
    "service",
    ["GetEntityState", "SetEntityState", "GetEntityInfo", "SetEntityInfo", "GetEntityBounds"],
)
def test_an_unknown_entity_is_not_found(yard: SimulatorClient, service: str):
    result = yard.call(service, entity="boxx").result
    assert result.result == NOT_FOUND
    assert result.error_message == (
        f"entity 'boxx' not found (did you mean 'box'?); there are: {', '.join(ALL)}"
    )
