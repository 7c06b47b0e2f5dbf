"""The executable `check_robot`."""

import json
import os
from collections.abc import Iterator

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from rclpy import logging

from mujoco_ros.cli import check_robot
from mujoco_ros.cli.check_robot import main

ROBOT = """<mujoco><worldbody><body name="arm"><joint name="elbow"/><geom size=".1" pos=".2 0 0"/>
</body></worldbody><actuator><position joint="elbow" kp="100" kv="10"/></actuator></mujoco>"""


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """Further nodes of this process are discovered, and log, as before."""
    former, level = os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"], _level()
    yield
    assert os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] == former
    assert _level() == level


def _level() -> logging.LoggingSeverity:
    return logging.get_logger_effective_level("")


def test_a_model_that_loads_is_reported_on_as_text_json_and_html(tmp_path, capsys):
    model, page = tmp_path / "crane.xml", tmp_path / "crane.html"
    model.write_text(ROBOT)
    assert main([str(model), "--html", str(page)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("check_robot ")
    assert "robot 'crane'" in out
    assert err == ""
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert main([str(model), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (robot,) = report["robots"]
    assert [joint["name"] for joint in robot["joints"]] == ["elbow"]
    assert robot["joints"][0]["limits"] is None


def test_the_arguments_of_a_xacro_file_follow_it(tmp_path, capsys):
    model = tmp_path / "crane.urdf.xacro"
    model.write_text(
        """<robot name="crane" xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arg name="heavy"
        default="1"/><link name="base"/><link name="boom"><inertial><mass value="$(arg heavy)"/>
        <inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="turn" type="continuous">
        <parent link="base"/><child link="boom"/></joint></robot>"""
    )
    assert main([str(model), "heavy:=2.5"]) == 0
    assert "2.5 kg (2.5 kg in the file)" in capsys.readouterr().out
    assert main([str(model), "heavier:=2.5"]) == 1
    assert "'heavier'" in capsys.readouterr().err


CLASHING = """<mujoco><worldbody><body><joint/><geom size=".1"/><site name="x y"/><site name="x-y"/>
</body></worldbody><sensor><gyro site="x y"/><gyro site="x-y"/></sensor></mujoco>"""


def test_a_model_whose_simulator_does_not_start_is_refused(tmp_path, capsys, monkeypatch):
    model = tmp_path / "it's: a robot #1.xml"
    model.write_text(CLASHING)
    assert main([str(model)]) == 1
    assert "two elements of the model would publish on 'imu/x_y'" in capsys.readouterr().err
    model.write_text(ROBOT)
    assert main([str(model)]) == 0
    # Without ROS, there is no simulator that could start.
    monkeypatch.setattr(check_robot, "find_spec", lambda _: None)
    model.write_text(CLASHING)
    assert main([str(model)]) == 0


def test_a_model_that_does_not_load_is_refused_in_one_sentence(tmp_path, capsys):
    model = tmp_path / "robot.urdf"
    model.write_text("<robot name='empty'/>")
    assert main([str(model)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("mujoco_ros: error: ")
    assert "the robot has no link" in err
    assert len(err.splitlines()) == 1
