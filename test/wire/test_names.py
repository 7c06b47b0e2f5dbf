import pytest

from mujoco_ros.wire.names import ros_distribution


def test_a_sourced_distribution_takes_precedence(monkeypatch):
    monkeypatch.setenv("ROS_DISTRO", "rolling")
    assert ros_distribution() == "rolling"


def test_the_installed_wheels_determine_the_distribution(monkeypatch):
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    if ros_distribution() == "unknown":
        pytest.skip("rclpy is not installed as a wheel")
    assert ros_distribution() in ("jazzy", "kilted")


def test_an_incomplete_package_is_no_error(tmp_path, monkeypatch):
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    (tmp_path / "half_removed-1.0.egg-info").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert ros_distribution()
