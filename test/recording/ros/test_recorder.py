import pytest
import rclpy
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rosbags.rosbag2 import Reader
from std_msgs.msg import Float64, String

from mujoco_ros.recording.ros.bag import Bag
from mujoco_ros.recording.ros.recorder import Recorder, Selection

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
OURS = frozenset({"/one", "/two"})


class Recording:
    """A recorder of /one and /two into a bag, and a node that publishes."""

    def __init__(self, node, spin_until, folder):
        self.node, self.spin_until, self._folder = node, spin_until, folder
        self.bag = Bag(folder, "jazzy")
        # Not spun: an executor would take the messages.
        self._listener = Node("recorder", context=node.context)
        self.recorder = Recorder(self._listener, self.bag, Selection(topics=OURS))

    def until(self, condition) -> None:
        def met() -> bool:
            self.recorder.update()
            return condition()

        assert self.spin_until(met)

    def count(self, name: str) -> int:
        topic = self.bag.metadata.topics.get(name)
        return 0 if topic is None else topic.count

    def is_subscribed(self, publisher) -> bool:
        return publisher.get_subscription_count() > 0

    def content(self) -> dict[str, list[bytes]]:
        self.recorder.close()
        self.bag.finish()
        found: dict[str, list[bytes]] = {}
        with Reader(self._folder) as reader:
            for connection, _, data in reader.messages():
                found.setdefault(connection.topic, []).append(bytes(data))
        return found

    def close(self) -> None:
        self._listener.destroy_node()


@pytest.fixture
def recording(ros_node, spin_until, tmp_path):
    recording = Recording(ros_node, spin_until, tmp_path / "bag")
    yield recording
    recording.close()


def test_messages_are_recorded_as_they_were_sent(recording):
    publisher = recording.node.create_publisher(String, "/one", 100)
    recording.until(lambda: recording.is_subscribed(publisher))
    sent = [String(data=f"message {i}") for i in range(50)]
    for message in sent:
        publisher.publish(message)
    recording.until(lambda: recording.count("/one") == len(sent))
    recorded = recording.content()["/one"]
    assert [deserialize_message(it, String) for it in recorded] == sent


def test_type_hash_and_qos_are_those_that_publishers_offer(recording):
    publisher = recording.node.create_publisher(String, "/one", LATCHED)
    recording.until(lambda: recording.is_subscribed(publisher))
    topic = recording.bag.metadata.topics["/one"]
    assert topic.type_hash.startswith("RIHS01_")
    (offer,) = topic.qos
    assert offer["durability"] == "transient_local"
    assert offer["reliability"] == "reliable"


def test_a_topic_that_appears_later_is_recorded(recording):
    recording.until(lambda: True)
    publisher = recording.node.create_publisher(String, "/two", 10)
    recording.until(lambda: recording.is_subscribed(publisher))
    publisher.publish(String(data="late"))
    recording.until(lambda: recording.count("/two") == 1)


def test_a_latched_message_from_before_is_recorded_once(recording):
    publisher = recording.node.create_publisher(String, "/one", LATCHED)
    publisher.publish(String(data="latched"))
    recording.until(lambda: recording.count("/one") == 1)
    (recorded,) = recording.content()["/one"]
    assert deserialize_message(recorded, String).data == "latched"


def test_a_topic_without_publisher_is_recorded_once_there_is_one(recording):
    node = recording.node
    node.create_subscription(String, "/one", lambda _message: None, 10)
    recording.until(lambda: recording.recorder.topics == 1)
    publisher = node.create_publisher(String, "/one", LATCHED)
    publisher.publish(String(data="first"))
    recording.until(lambda: recording.count("/one") == 1)
    publisher.publish(String(data="second"))
    recording.until(lambda: recording.count("/one") == 2)
    recorded = recording.content()["/one"]
    texts = [deserialize_message(it, String).data for it in recorded]
    assert texts == ["first", "second"]


def test_a_publisher_that_offers_less_is_recorded_as_well(recording):
    reliable = recording.node.create_publisher(String, "/one", 10)
    recording.until(lambda: recording.is_subscribed(reliable))
    unreliable = recording.node.create_publisher(String, "/one", BEST_EFFORT)
    recording.until(
        lambda: recording.is_subscribed(unreliable) and recording.is_subscribed(reliable)
    )
    reliable.publish(String(data="a"))
    unreliable.publish(String(data="b"))
    recording.until(lambda: recording.count("/one") == 2)
    assert len(recording.bag.metadata.topics["/one"].qos) == 2


def test_a_queue_that_was_full_is_noticed(recording):
    publisher = recording.node.create_publisher(String, "/one", 2000)
    recording.until(lambda: recording.is_subscribed(publisher))
    for _ in range(1100):  # the recorder's queue holds 1000
        publisher.publish(String())
    assert publisher.wait_for_all_acked(Duration(seconds=30))
    recording.until(lambda: recording.count("/one") == 1000)
    problem = "more messages than the queue holds, so some may be lost: '/one'"
    assert problem in recording.recorder.problems


def test_topics_that_are_not_selected_are_not_recorded(recording):
    publisher = recording.node.create_publisher(String, "/three", 10)
    wanted = recording.node.create_publisher(Float64, "/two", 10)
    recording.until(lambda: recording.is_subscribed(wanted))
    assert not recording.is_subscribed(publisher)


def test_a_topic_of_two_types_is_refused_and_the_others_recorded(recording, caplog):
    context = Context()  # one cannot have both
    rclpy.init(context=context)
    other = rclpy.create_node("other", context=context)
    listener = recording.node
    other.create_publisher(Float64, "/one", 10)
    listener.create_publisher(String, "/one", 10)

    def types() -> list[str]:
        return dict(listener.get_topic_names_and_types()).get("/one", [])

    assert recording.spin_until(lambda: len(types()) == 2)
    publisher = listener.create_publisher(String, "/two", 10)
    recording.until(lambda: recording.is_subscribed(publisher))
    assert "'/one' is not recorded: it has several types" in caplog.text
    assert caplog.text.count("is not recorded") == 1
    other.destroy_node()
    rclpy.shutdown(context=context)
