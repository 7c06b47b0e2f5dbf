"""Fast DDS announces processes often, and has memory for images, unless the user configures it."""

from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from mujoco_ros.cli.node_process import (
    FORMER_VARIABLE,
    LARGE_MESSAGES,
    SMALL_MESSAGES,
    VARIABLE,
    configure_fast_dds,
)
from mujoco_ros.wire.names import ros_distribution


@pytest.mark.parametrize("profile", [SMALL_MESSAGES, LARGE_MESSAGES])
def test_every_version_of_fast_dds_finds_the_profile(profile: str) -> None:
    # A child process, which inherited another profile.
    environment: dict[str, str] = {}
    configure_fast_dds(environment, SMALL_MESSAGES)
    configure_fast_dds(environment, profile)
    is_former = ros_distribution() == "jazzy"
    assert environment.keys() == ({VARIABLE, FORMER_VARIABLE} if is_former else {VARIABLE})
    for name in environment.values():
        root = ET.parse(name).getroot()
        assert root.findtext(".//{*}leaseAnnouncement/{*}nanosec") == "300000000"
        assert (root.find(".//{*}segment_size") is not None) is (profile == LARGE_MESSAGES)


@pytest.mark.parametrize("variable", [VARIABLE, FORMER_VARIABLE])
def test_a_configuration_of_the_user_is_kept(variable: str) -> None:
    environment = {variable: "/mine.xml"}
    configure_fast_dds(environment, LARGE_MESSAGES)
    assert environment == {variable: "/mine.xml"}
