import yaml
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from mujoco_ros.recording.metadata import RecordedTopic
from mujoco_ros.recording.ros.bag import as_rosbag2

RELIABLE, LATCHED = ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL


def written(profiles: list) -> list:
    """Return the profiles in the metadata of a topic's channel."""
    topic = RecordedTopic(name="/chatter", kind="std_msgs/msg/String", type_hash="", qos=profiles)
    return yaml.safe_load(topic.channel_metadata["offered_qos_profiles"])


def test_a_profile_reads_as_rosbag2_writes_it():
    profile = QoSProfile(
        depth=5,
        reliability=RELIABLE,
        durability=LATCHED,
        deadline=Duration(seconds=1, nanoseconds=5),
    )
    (read,) = written([as_rosbag2(profile)])
    assert read["history"] == "keep_last"
    assert read["depth"] == 5
    assert read["reliability"] == "reliable"
    assert read["durability"] == "transient_local"
    assert read["deadline"] == {"sec": 1, "nsec": 5}
    assert list(read) == [
        "history",
        "depth",
        "reliability",
        "durability",
        "deadline",
        "lifespan",
        "liveliness",
        "liveliness_lease_duration",
        "avoid_ros_namespace_conventions",
    ]


def test_no_profiles_are_an_empty_list():
    assert written([]) == []
