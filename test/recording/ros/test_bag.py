import pytest
import yaml
from mcap.reader import make_reader
from rclpy.serialization import serialize_message
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from std_msgs.msg import String

from mujoco_ros.recording.metadata import RecordedTopic
from mujoco_ros.recording.ros.bag import Bag

SECOND = 1_000_000_000
HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "bag"


def chatter(bag: Bag) -> RecordedTopic:
    topic = RecordedTopic(name="/chatter", kind="std_msgs/msg/String", type_hash=HASH, qos=[])
    bag.add(topic)
    return topic


def text(value: str) -> bytes:
    return serialize_message(String(data=value))


def files(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def times(folder) -> list[int]:
    with Reader(folder) as reader:
        return [time for _, time, _ in reader.messages()]


def test_another_library_reads_the_written_messages(folder):
    bag = Bag(folder, "jazzy")
    topic = chatter(bag)
    for i in range(10):
        bag.write(topic, SECOND + i, SECOND, i, text(f"hello {i}"))
    bag.finish()
    types = get_typestore(Stores.EMPTY)
    with Reader(folder) as reader:
        (connection,) = reader.connections
        types.register(get_types_from_msg(connection.msgdef.data, connection.msgtype))
        texts = [
            types.deserialize_cdr(data, connection.msgtype).data for _, _, data in reader.messages()
        ]
        assert texts == [f"hello {i}" for i in range(10)]
        assert reader.message_count == 10
        assert reader.start_time == SECOND
        assert reader.ros_distro == "jazzy"
        assert (connection.topic, connection.digest) == ("/chatter", HASH)
    assert files(folder) == ["bag_0.mcap", "metadata.yaml"]


def test_metadata_has_the_keys_of_version_9(folder):
    bag = Bag(folder, "jazzy")
    topic = chatter(bag)
    bag.write(topic, 5, 5, 0, text("a"))
    bag.write(topic, 9, 9, 1, text("b"))
    bag.finish()
    content = yaml.safe_load((folder / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert content["version"] == 9
    assert content["storage_identifier"] == "mcap"
    assert content["starting_time"] == {"nanoseconds_since_epoch": 5}
    assert content["duration"] == {"nanoseconds": 4}
    assert content["message_count"] == 2
    assert content["relative_file_paths"] == ["bag_0.mcap"]
    assert content["files"] == [
        {
            "path": "bag_0.mcap",
            "starting_time": {"nanoseconds_since_epoch": 5},
            "duration": {"nanoseconds": 4},
            "message_count": 2,
        }
    ]
    (entry,) = content["topics_with_message_count"]
    assert entry["message_count"] == 2
    assert entry["topic_metadata"]["type_description_hash"] == HASH
    with (folder / "bag_0.mcap").open("rb") as stream:
        (inside,) = make_reader(stream).iter_metadata()
    assert yaml.safe_load(inside.metadata["serialized_metadata"])["message_count"] == 2


@pytest.mark.parametrize(
    "limit", [{"max_seconds": 1.0}, {"max_bytes": 2000}], ids=["duration", "size"]
)
def test_a_bag_continues_in_another_file(folder, limit):
    bag = Bag(folder, "jazzy", **limit)
    topic = chatter(bag)
    for i in range(30):
        bag.write(topic, i * SECOND // 10, 0, i, text("x" * 200))
    assert bag.size > 30 * 200
    bag.finish()
    assert len(files(folder)) >= 4
    assert times(folder) == [i * SECOND // 10 for i in range(30)]
    counts = [span.count for span in bag.metadata.files.values()]
    assert all(counts)
    assert sum(counts) == 30


def test_a_full_file_is_not_followed_by_an_empty_one(folder):
    bag = Bag(folder, "jazzy", max_bytes=100)
    bag.write(chatter(bag), 1, 1, 0, text("x" * 2000))
    bag.finish()
    assert files(folder) == ["bag_0.mcap", "metadata.yaml"]


def test_a_bag_without_a_message_is_a_bag(folder):
    bag = Bag(folder, "jazzy")
    chatter(bag)
    bag.finish()
    with Reader(folder) as reader:
        assert reader.message_count == 0
        assert [connection.topic for connection in reader.connections] == ["/chatter"]


def test_flushed_messages_are_readable_at_any_time(folder):
    bag = Bag(folder, "jazzy")
    topic = chatter(bag)
    for i in range(5):
        bag.write(topic, 100 + i, 0, i, text("x"))
        bag.flush()
        assert times(folder) == list(range(100, 101 + i))
    bag.finish()


def test_an_existing_folder_is_refused(folder):
    folder.mkdir()
    with pytest.raises(FileExistsError):
        Bag(folder, "jazzy")
