from pathlib import Path

import pytest
from mcap.writer import Writer
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64, String

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.bag_contents import bag_files
from mujoco_ros.recording.mcap_scan import McapScan
from mujoco_ros.recording.metadata import RecordedTopic
from mujoco_ros.recording.ros import bag_reader
from mujoco_ros.recording.ros.bag import Bag
from mujoco_ros.recording.ros.bag_reader import BagReader


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    """A bag of several files."""
    bag = Bag(tmp_path / "bag", "jazzy", max_bytes=1, compression="zstd")
    topic = RecordedTopic(name="/text", kind="std_msgs/msg/String", type_hash="", qos=())
    bag.add(topic)
    for number in range(12):
        bag.write(topic, 10 + number, 10, number, serialize_message(String(data=f"text {number}")))
    bag.finish()
    return bag.folder


def test_messages_of_all_files_are_read_in_order(bag):
    assert len(bag_files(bag)) == 12
    assert BagReader(bag).topics == {"/text": "std_msgs/msg/String"}
    read = list(BagReader(bag).read({"/text": String}))
    assert [it.message.data for it in read] == [f"text {number}" for number in range(12)]
    assert [it.log_time for it in read] == list(range(10, 22))


def test_a_single_file_is_a_bag(bag):
    assert len(list(BagReader(bag_files(bag)[3]).read({"/text": String}))) == 1


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
        BagReader(bag)


def test_a_channel_without_a_type_is_no_message_of_ros(tmp_path):
    path = tmp_path / "plain.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        channel = writer.register_channel("/text", "json", 0)
        writer.add_message(channel, 1, b"{}", 1)
        writer.finish()
    assert BagReader(path).topics == {"/text": "message without a type"}
    with pytest.raises(UserInputError, match="a message of '/text' is not a String"):
        list(BagReader(path).read({"/text": String}))


def test_a_message_of_another_type_is_an_error(bag):
    with pytest.raises(UserInputError, match="a message of '/text' is not a Float64"):
        for _ in BagReader(bag).read({"/text": Float64}):
            pass


def test_a_damaged_chunk_is_left_out_with_a_word(tmp_path, caplog):
    bag = Bag(tmp_path / "bag", "jazzy", compression="zstd")
    topic = RecordedTopic(name="/text", kind="std_msgs/msg/String", type_hash="", qos=())
    bag.add(topic)
    for number in range(30):
        time = number * 1_000_000_000
        bag.write(topic, time, time, number, serialize_message(String(data=f"text {number}")))
        if number % 10 == 9:
            bag.flush()
    bag.finish()
    (path,) = bag_files(bag.folder)
    chunk = McapScan(path).blocks[1]
    content = bytearray(path.read_bytes())
    content[chunk.end - 20] ^= 1
    path.write_bytes(content)
    read = [it.message.data for it in BagReader(bag.folder).read({"/text": String})]
    assert read == [f"text {number}" for number in (*range(10), *range(20, 30))]
    assert f"the chunk of {chunk.end - chunk.begin} bytes at byte {chunk.begin} is" in caplog.text
    assert "from 10.000 s to 19.000 s, and 10 messages (10 of '/text') are missing" in caplog.text


def test_files_of_a_folder_are_read_in_the_order_of_time(tmp_path):
    for name, first in (("a", 10), ("b", 0), ("c", 11)):
        bag = Bag(tmp_path / name, "jazzy")
        topic = RecordedTopic(name="/text", kind="std_msgs/msg/String", type_hash="", qos=())
        bag.add(topic)
        for time in range(first, first + 10, 2):
            bag.write(topic, time, time, time, serialize_message(String(data=f"{time}")))
        bag.finish()
        (tmp_path / name / f"{name}_0.mcap").rename(tmp_path / f"{name}.mcap")
    read = BagReader(tmp_path).read({"/text": String})
    assert [int(it.message.data) for it in read] == [*range(0, 10, 2), *range(10, 20)]


def test_an_interrupt_while_a_message_is_read_is_no_error_of_its_type(bag, monkeypatch):
    """The middleware raises a TypeError from the KeyboardInterrupt (rclpy 7.1, measured)."""

    def interrupted(_data: bytes, _kind: type) -> None:
        raise TypeError("Unable to convert function return value") from KeyboardInterrupt()

    monkeypatch.setattr(bag_reader, "deserialize_message", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(iter(BagReader(bag).read({"/text": String})))
