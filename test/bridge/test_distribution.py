import pytest

from mujoco_ros.bridge.distribution import ros_distribution


def test_a_sourced_distribution_takes_precedence(monkeypatch):
    monkeypatch.setenv("ROS_DISTRO", "rolling")
    assert ros_distribution() == "rolling"


def test_the_installed_wheels_determine_the_distribution(monkeypatch):
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    if ros_distribution() == "unknown":
        pytest.skip("rclpy is not installed as a wheel")
    assert ros_distribution() in ("jazzy", "kilted")
