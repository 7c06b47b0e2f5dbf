"""SetEntityState over the middleware."""

import math

import pytest
from simulation_interfaces.msg import EntityState, Result
from simulation_interfaces.srv import SetEntityState
from simulator_client import PAUSED, STOPPED, SimulatorClient
from spawn_requests import BALL, HAS_FLAGS, at, flags, spawn

OK, FAILED = Result.RESULT_OK, Result.RESULT_OPERATION_FAILED
INVALID_POSE = SetEntityState.Response.INVALID_POSE
needs_flags = pytest.mark.skipif(
    not HAS_FLAGS, reason="simulation_interfaces 2.1 or newer, `make test INTERFACES=2.1`"
)


def wanted(
    x: float = 1.0, *, frame: str = "", vx: float = 0.0, wz: float = 3.0, w: float = 1.0
) -> EntityState:
    state = EntityState()
    state.header.frame_id = frame
    state.pose.position.x, state.pose.position.z, state.pose.orientation.w = x, 2.0, w
    state.twist.linear.x, state.twist.angular.z = vx, wz
    return state


def set_state(yard: SimulatorClient, entity: str, state: EntityState, *parts: str) -> Result:
    return yard.call("SetEntityState", entity=entity, state=state, **flags(*parts)).result


def state_of(yard: SimulatorClient, entity: str) -> EntityState:
    return yard.call("GetEntityState", entity=entity).state


def numbers(state: EntityState) -> list[float]:
    return [
        state.pose.position.x,
        state.pose.position.z,
        state.twist.linear.x,
        state.twist.angular.z,
    ]


def test_a_state_that_is_set_is_read_back_at_once_also_while_paused(yard: SimulatorClient):
    yard.ensure_state(PAUSED)
    assert set_state(yard, "box", wanted(vx=0.5), "pose", "twist").result == OK
    assert numbers(state_of(yard, "box")) == pytest.approx([1.0, 2.0, 0.5, 3.0])
    assert yard.step(10).result == OK
    moved = state_of(yard, "box")
    assert moved.pose.position.x == pytest.approx(1.005)
    assert moved.pose.position.z == pytest.approx(2.0 - 0.5 * 9.81 * 0.01**2, abs=1e-4)


@pytest.mark.parametrize(("x", "state"), [(1.0, PAUSED), (math.nan, STOPPED)])
def test_a_stopped_simulation_is_paused_in_the_new_state(
    yard: SimulatorClient, x: float, state: int
):
    yard.ensure_state(STOPPED)
    result = set_state(yard, "box", wanted(x), "pose", "twist").result
    assert (result == OK) is (state == PAUSED)
    assert yard.state == state


@needs_flags
def test_only_the_parts_named_by_flags_are_set(yard: SimulatorClient):
    yard.ensure_state(PAUSED)
    before = state_of(yard, "box")
    assert set_state(yard, "box", wanted(vx=0.5), "twist").result == OK
    after = state_of(yard, "box")
    assert after.pose == before.pose
    assert after.twist.linear.x == 0.5
    assert set_state(yard, "box", wanted(x=7.0), "pose").result == OK
    assert numbers(state_of(yard, "box")) == pytest.approx([7.0, 2.0, 0.5, 3.0])


@needs_flags
def test_a_request_without_a_flag_sets_nothing_and_reports_it(yard: SimulatorClient):
    result = set_state(yard, "box", wanted())
    assert result.result == FAILED
    assert "set set_pose, set_twist or both to true" in result.error_message


@pytest.mark.skipif(HAS_FLAGS, reason="simulation_interfaces before 2.1")
def test_a_request_of_older_versions_sets_pose_and_twist(yard: SimulatorClient):
    yard.ensure_state(PAUSED)
    assert set_state(yard, "box", wanted(vx=0.5)).result == OK
    assert numbers(state_of(yard, "box")) == pytest.approx([1.0, 2.0, 0.5, 3.0])


def test_the_pose_of_a_mocap_body_can_be_set(yard: SimulatorClient):
    assert set_state(yard, "pointer", wanted(x=-5.0, wz=0.0), "pose").result == OK
    assert state_of(yard, "pointer").pose.position.x == -5.0
    result = set_state(yard, "pointer", wanted(x=-6.0, vx=1.0), "pose", "twist")
    assert result.result == FAILED
    assert state_of(yard, "pointer").pose.position.x == -5.0


def test_a_floating_robot_is_moved_by_its_base(yard: SimulatorClient):
    quadruped = "package://mujoco_ros/urdf_mjcf/quadruped/quadruped.xml"
    assert spawn(yard, uri=quadruped, name="dog", initial_pose=at(6.0, 6.0)).result.result == OK
    yard.ensure_state(PAUSED)
    assert set_state(yard, "dog", wanted(x=8.0), "pose").result == OK
    assert state_of(yard, "dog").pose.position.x == 8.0


@pytest.mark.parametrize(
    ("entity", "reason"),
    [
        ("arm", "robot 'arm' cannot be moved: it is fixed to the world"),
        ("table", "entity 'table' cannot be moved: it is fixed to the world"),
        ("gate", "entity 'gate' cannot be moved: its joints connect it to the world"),
    ],
)
def test_the_state_of_a_fixed_entity_is_refused_with_the_reason(
    yard: SimulatorClient, entity: str, reason: str
):
    result = set_state(yard, entity, wanted(), "pose")
    assert result.result == FAILED
    assert reason in result.error_message


@pytest.mark.parametrize(
    ("state", "code", "error_text"),
    [
        (wanted(x=math.nan), INVALID_POSE, "x of the position"),
        (wanted(w=0.0), INVALID_POSE, "not a unit quaternion"),
        (wanted(frame="missing"), INVALID_POSE, "frame 'missing' not found; there are: world, arm"),
        (wanted(vx=math.inf), FAILED, "x of the linear velocity"),
    ],
)
def test_an_invalid_state_is_refused_and_changes_nothing(
    yard: SimulatorClient, state, code, error_text
):
    yard.ensure_state(PAUSED)
    before = state_of(yard, "box")
    result = set_state(yard, "box", state, "pose", "twist")
    assert result.result == code
    assert error_text in result.error_message
    assert state_of(yard, "box") == before


@needs_flags
def test_an_acceleration_cannot_be_set(yard: SimulatorClient):
    state = wanted()
    assert set_state(yard, "box", state, "pose", "acceleration").result == OK  # no flag is set
    state.acceleration.linear.x = 1.0
    result = set_state(yard, "box", state, "pose", "acceleration")
    assert result.result == Result.RESULT_FEATURE_UNSUPPORTED


def test_a_state_can_be_relative_to_a_moving_frame(yard: SimulatorClient):
    yard.ensure_state(PAUSED)
    assert spawn(yard, text=BALL, initial_pose=at(0.0, 5.0, 5.0)).result.result == OK
    platform = wanted(x=10.0, vx=2.0)  # rotates about z too, with 3 rad/s
    assert set_state(yard, "ball", platform, "pose", "twist").result == OK
    seen = EntityState()
    seen.header.frame_id = "ball"
    seen.pose.position.x = 1.0
    assert set_state(yard, "box", seen, "pose", "twist").result == OK
    state = state_of(yard, "box")
    assert state.pose.position.x == pytest.approx(11.0)
    assert state.twist.linear.x == pytest.approx(2.0)
    assert state.twist.linear.y == pytest.approx(3.0)
    assert state.twist.angular.z == pytest.approx(3.0)


def test_a_state_can_be_relative_to_a_frame_of_tf(yard: SimulatorClient):
    seen = EntityState()
    seen.header.frame_id = "base_link"
    seen.pose.position.z = 3.0
    yard.ensure_state(PAUSED)
    result = set_state(yard, "box", seen, "pose")
    assert result.result == OK, result.error_message
    assert state_of(yard, "box").pose.position.z == pytest.approx(3.0)
