"""Batches of templates equal messages filled by hand."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from cdr import encode, without_padding
from control_msgs.msg import JointTrajectoryControllerState
from hypothesis import given
from hypothesis import strategies as st
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Range
from simulators import DATA
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectoryPoint
from trajectory_msgs.msg import _joint_trajectory_point as point_module

from mujoco_ros.bridge.publishing.template_publisher import (
    Batch,
    NumberSource,
    SerializedTopic,
    Topic,
)
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.bridge.publishing.topics import clock_topic, robot_topics, transform_topic
from mujoco_ros.bridge.tf.robot_frames import plan_frames
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.native import library
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.wire.conversions import split
from mujoco_ros.wire.message_template import write, write_times
from mujoco_ros.wire.qos import SENSOR

_REFERENCES = ("position", "velocity", "acceleration", "effort")
_STAMPS = ((0, 0), (0, 999_999_999), (12, 345_000_000), (2**31 - 1, 999_999_999))


def _topics_and_arrays(scene: str, wrench_sign: Any) -> tuple[list[Topic], dict[str, np.ndarray]]:
    simulation = Simulation(load_scene(scene))
    model, layout = simulation.model, simulation.layout
    frames = plan_frames(model, layout, "all", descriptions(simulation.assembly, layout))
    topics = [clock_topic()]
    first_base = first_joint = 0
    for index, robot in enumerate(layout.robots):
        # All joints but the first, so that neither index is the other.
        controlled = [(j, first_joint + j) for j in range(1, len(robot.joints.names))]
        topics += robot_topics(index, robot, first_base, wrench_sign, controlled)
        first_base += len(robot.bases)
        first_joint += len(robot.joints.names)
    topics.append(transform_topic(frames.moving))
    random = np.random.default_rng(3)
    shapes = {
        "qpos": model.nq,
        "qvel": model.nv,
        "qacc": model.nv,
        "qfrc_actuator": model.nv,
        "measured_qpos": model.nq,
        "measured_qvel": model.nv,
        "measured_effort": model.nv,
        "sensordata": model.nsensordata,
        "base_motion": (first_base, 6),
        "measured_base_motion": (first_base, 6),
        "relative_poses": (len(frames.linked_bodies), 7),
        **{f"reference_{what}": first_joint for what in _REFERENCES},
        "position_error": first_joint,
        "velocity_error": first_joint,
        "elapsed": len(layout.robots),
        "speed_scaling": len(layout.robots),
    }
    return topics, {name: random.normal(size=shape) for name, shape in shapes.items()}


@pytest.fixture(params=["compiled", "in Python"], autouse=True)
def _implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "in Python":
        monkeypatch.setenv("MUJOCO_ROS_NATIVE", "0")
    elif library() is None:
        pytest.skip("the native part is not compiled: no C compiler")


@pytest.fixture(scope="module", params=["child_on_parent", "parent_on_child"])
def zoo(request: pytest.FixtureRequest) -> tuple[list[Topic], dict[str, np.ndarray]]:
    return _topics_and_arrays("zoo", request.param)


@pytest.fixture(scope="module")
def probe() -> tuple[list[Topic], dict[str, np.ndarray]]:
    return _topics_and_arrays(str(DATA / "probe.xml"), "child_on_parent")


def _batch(
    topics: list[Topic], arrays: dict[str, np.ndarray]
) -> tuple[Batch, list[TopicPublisher], dict[str, list[bytes]]]:
    published: dict[str, list[bytes]] = {topic.name: [] for topic in topics}
    publishers = {}
    for topic in topics:
        publisher = TopicPublisher(topic.name)
        publisher.publish = published[topic.name].append
        publisher.subscriptions = 1
        publishers[publisher] = SerializedTopic(topic)
    return Batch(publishers, arrays), list(publishers), published


def _by_hand(topic: Topic, arrays: dict[str, np.ndarray], sec: int, nanosec: int) -> Any:
    message = deepcopy(topic.message)
    sources = topic.numbers.values()
    numbers = [n.sign * arrays[n.array].reshape(-1)[n.address] for n in sources]
    write(message, list(topic.numbers), np.array(numbers))
    stamp = np.array((sec, nanosec), dtype=[("sec", "<i4"), ("nanosec", "<u4")])
    write_times(message, list(topic.stamps), np.array([stamp] * len(topic.stamps)))
    for path, number in topic.durations.items():
        passed = round(float(arrays[number.array][number.address]) * 1e9)
        duration = np.array([divmod(passed, 1_000_000_000)], dtype=stamp.dtype)
        write_times(message, [path], duration)
    return message


def _check(topics: list[Topic], arrays: dict[str, np.ndarray]) -> Iterator[str]:
    batch, _, published = _batch(topics, arrays)
    random = np.random.default_rng(11)
    for sec, nanosec in _STAMPS:
        for array in arrays.values():
            array[...] = random.normal(size=array.shape) * 10.0 ** random.integers(-9, 9)
        arrays["elapsed"][:] = np.minimum(abs(arrays["elapsed"]), 2.0**31 - 1)
        batch.publish(sec, nanosec)
        for topic in topics:
            (data,) = published[topic.name]
            published[topic.name].clear()
            message = _by_hand(topic, arrays, sec, nanosec)
            plain = bytes(serialize_message(message))
            assert len(data) == len(plain), topic.name
            meant = without_padding(data, message)
            assert meant == without_padding(plain, message) == encode(message), topic.name
            yield topic.name


def test_every_message_of_the_zoo_equals_the_one_filled_by_hand(
    zoo: tuple[list[Topic], dict[str, np.ndarray]],
) -> None:
    assert len(set(_check(*zoo))) == 38


def test_numbers_of_32_bits_are_filled_as_by_hand() -> None:
    topic = Topic(
        name="range",
        rate="range",
        message=Range(header=Header(frame_id="beam")),
        numbers={
            "range": NumberSource("sensordata", 1),
            "min_range": NumberSource("sensordata", 0, -1.0),
        },
        stamps=("header.stamp",),
        qos=SENSOR,
    )
    arrays = {"sensordata": np.zeros(2), "elapsed": np.zeros(1)}
    assert set(_check([topic], arrays)) == {"range"}


def test_every_message_of_a_bare_model_equals_the_one_filled_by_hand(
    probe: tuple[list[Topic], dict[str, np.ndarray]],
) -> None:
    assert set(_check(*probe)) == {
        "/clock",
        "/tf",
        "joint_states",
        "joint_trajectory_controller/controller_state",
        "imu/carriage",
        "imu/tip",
        "wrench/pole_ft",
        "contact_states",
        "sensor_states",
    }


@pytest.mark.parametrize(
    "elapsed", [0.0, 1e-9, 0.999999999, 0.9999999999, 1.0, 12.345, 2.0**31 - 1]
)
def test_durations_equal_the_arrays_to_the_nanosecond(
    probe: tuple[list[Topic], dict[str, np.ndarray]], elapsed: float
) -> None:
    topics, arrays = probe
    batch, _, published = _batch(topics, arrays)
    arrays["elapsed"][:] = elapsed
    batch.publish(1, 0)
    (data,) = published["joint_trajectory_controller/controller_state"]
    state = deserialize_message(data, JointTrajectoryControllerState)
    for part in (state.reference, state.feedback, state.error, state.output):
        passed = part.time_from_start
        assert 0 <= passed.nanosec < 1_000_000_000
        assert abs(passed.sec + passed.nanosec * 1e-9 - elapsed) <= 5e-10 + 1e-7 * (elapsed > 1e6)


def test_messages_that_check_their_fields_are_filled_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Equal to the environment variable ROS_PYTHON_CHECK_FIELDS before the first import.
    monkeypatch.setattr(point_module, "ros_python_check_fields", "1")
    with pytest.raises(AssertionError, match="time_from_start"):
        JointTrajectoryPoint(time_from_start=1.0)
    assert len(set(_check(*_topics_and_arrays("arm", "child_on_parent")))) == 9


def test_a_topic_without_a_subscription_is_not_published(
    probe: tuple[list[Topic], dict[str, np.ndarray]],
) -> None:
    batch, publishers, published = _batch(*probe)
    for publisher in publishers:
        publisher.subscriptions = int(publisher.topic == "joint_states")
    batch.publish(1, 0)
    counts = {name: len(sent) for name, sent in published.items() if sent}
    assert counts == {"joint_states": 1}


def test_a_message_that_the_middleware_rejects_is_counted_and_blocks_no_other(
    probe: tuple[list[Topic], dict[str, np.ndarray]], caplog: pytest.LogCaptureFixture
) -> None:
    batch, publishers, published = _batch(*probe)
    (busy,) = (publisher for publisher in publishers if publisher.topic == "joint_states")

    def refuse(_: bytes) -> None:
        raise rclpy_implementation.RCLError("cannot publish data")

    busy.publish = refuse
    for second in range(3):
        batch.publish(second, 0)
    assert busy.lost == 3
    assert {len(sent) for name, sent in published.items() if name != "joint_states"} == {3}
    assert [r.getMessage() for r in caplog.records if r.levelname == "WARNING"] == [
        "the middleware rejects messages on 'joint_states': cannot publish data"
    ]


def test_a_published_message_does_not_change_with_the_next(
    probe: tuple[list[Topic], dict[str, np.ndarray]],
) -> None:
    batch, _, published = _batch(*probe)
    batch.publish(1, 0)
    first = published["joint_states"][0]
    copy = bytes(bytearray(first))
    batch.publish(2, 5)
    assert first == copy
    assert published["joint_states"][1] != first


@given(st.integers(0, 10**8))
def test_steps_of_a_millisecond_give_stamps_of_whole_milliseconds(step: int) -> None:
    assert split(step * 1e-3) == (step // 1000, step % 1000 * 1_000_000)


@given(st.floats(0, 2**31 - 1))
def test_nanoseconds_never_reach_a_second(time: float) -> None:
    sec, nanosec = split(time)
    assert 0 <= nanosec < 1_000_000_000
    assert abs(sec + nanosec * 1e-9 - time) < 1e-6


def test_a_time_just_below_a_second_rounds_into_the_next_one() -> None:
    assert split(1.9999999999) == (2, 0)
    assert split(0.9999999994) == (0, 999_999_999)
