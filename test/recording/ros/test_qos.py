import pytest
import yaml
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from mujoco_ros.recording.ros.qos import as_rosbag2, as_text, subscription_qos

RELIABLE, BEST_EFFORT = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT
LATCHED, VOLATILE = DurabilityPolicy.TRANSIENT_LOCAL, DurabilityPolicy.VOLATILE


def offer(reliability=RELIABLE, durability=VOLATILE) -> QoSProfile:
    return QoSProfile(depth=1, reliability=reliability, durability=durability)


@pytest.mark.parametrize(
    ("offers", "reliability", "durability"),
    [
        ([], BEST_EFFORT, VOLATILE),
        ([offer()], RELIABLE, VOLATILE),
        ([offer(), offer(BEST_EFFORT)], BEST_EFFORT, VOLATILE),
        ([offer(durability=LATCHED)], RELIABLE, LATCHED),
        ([offer(durability=LATCHED), offer()], RELIABLE, VOLATILE),
    ],
)
def test_a_subscription_is_compatible_with_all_offers(offers, reliability, durability):
    profile = subscription_qos(offers)
    assert profile.reliability == reliability
    assert profile.durability == durability


def test_a_profile_reads_as_rosbag2_writes_it():
    profile = QoSProfile(
        depth=5,
        reliability=RELIABLE,
        durability=LATCHED,
        deadline=Duration(seconds=1, nanoseconds=5),
    )
    (read,) = yaml.safe_load(as_text([as_rosbag2(profile)]))
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
    assert yaml.safe_load(as_text([])) == []
