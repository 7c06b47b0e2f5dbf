"""Fast DDS has more shared memory for images, unless the user configures it."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from mujoco_ros.cli.node_process import FORMER_VARIABLE, VARIABLE, configure_fast_dds


@pytest.mark.parametrize(
    ("distribution", "variable"), [("jazzy", FORMER_VARIABLE), ("k", VARIABLE)]
)
def test_the_environment_variable_is_that_of_the_distribution(
    monkeypatch: pytest.MonkeyPatch, distribution: str, variable: str
) -> None:
    monkeypatch.setenv("ROS_DISTRO", distribution)
    environment: dict[str, str] = {}
    configure_fast_dds(environment)
    (name,) = environment
    assert name == variable
    assert "segment_size" in Path(environment[name]).read_text()


@pytest.mark.parametrize("variable", [VARIABLE, FORMER_VARIABLE])
def test_a_configuration_of_the_user_is_kept(variable: str) -> None:
    environment = {variable: "/mine.xml"}
    configure_fast_dds(environment)
    assert environment == {variable: "/mine.xml"}
