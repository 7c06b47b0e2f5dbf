"""Name, type, QoS, rate and values of every topic of the zoo."""

from collections import Counter
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from cdr import encode, without_padding
from geometry_msgs.msg import WrenchStamped
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from reference_run import paired, reference_run
from sensor_msgs.msg import Imu, JointState
from simulators import DATA, SimulatorLauncher, steps_of
from std_msgs.msg import String
from zoo_recording import (
    ACTIONS,
    BEST_EFFORT,
    COMMANDS,
    INTERFACES,
    LATCHED,
    OCCASIONAL,
    PERIODIC,
    RARE,
    ROBOTS,
    ZooRecording,
    subscription_qos,
)

_KEYFRAMES = {
    "humanoid": "half_sitting",
    "quadruped": "stand",
    "left_arm": "home",
    "right_arm": "home",
}


@pytest.mark.parametrize("topic", [*PERIODIC, *OCCASIONAL])
def test_a_topic_is_published_with_the_type_and_qos_of_the_contract(
    zoo: ZooRecording, topic: str
) -> None:
    kind, quality = (PERIODIC | OCCASIONAL)[topic]
    (publisher,) = zoo.listener.node.get_publishers_info_by_topic(topic)
    package = kind.__module__.partition(".")[0]
    assert publisher.topic_type == f"{package}/msg/{kind.__name__}"
    assert publisher.node_name == "mujoco"
    profile = publisher.qos_profile
    assert profile.reliability == (
        ReliabilityPolicy.BEST_EFFORT if quality == BEST_EFFORT else ReliabilityPolicy.RELIABLE
    )
    assert profile.durability == (
        DurabilityPolicy.TRANSIENT_LOCAL if quality == LATCHED else DurabilityPolicy.VOLATILE
    )
    assert len(zoo.recordings[topic])


def test_no_topic_is_published_that_the_contract_lacks(zoo: ZooRecording) -> None:
    names = {
        name
        for name, _ in zoo.listener.node.get_publisher_names_and_types_by_node("mujoco", "/")
        if name not in ("/rosout", "/parameter_events") and "/_action/" not in name
    }
    assert names == {*PERIODIC, *OCCASIONAL, *RARE}


@pytest.mark.parametrize("topic", COMMANDS)
def test_commands_are_subscribed_with_the_type_and_qos_of_the_contract(
    zoo: ZooRecording, topic: str
) -> None:
    (subscriber,) = zoo.listener.node.get_subscriptions_info_by_topic(topic)
    package, kind = COMMANDS[topic].__module__.partition(".")[0], COMMANDS[topic].__name__
    assert subscriber.topic_type == f"{package}/msg/{kind}"
    assert subscriber.node_name == "mujoco"
    assert subscriber.qos_profile.reliability == ReliabilityPolicy.RELIABLE
    latched = topic.endswith("/speed_scaling_input")
    wanted = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
    assert subscriber.qos_profile.durability == wanted


def test_no_topic_is_subscribed_that_the_contract_lacks(zoo: ZooRecording) -> None:
    found = zoo.listener.node.get_subscriber_names_and_types_by_node("mujoco", "/")
    assert {name for name, _ in found} - {"/parameter_events"} == set(COMMANDS)


def test_actions_are_those_of_the_contract(zoo: ZooRecording) -> None:
    found = get_action_server_names_and_types_by_node(zoo.listener.node, "mujoco", "/")
    assert dict(found) == {
        name: [f"{kind.__module__.partition('.')[0]}/action/{kind.__name__}"]
        for name, kind in ACTIONS.items()
    }


@pytest.mark.parametrize("topic", [topic for topic in PERIODIC if topic != "/clock"])
def test_messages_are_a_period_of_simulated_time_apart(zoo: ZooRecording, topic: str) -> None:
    is_slow = topic == "/tf" or topic.endswith(
        ("/controller_state", "/contact_states", "/current_pose", "/current_twist")
    )
    every = 10 if is_slow else 2
    steps = steps_of(zoo.recordings[topic].messages)
    assert all(step % every == 0 for step in steps)
    spacings = Counter(np.diff(steps).tolist())
    assert all(spacing > 0 for spacing in spacings)
    # A busy machine may lose a message, but no other rate gives these stamps.
    assert spacings[every] > 0.9 * sum(spacings.values())


def test_clock_stamps_increase_and_equal_those_of_the_messages(zoo: ZooRecording) -> None:
    clock = steps_of(zoo.recordings["/clock"].messages)
    assert all(before < after for before, after in pairwise(clock))
    others = {
        step
        for topic in PERIODIC
        if topic != "/clock"
        for step in steps_of(zoo.recordings[topic].messages)
        if clock[0] <= step <= clock[-1]
    }
    assert len(others) > 50
    # A busy machine may lose messages of the clock: there is a gap then, but no other stamp.
    every = min(after - before for before, after in pairwise(clock))
    missing = others - set(clock)
    assert all((step - clock[0]) % every == 0 for step in missing)
    assert len(missing) < 0.5 * len(others)


@pytest.mark.parametrize("topic", PERIODIC)
def test_bytes_on_the_wire_are_those_of_the_plainly_serialized_message(
    zoo: ZooRecording, topic: str
) -> None:
    recording = zoo.recordings[topic]
    for data, message in zip(recording.raw[:5], recording.messages[:5], strict=True):
        assert without_padding(data, message) == encode(message)


@pytest.mark.parametrize("robot", ROBOTS)
def test_joint_states_equal_the_state_of_the_engine_in_model_order(
    zoo: ZooRecording, robot: str
) -> None:
    model = zoo.instants[min(zoo.instants)].model
    names = [model.joint(j).name for j in range(model.njnt) if model.jnt_type[j] in (2, 3)]
    names = [n.removeprefix(f"{robot}/") for n in names if n.startswith(f"{robot}/")]
    for message, instant in paired(zoo.recordings[f"/{robot}/joint_states"].messages, zoo.instants):
        assert list(message.name) == names
        expected = [instant.joint(f"{robot}/{name}") for name in names]
        got = list(zip(message.position, message.velocity, message.effort, strict=True))
        assert got == expected


def _controlled(robot: str, names: list[str]) -> list[str]:
    """Return the joints of a robot that controllers of one quantity command."""
    return [name for name in names if "arm" not in robot or "finger" not in name]


@pytest.mark.parametrize("robot", ROBOTS)
def test_controller_states_have_the_state_of_the_engine_and_the_references(
    zoo: ZooRecording, robot: str
) -> None:
    topic = f"/{robot}/joint_trajectory_controller/controller_state"
    names = _controlled(robot, list(zoo.recordings[f"/{robot}/joint_states"].messages[0].name))
    held = reference_run("zoo", [0])[0]
    wanted = [held.joint(f"{robot}/{name}")[0] for name in names]
    for message, instant in paired(zoo.recordings[topic].messages, zoo.instants):
        assert list(message.joint_names) == names
        measured = [instant.joint(f"{robot}/{name}") for name in names]
        feedback, reference, error = message.feedback, message.reference, message.error
        got = zip(feedback.positions, feedback.velocities, feedback.effort, strict=True)
        assert list(got) == measured
        np.testing.assert_allclose(reference.positions, wanted, atol=1e-12)
        assert list(error.positions) == [
            q_ref - q for q_ref, (q, _, _) in zip(reference.positions, measured, strict=True)
        ]
        for row in (reference.velocities, reference.accelerations, reference.effort):
            assert list(row) == [0.0] * len(names)
        assert message.output.positions == reference.positions
        for part in (reference, feedback, error, message.output):
            assert (part.time_from_start.sec, part.time_from_start.nanosec) == (0, 0)


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("robot", ROBOTS)
def test_the_order_of_forward_commands_is_that_of_the_joints(
    zoo: ZooRecording, robot: str, interface: str
) -> None:
    (message,) = zoo.recordings[f"/{robot}/{interface}_controller/joints"].messages
    names = list(zoo.recordings[f"/{robot}/joint_states"].messages[0].name)
    assert list(message.name) == _controlled(robot, names)


@pytest.mark.parametrize("robot", ROBOTS)
def test_robots_start_in_their_keyframe_and_hold_it(zoo: ZooRecording, robot: str) -> None:
    first = zoo.recordings[f"/{robot}/joint_states"].messages[0]
    model = zoo.instants[min(zoo.instants)].model
    key = model.key(f"{robot}/{_KEYFRAMES[robot]}")
    expected = [key.qpos[model.joint(f"{robot}/{name}").qposadr[0]] for name in first.name]
    start = reference_run("zoo", [0])[0]
    assert [start.joint(f"{robot}/{name}")[0] for name in first.name] == expected
    # There is no subscriber at step 0; until then the legs have only taken up the weight.
    np.testing.assert_allclose(first.position, expected, atol=0.02)


@pytest.mark.parametrize(
    ("topic", "site"),
    [("/humanoid/imu/pelvis_imu", "pelvis_imu"), ("/quadruped/imu/trunk_imu", "trunk_imu")],
)
def test_an_imu_has_the_values_of_the_sensors_of_its_site(
    zoo: ZooRecording, topic: str, site: str
) -> None:
    robot = topic.split("/")[1]
    model = zoo.instants[min(zoo.instants)].model
    kinds = mujoco.mjtSensor
    on_site = {
        int(model.sensor_type[s]): model.sensor(s).name
        for s in range(model.nsensor)
        if model.sensor_objtype[s] == mujoco.mjtObj.mjOBJ_SITE
        and model.sensor_objid[s] == model.site(f"{robot}/{site}").id
    }
    for message, instant in paired(zoo.recordings[topic].messages, zoo.instants):
        assert message.header.frame_id == f"{robot}/{site}"
        w, x, y, z = instant.sensor(on_site[int(kinds.mjSENS_FRAMEQUAT)])
        gyro = instant.sensor(on_site[int(kinds.mjSENS_GYRO)])
        acceleration = instant.sensor(on_site[int(kinds.mjSENS_ACCELEROMETER)])
        q = message.orientation
        assert (q.x, q.y, q.z, q.w) == (x, y, z, w)
        assert _xyz(message.angular_velocity) == gyro
        assert _xyz(message.linear_acceleration) == acceleration
        for covariance in (
            message.orientation_covariance,
            message.angular_velocity_covariance,
            message.linear_acceleration_covariance,
        ):
            assert list(covariance) == [0.0] * 9


_WRENCHES = [topic for topic in PERIODIC if "/wrench/" in topic]


@pytest.mark.parametrize("topic", _WRENCHES)
def test_a_wrench_is_the_reversed_reading_of_its_sensors(zoo: ZooRecording, topic: str) -> None:
    _, robot, _, site = topic.split("/")
    for message, instant in paired(zoo.recordings[topic].messages, zoo.instants):
        assert message.header.frame_id == f"{robot}/{site}"
        force = instant.sensor(f"{robot}/{site}_force")
        torque = instant.sensor(f"{robot}/{site}_torque")
        assert _xyz(message.wrench.force) == [-f for f in force]
        assert _xyz(message.wrench.torque) == [-t for t in torque]


def test_the_ankles_of_the_standing_humanoid_read_up(zoo: ZooRecording) -> None:
    for side in ("left", "right"):
        messages = zoo.recordings[f"/humanoid/wrench/{side}_ankle_ft"].messages
        assert messages[-1].wrench.force.z > 100.0


@pytest.mark.parametrize("topic", [topic for topic in PERIODIC if "/contact/" in topic])
def test_a_contact_is_the_normal_force_of_its_touch_sensor(zoo: ZooRecording, topic: str) -> None:
    _, robot, _, name = topic.split("/")
    for message, instant in paired(zoo.recordings[topic].messages, zoo.instants):
        (force,) = instant.sensor(f"{robot}/{name}")
        assert _xyz(message.wrench.force) == [0.0, 0.0, force]
        assert _xyz(message.wrench.torque) == [0.0, 0.0, 0.0]
        assert message.header.frame_id.startswith(f"{robot}/{name}")


_BASES = {"humanoid": "pelvis", "quadruped": "trunk"}


@pytest.mark.parametrize("robot", _BASES)
def test_odometry_is_the_pose_in_the_world_and_the_twist_in_the_child_frame(
    zoo: ZooRecording, robot: str
) -> None:
    base = f"{robot}/{_BASES[robot]}"
    for message, instant in paired(zoo.recordings[f"/{robot}/odom"].messages, zoo.instants):
        assert (message.header.frame_id, message.child_frame_id) == ("world", base)
        pose, velocity, _ = instant.free(base)
        position, q = message.pose.pose.position, message.pose.pose.orientation
        assert [*_xyz(position), q.w, q.x, q.y, q.z] == pose.tolist()
        turn = _rotation(pose[3:])
        twist = message.twist.twist
        np.testing.assert_allclose(_xyz(twist.linear), turn.T @ velocity[:3], atol=1e-12)
        assert _xyz(twist.angular) == velocity[3:].tolist()


@pytest.mark.parametrize("robot", _BASES)
def test_base_accel_is_the_acceleration_in_the_frame_of_the_base(
    zoo: ZooRecording, robot: str
) -> None:
    base = f"{robot}/{_BASES[robot]}"
    for message, instant in paired(zoo.recordings[f"/{robot}/base_accel"].messages, zoo.instants):
        assert message.header.frame_id == base
        pose, _, acceleration = instant.free(base)
        turn = _rotation(pose[3:])
        linear = _xyz(message.accel.linear)
        np.testing.assert_allclose(linear, turn.T @ acceleration[:3], atol=1e-10)
        assert _xyz(message.accel.angular) == acceleration[3:].tolist()


@pytest.mark.parametrize("robot", ROBOTS)
def test_robot_description_is_the_urdf_of_the_joints_that_are_published(
    zoo: ZooRecording, robot: str
) -> None:
    (message,) = zoo.recordings[f"/{robot}/robot_description"].messages
    tree = ElementTree.fromstring(message.data)
    assert tree.tag == "robot"
    movable = {
        j.get("name") for j in tree.iter("joint") if j.get("type") not in ("fixed", "floating")
    }
    published = set(zoo.recordings[f"/{robot}/joint_states"].messages[0].name)
    assert published == movable
    assert not any("/" in name for name in published)


def test_robot_description_reaches_a_late_subscriber(
    zoo: ZooRecording, start: SimulatorLauncher
) -> None:
    late = start.listener(zoo.simulator)
    recording = late.record(String, "/humanoid/robot_description", qos=subscription_qos(LATCHED))
    assert late.spin_until(lambda: len(recording) > 0)
    assert recording.messages == zoo.recordings["/humanoid/robot_description"].messages


_PROBE = str(DATA / "probe.xml")


def _probe(
    start: SimulatorLauncher, kinds: dict[str, type], **parameters: Any
) -> dict[str, list[Any]]:
    """Run the model with every special case until each topic has a message; return the messages."""
    simulator = start.simulator(scene=_PROBE, real_time_factor=0.2, **parameters)
    listener = start.listener(simulator)
    recordings = {topic: listener.record(kind, topic) for topic, kind in kinds.items()}
    assert listener.spin_until(lambda: all(len(r) >= 20 for r in recordings.values()))
    return {topic: recording.messages for topic, recording in recordings.items()}


def test_a_bare_model_file_runs_and_missing_fields_of_an_imu_are_marked(
    start: SimulatorLauncher,
) -> None:
    messages_of = _probe(
        start,
        {
            "/joint_states": JointState,
            "/imu/carriage": Imu,
            "/imu/tip": Imu,
            "/wrench/pole_ft": WrenchStamped,
        },
        wrench_sign="parent_on_child",
    )
    instants = reference_run(
        _PROBE, {step for messages in messages_of.values() for step in steps_of(messages)}
    )
    for message, instant in paired(messages_of["/joint_states"], instants):
        assert list(message.name) == ["rail", "swing"]
        states = list(zip(message.position, message.velocity, message.effort, strict=True))
        assert states == [instant.joint(name) for name in message.name]
    for message, instant in paired(messages_of["/imu/carriage"], instants):
        assert message.header.frame_id == "carriage_site"
        assert message.orientation_covariance[0] == -1.0
        assert message.orientation.w == 1.0
        assert message.angular_velocity_covariance[0] == 0.0
        assert message.linear_acceleration_covariance[0] == 0.0
        assert _xyz(message.angular_velocity) == instant.sensor("gyro")
        assert _xyz(message.linear_acceleration) == instant.sensor("accelerometer")
    for message, instant in paired(messages_of["/imu/tip"], instants):
        assert message.orientation_covariance[0] == 0.0
        assert message.angular_velocity_covariance[0] == 0.0
        assert message.linear_acceleration_covariance[0] == -1.0
        assert _xyz(message.linear_acceleration) == [0.0, 0.0, 0.0]
        assert _xyz(message.angular_velocity) == instant.sensor("tip_gyro")
    for message, instant in paired(messages_of["/wrench/pole_ft"], instants):
        assert _xyz(message.wrench.force) == instant.sensor("pole_force")
        assert _xyz(message.wrench.torque) == instant.sensor("pole_torque")


def test_sensor_noise_follows_the_seed_and_needs_the_noise_attribute(
    start: SimulatorLauncher,
) -> None:
    kinds = {"/imu/carriage": Imu, "/imu/tip": Imu, "/wrench/pole_ft": WrenchStamped}
    messages_of = _probe(start, kinds, sensor_noise="true", seed=5)
    steps = {step for messages in messages_of.values() for step in steps_of(messages)}
    clean = reference_run(_PROBE, steps)
    noisy = reference_run(_PROBE, steps, sensor_noise=True, seed=5)
    errors = []
    for message, step in zip(
        messages_of["/imu/carriage"], steps_of(messages_of["/imu/carriage"]), strict=True
    ):
        acceleration = _xyz(message.linear_acceleration)
        assert acceleration == noisy[step].sensor("accelerometer")
        assert _xyz(message.angular_velocity) == noisy[step].sensor("gyro")
        errors.append(np.subtract(acceleration, clean[step].sensor("accelerometer")))
    assert 0.3 < np.std(errors) < 0.7  # the model has 0.5
    for message, instant in paired(messages_of["/imu/tip"], noisy):
        q = message.orientation
        assert [q.w, q.x, q.y, q.z] == instant.sensor("tip_quat")
    for message, instant in paired(messages_of["/imu/tip"], clean):
        assert _xyz(message.angular_velocity) == instant.sensor("tip_gyro")
    for message, instant in paired(messages_of["/wrench/pole_ft"], clean):
        assert _xyz(message.wrench.force) == [-f for f in instant.sensor("pole_force")]


def _xyz(vector: Any) -> list[float]:
    return [vector.x, vector.y, vector.z]


def _rotation(quat_wxyz: np.ndarray) -> np.ndarray:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quat_wxyz)
    return matrix.reshape(3, 3)
