"""Subscriptions to topics that are found on the graph."""

import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from mujoco_ros.wire.qos import message_class, subscription_qos

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
    profile = subscription_qos(offers, 7)
    assert profile.reliability == reliability
    assert profile.durability == durability
    assert profile.depth == 7


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("std_msgs/msg/String", "String"),
        (
            "control_msgs/action/FollowJointTrajectory_FeedbackMessage",
            "FollowJointTrajectory_FeedbackMessage",
        ),
    ],
)
def test_the_class_of_a_type_is_found(kind, name):
    found = message_class(kind)
    assert found is not None
    assert found.__name__ == name


@pytest.mark.parametrize("kind", ["no_msgs/msg/No", "std_msgs/msg/No", "std_msgs", "os/path/x"])
def test_a_type_that_is_not_installed_has_no_class(kind):
    assert message_class(kind) is None


@pytest.mark.parametrize(
    "kind",
    ["a_module/msg/A", "a_package/msg/A", "a_package/other/A", "a_package.other/msg/A", "./msg/A"],
)
def test_the_name_of_a_type_imports_no_other_module(kind, tmp_path, monkeypatch):
    """Any node of the network can announce a topic, and a bag can state any type."""
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "a_package"
    package.mkdir()
    for file in (tmp_path / "a_module.py", package / "__init__.py", package / "other.py"):
        file.write_text(f"open({str(tmp_path / 'executed')!r}, 'w').close()\nclass A: ...")
    assert message_class(kind) is None
    assert not (tmp_path / "executed").exists()
