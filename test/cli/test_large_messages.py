"""Fast DDS has more shared memory for images, unless the user configures it."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from mujoco_ros.cli.node_process import FORMER_VARIABLE, VARIABLE, configure_fast_dds


def test_every_version_of_fast_dds_finds_the_profile() -> None:
    environment: dict[str, str] = {}
    configure_fast_dds(environment)
    assert environment.keys() == {VARIABLE, FORMER_VARIABLE}
    for name in environment.values():
        assert "segment_size" in Path(name).read_text()


@pytest.mark.parametrize("variable", [VARIABLE, FORMER_VARIABLE])
def test_a_configuration_of_the_user_is_kept(variable: str) -> None:
    environment = {variable: "/mine.xml"}
    configure_fast_dds(environment)
    assert environment == {variable: "/mine.xml"}
