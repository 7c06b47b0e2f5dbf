"""Sites as named poses."""

import pytest
from simulation_interfaces.msg import Bounds, EntityState, Result, TagsFilter
from simulator_client import SimulatorClient
from spawn_requests import flags

OK = Result.RESULT_OK
ARM_SITES = ("wrist_ft", "grasp", "gripper_imu", "left_pad", "right_pad")


def poses(yard: SimulatorClient, **tags) -> dict:
    response = yard.call("GetNamedPoses", tags=TagsFilter(**tags))
    assert response.result.result == OK
    return {pose.name: pose for pose in response.poses}


def test_every_site_is_a_named_pose_with_its_owner_as_a_tag(yard: SimulatorClient):
    found = poses(yard)
    sites = {f"arm/{site}" for site in ARM_SITES}
    assert set(found) == {"parking", "tip", "table/table_top"} | sites
    assert list(found["parking"].tags) == ["world", "fixed"]
    assert list(found["arm/grasp"].tags) == ["arm", "moving"]
    assert found["parking"].pose.position.x == -3.0
    assert found["table/table_top"].pose.position.z == pytest.approx(0.315)


def test_named_poses_are_filtered_by_tags(yard: SimulatorClient):
    assert set(poses(yard, tags=["fixed"])) == {"parking", "table/table_top"}
    assert set(poses(yard, tags=["moving", "arm"], filter_mode=1)) == {
        f"arm/{site}" for site in ARM_SITES
    }


def test_a_named_pose_moves_with_its_body(yard: SimulatorClient):
    state = EntityState()
    state.pose.position.x = 9.0
    answer = yard.call("SetEntityState", entity="pointer", state=state, **flags("pose"))
    assert answer.result.result == OK
    tip = poses(yard)["tip"].pose.position
    assert (tip.x, tip.y, tip.z) == pytest.approx((9.0, 0.0, 0.1))


def test_the_bounds_of_a_named_pose_are_the_shape_of_its_site(yard: SimulatorClient):
    box = yard.call("GetNamedPoseBounds", name="parking").bounds
    assert box.type == Bounds.TYPE_BOX
    assert [(p.x, p.y, p.z) for p in box.points] == [(1.0, 0.5, 0.1), (-1.0, -0.5, -0.1)]
    sphere = yard.call("GetNamedPoseBounds", name="tip").bounds
    assert sphere.type == Bounds.TYPE_SPHERE
    assert sphere.points[1].x == pytest.approx(0.005)
    result = yard.call("GetNamedPoseBounds", name="park").result
    assert result.result == Result.RESULT_NOT_FOUND
    assert "did you mean 'parking'?" in result.error_message
