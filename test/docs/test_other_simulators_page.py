"""The page for users of other simulators says which elements of a URDF have an effect."""

import logging
import re
from pathlib import Path

import pytest
from simulators import ROOT

from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene

PAGE = (ROOT / "docs" / "how-to" / "come_from_another_simulator.md").read_text(encoding="utf-8")
URDF = """
<robot name="robot">
  <link name="world"/>
  <joint name="turn" type="revolute">
    <parent link="world"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1"/>
  </joint>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  {content}
</robot>
"""
ON_JOINTS = re.compile("spring|preserve|stop|implicit")


@pytest.fixture
def warning_of(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """Return the warnings at the start of a robot with some elements."""

    def load(content: str) -> str:
        caplog.clear()
        path = tmp_path / "robot.urdf"
        path.write_text(URDF.format(content=content))
        with caplog.at_level(logging.WARNING):
            assemble(load_scene(str(path)))
        return caplog.text

    return load


def row(beginning: str) -> tuple[str, str]:
    """Return the two cells of the row that begins with a text."""
    (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| {beginning}"))
    left, right = line.strip("|").split(" | ", 1)
    return left, right


@pytest.mark.parametrize(("beginning", "is_read"), [("`<mu1>`", True), ("`<mu2>`", False)])
def test_elements_of_gazebo_have_an_effect_or_are_named(
    warning_of, beginning: str, is_read: bool
) -> None:
    left, right = row(beginning)
    assert right.startswith("read") == is_read
    tags = re.findall(r"`<(\w+)>`", left)
    assert len(tags) > 3
    for tag in tags:
        reference = "turn" if ON_JOINTS.match(tag) else "arm"
        spring = "<springStiffness>1</springStiffness>" if tag == "springReference" else ""
        element = f"<gazebo reference='{reference}'>{spring}<{tag}>0.5</{tag}></gazebo>"
        assert (f"gazebo/{tag} " in warning_of(element)) != is_read, tag


def test_sensors_of_gazebo_are_read_or_named(warning_of) -> None:
    _, right = row("`<sensor>`: `imu`")
    assert right.startswith("read")
    left, right = row("`<sensor>`: `gps`")
    assert right.startswith("without effect")
    for kind in re.findall(r"`(\w+)`", left):
        sensor = f"<gazebo reference='arm'><sensor type='{kind}' name='x'/></gazebo>"
        assert f"x {kind}: no sensor of this type is simulated" in warning_of(sensor)
    scan = "<lidar><range><max>5</max></range></lidar>"
    for kind, content in {"imu": "", "contact": "", "camera": "<camera/>", "lidar": scan}.items():
        sensor = f"<sensor type='{kind}' name='x'>{content}</sensor>"
        assert not warning_of(f"<gazebo reference='arm'>{sensor}</gazebo>"), kind


def test_topics_of_gazebo_sensors_and_static_are_named(warning_of) -> None:
    assert row("`<topic>`")[1].startswith("without effect")
    sensor = "<sensor type='imu' name='x'><topic>/imu</topic><gz_frame_id>a</gz_frame_id></sensor>"
    warning = warning_of(f"<gazebo reference='arm'>{sensor}</gazebo>")
    assert "gazebo/sensor/topic" in warning
    assert "gazebo/sensor/gz_frame_id" in warning
    assert row("`<static>`")[1].startswith("without effect")
    assert "gazebo/static" in warning_of("<gazebo><static>true</static></gazebo>")


def test_parameters_of_mujoco_ros2_control_that_change_the_simulation_are_named(warning_of) -> None:
    for beginning in ("`<param name=", "`initial_keyframe`", "`pids_config_file`"):
        (name, *_), _ = (re.findall(r"(\w+)(?:\">)?`", cell) for cell in row(beginning))
        hardware = f"<hardware><param name='{name}'>x</param></hardware>"
        warning = warning_of(f"<ros2_control name='a' type='system'>{hardware}</ros2_control>")
        assert f"param {name}: " in warning, name
    assert "mujoco_inputs: " in warning_of("<mujoco_inputs><raw_inputs/></mujoco_inputs>")
