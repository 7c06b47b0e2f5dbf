"""Spawning and deleting over the middleware."""

import math
from pathlib import Path

import pytest
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Resource, Result, SpawnEntity
from simulation_interfaces.srv import SpawnEntities
from simulation_interfaces.srv import SpawnEntity as Codes
from simulator_client import PAUSED, SimulatorClient
from spawn_requests import ARM, BALL, BLOCK, BOX, at, spawn
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

CODES = Codes.Response
OK, NOT_FOUND, FAILED = (
    Result.RESULT_OK,
    Result.RESULT_NOT_FOUND,
    Result.RESULT_OPERATION_FAILED,
)
URDF = """
<robot name="pendulum">
  <link name="base"/>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="swing" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="20" velocity="10"/></joint>
</robot>
"""


def names(yard: SimulatorClient) -> list[str]:
    return list(yard.call("GetEntities").entities)


def tilted(w: float) -> PoseStamped:
    pose = at()
    pose.pose.orientation.w = w
    return pose


def test_an_object_is_spawned_at_the_requested_pose(yard: SimulatorClient):
    yard.ensure_state(PAUSED)
    response = spawn(yard, text=BALL, name="red_ball", initial_pose=at(1.0, 2.0, 3.0))
    assert response.result.result == OK, response.result.error_message
    assert response.entity_name == "red_ball"
    position = yard.call("GetEntityState", entity="red_ball").state.pose.position
    assert (position.x, position.y, position.z) == (1.0, 2.0, 3.0)


def test_spawning_does_not_disturb_other_entities(yard: SimulatorClient):
    yard.ensure_state(PAUSED)
    before = yard.call("GetEntitiesStates")
    assert spawn(yard, text=BALL, initial_pose=at(z=9.0)).result.result == OK
    after = yard.call("GetEntitiesStates")
    known = dict(zip(after.entities, after.states, strict=True))
    for name, state in zip(before.entities, before.states, strict=True):
        assert known[name].pose == state.pose
        assert known[name].twist == state.twist
        assert known[name].header == state.header


def test_an_entity_without_a_name_gets_the_name_of_its_model(yard: SimulatorClient):
    assert spawn(yard, text=BALL, initial_pose=at(z=1.0)).entity_name == "ball"
    assert spawn(yard, uri=BOX, allow_renaming=True).entity_name == "box_1"
    nameless = BALL.replace(' model="ball"', "")
    result = spawn(yard, text=nameless, initial_pose=at(z=2.0)).result
    assert result.result == CODES.NAME_INVALID
    response = spawn(yard, text=nameless, initial_pose=at(z=2.0), allow_renaming=True)
    assert response.entity_name == "entity"


def test_a_name_in_use_is_refused_or_made_unique(yard: SimulatorClient):
    for name in ("box", "arm", "pointer", "base_link", "world"):
        result = spawn(yard, text=BALL, name=name, initial_pose=at(z=1.0)).result
        assert result.result == CODES.NAME_NOT_UNIQUE, name
        assert result.error_message.startswith(f"'{name}' is taken")
    response = spawn(yard, text=BALL, name="box", allow_renaming=True, initial_pose=at(z=1.0))
    assert (response.result.result, response.entity_name) == (OK, "box_1")


def test_an_initial_pose_can_be_relative_to_another_entity(yard: SimulatorClient):
    yard.ensure_state(PAUSED)
    for frame in ("box", "table/table"):
        pose = at(0.5, 0.0, 1.0, frame)
        response = spawn(yard, text=BALL, initial_pose=pose, allow_renaming=True)
        assert response.result.result == OK, response.result.error_message
    there = yard.call("GetEntityState", entity="ball").state.pose.position
    box = yard.call("GetEntityState", entity="box").state.pose.position
    assert (there.x - box.x, there.z - box.z) == pytest.approx((0.5, 1.0))
    there = yard.call("GetEntityState", entity="ball_1").state.pose.position
    assert (there.x, there.y, there.z) == pytest.approx((0.5, 2.0, 1.0))


@pytest.mark.parametrize(
    ("fields", "code", "reason"),
    [
        ({}, CODES.NO_RESOURCE, "there is neither a uri nor a resource_string"),
        ({"uri": "relative.xml"}, CODES.NO_RESOURCE, "'relative.xml' is a relative path"),
        ({"uri": "~no.user/x.xml"}, CODES.NO_RESOURCE, "is not a path"),
        ({"uri": "http://x/y.xml"}, CODES.NO_RESOURCE, "'http' is not supported"),
        ({"uri": "package://nothing/y.xml"}, CODES.NO_RESOURCE, "package 'nothing' not found"),
        ({"uri": "package://mujoco_ros/y.xml"}, CODES.NO_RESOURCE, "does not exist"),
        (
            {"uri": "package://mujoco_ros/README.md"},
            CODES.UNSUPPORTED_FORMAT,
            "is not a model; it must be one of",
        ),
        ({"text": "<sdf/>"}, CODES.UNSUPPORTED_FORMAT, "begins with <sdf>"),
        ({"text": "hello"}, CODES.UNSUPPORTED_FORMAT, "is not XML"),
        ({"text": "<mujoco><body></mujoco>"}, CODES.RESOURCE_PARSE_ERROR, "not well-formed XML"),
        ({"text": "<mujoco><bad/></mujoco>"}, CODES.RESOURCE_PARSE_ERROR, "Element 'bad'"),
        ({"text": "<robot name='r'/>"}, CODES.RESOURCE_PARSE_ERROR, "link"),
        (
            {"text": '<mujoco><asset><mesh file="a.stl"/></asset></mujoco>'},
            CODES.MISSING_ASSETS,
            "mesh 'a' is the file 'a.stl', but a model given as text has no folder",
        ),
        (
            {"text": URDF.replace("<link name=\"base\"/>", """<link name="base"><visual><geometry>
             <mesh filename="/missing/m.stl"/></geometry></visual></link>""")},
            CODES.MISSING_ASSETS,
            "/missing/m.stl",
        ),
        (
            {"text": '<mujoco><include file="/etc/passwd"/></mujoco>'},
            CODES.RESOURCE_PARSE_ERROR,
            "includes a file",
        ),
        (
            {"text": '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + URDF},
            CODES.RESOURCE_PARSE_ERROR,
            "DOCTYPE",
        ),
        ({"text": BALL, "name": "2 x"}, CODES.NAME_INVALID, "name '2 x' is not valid"),
        ({"text": BALL, "entity_namespace": "2 x"}, CODES.NAMESPACE_INVALID, "'2 x' is no"),
        ({"text": BALL, "entity_namespace": "a" * 129}, CODES.NAMESPACE_INVALID, "128 characters"),
        ({"text": BALL, "entity_namespace": "a\x1b["}, CODES.NAMESPACE_INVALID, r"'a\x1b[' is no"),
        ({"text": BALL, "initial_pose": at(math.nan)}, CODES.INVALID_POSE, "x of the position"),
        ({"text": BALL, "initial_pose": tilted(0.0)}, CODES.INVALID_POSE, "not a unit quaternion"),
        (
            {"text": BALL, "initial_pose": at(frame="missing")},
            CODES.INVALID_POSE,
            "frame 'missing' not found",
        ),
    ],
)  # fmt: skip
def test_a_request_that_cannot_be_spawned_is_refused_with_its_code(
    yard: SimulatorClient, fields, code, reason
):
    fields = {"name": "it"} | fields
    result = spawn(yard, **fields).result
    assert (result.result, reason in result.error_message) == (code, True), result
    assert names(yard) == ["arm", "box", "table", "pointer", "gate"]


def test_a_compiled_model_cannot_be_spawned(yard: SimulatorClient, tmp_path: Path):
    (tmp_path / "ball.mjb").write_bytes(b"")
    result = spawn(yard, uri=str(tmp_path / "ball.mjb")).result
    assert result.result == CODES.UNSUPPORTED_FORMAT
    assert "is a compiled model, which can only run alone" in result.error_message


def test_a_spawned_robot_has_topics_of_its_own_until_it_is_deleted(yard: SimulatorClient):
    states = yard.listener.record(JointState, "/yard/left/joint_states", reliable=True)
    response = spawn(
        yard, uri=ARM, name="left", entity_namespace="yard/left", initial_pose=at(y=5.0)
    )
    assert response.result.result == OK, response.result.error_message
    assert yard.listener.spin_until(lambda: len(states) > 10)
    node = yard.listener.node
    topics = {name for name, _ in node.get_topic_names_and_types() if name.startswith("/yard")}
    assert topics >= {
        "/yard/left/joint_states",
        "/yard/left/wrench/wrist_ft",
        "/yard/left/robot_description",
        "/yard/left/joint_trajectory_controller/joint_trajectory",
        "/yard/left/gripper_controller/gripper_cmd/_action/status",  # as in the scene `arm`
    }
    home = states.latest.position
    assert home[1] != 0.0  # it holds its keyframe with the gains of its model's folder
    assert yard.listener.get_parameter("yard.left.gains.elbow_joint.kp") == 16000.0
    assert yard.call("DeleteEntity", entity="left").result.result == OK
    assert yard.listener.spin_until(lambda: node.count_publishers("/yard/left/joint_states") == 0)
    assert names(yard) == ["arm", "box", "table", "pointer", "gate"]


def test_a_spawned_robot_follows_commands(yard: SimulatorClient):
    assert spawn(yard, text=URDF, initial_pose=at(-5.0, 0.0, 2.0)).entity_name == "pendulum"
    states = yard.listener.record(JointState, "/pendulum/joint_states", reliable=True)
    topic = "/pendulum/joint_trajectory_controller/joint_trajectory"
    publisher = yard.listener.node.create_publisher(JointTrajectory, topic, 1)
    assert yard.listener.spin_until(lambda: publisher.get_subscription_count() > 0)
    point = JointTrajectoryPoint(positions=[0.5])
    point.time_from_start.nanosec = 200_000_000
    publisher.publish(JointTrajectory(joint_names=["swing"], points=[point]))
    assert yard.listener.spin_until(
        lambda: bool(states) and abs(states.latest.position[0] - 0.5) < 0.1
    )
    yard.listener.node.destroy_publisher(publisher)


def test_the_uri_of_a_robot_can_say_that_its_base_is_free(yard: SimulatorClient):
    uri = "package://mujoco_ros/urdf_mjcf/arm/arm.urdf"

    def height(name: str) -> float:
        return float(yard.call("GetEntityState", entity=name).state.pose.position.z)

    for name, argument, y in (("bolted", "", 0.0), ("loose", " base:=free", 2.0)):
        pose = at(-5.0, y, 4.0)
        response = spawn(yard, uri=uri + argument, name=name, initial_pose=pose)
        assert response.result.result == OK, response.result.error_message
    assert yard.listener.spin_until(lambda: height("loose") < 3.5)
    assert height("bolted") == 4.0
    result = spawn(yard, uri=uri + " base:=welded", name="welded").result
    assert "base 'welded' not found; there are: auto, fixed, free" in result.error_message
    result = spawn(yard, uri=uri + " sdf:=*", name="field").result
    assert "'field': sdf: '*' has no collision mesh" in result.error_message


def test_several_entities_are_spawned_in_one_request_with_a_result_each(yard: SimulatorClient):
    def request(name: str, text: str = BALL, x: float = 0.0) -> SpawnEntity:
        resource = Resource(resource_string=text)
        return SpawnEntity(name=name, entity_resource=resource, initial_pose=at(x, 0.0, 5.0))

    response = yard.call("SpawnEntities", spawn_requests=[request("a"), request("b", BLOCK, 1.0)])
    assert response.result.result == OK
    assert [it.entity_name for it in response.results] == ["a", "b"]

    wrong = [
        request("c", x=2.0),
        request("a"),
        request("d", "<mujoco><bad/></mujoco>"),
        request("2 x"),
        # Read, but refused when all is compiled.
        request("e", "<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>"),
        request("c"),
        request("f", x=3.0),
    ]
    response = yard.call("SpawnEntities", spawn_requests=wrong)
    assert response.result.result == SpawnEntities.Response.ENTITIES_SPAWN_FAILED
    assert "5 of 7 entities could not be spawned" in response.result.error_message
    assert [it.result.result for it in response.results] == [
        OK,
        CODES.NAME_NOT_UNIQUE,
        CODES.RESOURCE_PARSE_ERROR,
        CODES.NAME_INVALID,
        CODES.RESOURCE_PARSE_ERROR,
        CODES.NAME_NOT_UNIQUE,
        OK,
    ]
    assert {"a", "b", "c", "f"} <= set(names(yard))
    assert not {"d", "e"} & set(names(yard))


def test_an_empty_list_of_entities_can_be_spawned(yard: SimulatorClient):
    response = yard.call("SpawnEntities", spawn_requests=[])
    assert (response.result.result, list(response.results)) == (OK, [])


def test_a_deleted_entity_is_no_longer_listed(yard: SimulatorClient):
    assert spawn(yard, text=BALL, initial_pose=at(z=1.0)).result.result == OK
    assert yard.call("DeleteEntity", entity="ball").result.result == OK
    assert "ball" not in names(yard)
    assert yard.call("DeleteEntity", entity="ball").result.result == NOT_FOUND


def test_simultaneous_requests_delete_an_entity_once(yard: SimulatorClient):
    assert spawn(yard, text=BALL, initial_pose=at(z=1.0)).result.result == OK
    both = [yard.request("DeleteEntity", entity="ball") for _ in range(2)]
    assert sorted(yard.listener.result(it).result.result for it in both) == [OK, NOT_FOUND]


def test_an_entity_of_the_world_cannot_be_deleted(yard: SimulatorClient):
    result = yard.call("DeleteEntity", entity="gate").result
    assert result.result == FAILED
    assert "only robots and objects as a whole can be deleted" in result.error_message


def test_a_reset_of_spawned_entities_deletes_them_and_no_others(yard: SimulatorClient):
    assert spawn(yard, text=BALL, initial_pose=at(z=1.0)).result.result == OK
    before = yard.call("GetEntityState", entity="box").state.header.stamp
    scope = yard.client("ResetSimulation").srv_type.Request.SCOPE_SPAWNED
    assert yard.call("ResetSimulation", scope=scope).result.result == OK
    assert names(yard) == ["arm", "box", "table", "pointer", "gate"]
    after = yard.call("GetEntityState", entity="box").state.header.stamp
    assert (after.sec, after.nanosec) > (before.sec, before.nanosec)
