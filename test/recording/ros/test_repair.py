import random
import stat

import pytest
from mcap.reader import make_reader
from rclpy.serialization import serialize_message
from rosbags.rosbag2 import Reader
from std_msgs.msg import String

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.definitions import definition
from mujoco_ros.recording.metadata import RecordedTopic
from mujoco_ros.recording.ros.bag import Bag, BagLimits
from mujoco_ros.recording.ros.repair import repair

FLUSHED = 60


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "bag"


def begin(folder, **options) -> tuple[Bag, RecordedTopic]:
    bag = Bag(folder, "jazzy", **options)
    topic = RecordedTopic(name="/chatter", kind="std_msgs/msg/String", type_hash="RIHS01_1", qos=[])
    bag.add(topic, definition(topic.kind))
    return bag, topic


def write(bag: Bag, topic: RecordedTopic, count: int, first: int = 0) -> None:
    for i in range(first, first + count):
        bag.write(topic, 1000 + i, 0, i, serialize_message(String(data=f"message {i}")))


def times(folder) -> list[int]:
    with Reader(folder) as reader:
        return [time for _, time, _ in reader.messages()]


def indexed(path) -> bool:
    with path.open("rb") as stream:
        summary = make_reader(stream).get_summary()
    return bool(summary and summary.chunk_indexes)


def test_a_bag_that_was_never_finished_is_indexed(folder):
    bag, topic = begin(folder)
    write(bag, topic, FLUSHED)
    bag.flush()
    write(bag, topic, 5, FLUSHED)
    assert not indexed(folder / "bag_0.mcap")
    repaired = repair(folder)
    assert repaired.messages == FLUSHED
    assert repaired.discarded == 0
    assert indexed(folder / "bag_0.mcap")
    assert times(folder) == [1000 + i for i in range(FLUSHED)]


def test_a_repair_of_an_intact_bag_leaves_its_files_unchanged(folder):
    bag, topic = begin(folder, limits=BagLimits(size=2000))
    write(bag, topic, FLUSHED)
    bag.finish()
    before = [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.mcap"))]
    assert len(before) > 1
    assert repair(folder).messages == FLUSHED
    assert [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.mcap"))] == before


def test_a_truncated_file_keeps_all_complete_chunks(folder):
    bag, topic = begin(folder)
    for first in range(0, FLUSHED, 10):
        write(bag, topic, 10, first)
        bag.flush()
    path = folder / "bag_0.mcap"
    content = path.read_bytes()
    kept = []
    for end in sorted(random.Random(1).sample(range(60, len(content)), 40)):
        path.write_bytes(content[:end])
        found = repair(folder).messages
        assert found % 10 == 0
        assert times(folder) == [1000 + i for i in range(found)]
        kept.append(found)
    assert kept == sorted(kept)
    assert kept[-1] >= FLUSHED - 10


def test_garbage_at_the_end_is_cut_off(folder):
    bag, topic = begin(folder)
    write(bag, topic, FLUSHED)
    bag.flush()
    path = folder / "bag_0.mcap"
    whole = len(path.read_bytes()) - 50  # without the provisional end
    path.write_bytes(
        path.read_bytes()[:whole] + b"\x06" + (99).to_bytes(8, "little") + b"\xff" * 99
    )
    repaired = repair(folder)
    assert repaired.messages == FLUSHED
    assert repaired.discarded == 108


def test_metadata_is_made_from_the_files_if_it_is_lost(folder):
    bag, topic = begin(folder)
    write(bag, topic, FLUSHED)
    bag.finish()
    (folder / "metadata.yaml").unlink()
    repair(folder)
    with Reader(folder) as reader:
        (connection,) = reader.connections
        assert (connection.msgcount, connection.digest) == (FLUSHED, "RIHS01_1")
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_topics_without_a_message_are_kept(folder):
    bag, _ = begin(folder)
    bag.finish()
    repair(folder)
    with Reader(folder) as reader:
        assert [connection.topic for connection in reader.connections] == ["/chatter"]


def test_a_folder_without_bag_is_rejected(folder):
    with pytest.raises(UserInputError, match="is not a bag"):
        repair(folder)
    folder.mkdir()
    (folder / "bag_0.mcap").write_text("something else")
    with pytest.raises(UserInputError, match="is not an MCAP file"):
        repair(folder)
