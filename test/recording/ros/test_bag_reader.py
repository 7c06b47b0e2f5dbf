from pathlib import Path

import pytest
from mcap.writer import Writer
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64, String

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.definitions import definition
from mujoco_ros.recording.metadata import RecordedTopic
from mujoco_ros.recording.ros.bag import Bag, BagLimits
from mujoco_ros.recording.ros.bag_reader import bag_files, bag_topics, read_bag


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    """A bag of several files."""
    bag = Bag(tmp_path / "bag", "jazzy", limits=BagLimits(size=1), compression="zstd")
    topic = RecordedTopic(name="/text", kind="std_msgs/msg/String", type_hash="", qos=())
    bag.add(topic, definition(topic.kind))
    for number in range(12):
        bag.write(topic, 10 + number, 10, number, serialize_message(String(data=f"text {number}")))
    bag.finish()
    return bag.folder


def test_messages_of_all_files_are_read_in_order(bag):
    assert len(bag_files(bag)) == 12
    assert bag_topics(bag) == {"/text": "std_msgs/msg/String"}
    read = list(read_bag(bag, {"/text": String}))
    assert [it.message.data for it in read] == [f"text {number}" for number in range(12)]
    assert [it.log_time for it in read] == list(range(10, 22))


def test_a_single_file_is_a_bag(bag):
    assert len(list(read_bag(bag_files(bag)[3], {"/text": String}))) == 1


def test_what_is_no_bag_is_an_error_with_the_remedy(bag, tmp_path):
    with pytest.raises(UserInputError, match="there is no bag"):
        bag_files(tmp_path / "missing")
    with pytest.raises(UserInputError, match=r"has no \.mcap file"):
        bag_files(tmp_path)
    (tmp_path / "old.db3").touch()
    with pytest.raises(UserInputError, match="bag of SQLite; `ros2 bag convert`"):
        bag_files(tmp_path)
    bag_files(bag)[0].write_bytes(b"no MCAP")
    with pytest.raises(UserInputError, match="cannot be read"):
        bag_topics(bag)


def test_a_channel_without_a_type_is_no_message_of_ros(tmp_path):
    path = tmp_path / "plain.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        channel = writer.register_channel("/text", "json", 0)
        writer.add_message(channel, 1, b"{}", 1)
        writer.finish()
    assert bag_topics(path) == {"/text": "message without a type"}
    with pytest.raises(UserInputError, match="a message of '/text' is not a String"):
        list(read_bag(path, {"/text": String}))


def test_a_message_of_another_type_is_an_error(bag):
    with pytest.raises(UserInputError, match="a message of '/text' is not a Float64"):
        for _ in read_bag(bag, {"/text": Float64}):
            pass
